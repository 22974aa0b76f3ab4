"""Load YAML safely, with the core schema of YAML 1.2: no dates, no octals, no yes/no, bounded aliases.

PyYAML gives the events of libyaml's parser; this module makes the values, because PyYAML's own
constructors follow YAML 1.1 and expand aliases without bound. Every value is one that JSON can
hold: a mapping, a list, text, a number, true, false or null. Keys are text.

>>> load_yaml("released: 2024-05-01\\nstable: yes\\nmode: 0o17\\n").value
{'released': '2024-05-01', 'stable': 'yes', 'mode': 15}
"""

from __future__ import annotations

from skillc.startup import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAX_NODES = 10_000  # values; 64 characters of text count as one, an alias as all the values it repeats
MAX_DEPTH = 64
MAX_PLAIN_DEPTH = 8  # of lines that are read without the parser
_CONSTANTS: dict[str, bool | None] = dict.fromkeys(("", "~", "null", "Null", "NULL"))
_CONSTANTS |= {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
# What joins and what ends the lines of a block scalar.
_BLOCK_STYLES = {">": (" ", "\n"), ">-": (" ", ""), "|": ("\n", "\n"), "|-": ("\n", "")}
_TAGS = tuple(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))


@value
class YamlDocument:
    """What a YAML text holds."""

    value: Any
    duplicates: tuple[str, ...]  # keys that a mapping sets more than once; the last one counts
    weight: int  # how many values it holds, counted as for MAX_NODES


class NotYaml(Exception):
    """The text is not YAML, or exceeds the limits. `line` counts from 0; None where it is unknown."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


def load_yaml(text: str, max_nodes: int = MAX_NODES) -> YamlDocument:
    """Return the value of a YAML document; raises NotYaml for any other text."""
    return _load_lines(text, max_nodes) or parse_yaml(text, max_nodes)


class _NotPlain(Exception):
    """A block needs the parser."""


def _load_lines(text: str, max_nodes: int) -> YamlDocument | None:
    """Return the value of lines like `name: value`, as most skills have them; None for any other YAML.

    A value is a word or more, in quotes or not, and may be folded text, a list of words, or such lines again,
    indented. The parser makes an object of each event, takes ten times as long, and long to load.
    """
    if not text.replace("\n", "").isprintable() or ("\n " in text and text[-1] != "\n"):
        return None
    try:
        value, weight = _read_mapping(text.split("\n"), 1)
    except _NotPlain:
        return None
    return YamlDocument(value, (), weight) if value and weight <= max_nodes else None


def _read_mapping(lines: list[str], depth: int) -> tuple[dict[str, Any], int]:
    """Return the value of lines without indent, and its weight."""
    value: dict[str, Any] = {}
    weight = 1
    number = 0
    while number < len(lines):
        line, number = lines[number], number + 1
        if not line:
            continue
        key, _, rest = line.partition(":")
        if key in value or len(key) > 64 or not key.replace("-", "_").isidentifier() or not key.isascii():
            raise _NotPlain
        first = number
        while number < len(lines) and lines[number][:1] in ("", " "):
            number += 1
        inner = lines[first:number]
        while inner and not inner[-1]:
            inner.pop()
        if inner:
            value[key], size = _read_block(rest.strip(" "), inner, depth)
        elif rest[:1] == " ":
            value[key], size = _read_scalar(rest.strip(" "))
        else:
            raise _NotPlain
        weight += 1 + len(key) // 64 + size
    return value, weight


def _read_block(head: str, lines: list[str], depth: int) -> tuple[Any, int]:
    """Return the value of indented lines, and its weight; `head` is what follows the key's colon."""
    indent = lines[0][: len(lines[0]) - len(lines[0].lstrip(" "))]
    if depth >= MAX_PLAIN_DEPTH or not all(line.startswith(indent) for line in lines):
        raise _NotPlain
    inner = [line[len(indent) :] for line in lines]
    if head in _BLOCK_STYLES:
        if any(line[:1] in ("", " ") or line[-1] == " " for line in inner):
            raise _NotPlain
        text = _BLOCK_STYLES[head][0].join(inner) + _BLOCK_STYLES[head][1]
        return text, 1 + len(text) // 64
    if head:
        raise _NotPlain
    if not inner[0].startswith("- "):
        return _read_mapping(inner, depth + 1)
    if not all(line.startswith("- ") for line in inner):
        raise _NotPlain
    items = [_read_scalar(line[2:].strip(" ")) for line in inner]
    return [item for item, _ in items], 1 + sum(size for _, size in items)


def _read_scalar(text: str) -> tuple[Any, int]:
    """Return the value of a text on one line, or of a list of words in brackets, and its weight."""
    if text[:1].isalnum():
        if ": " in text or " #" in text or text[-1] == ":":
            raise _NotPlain
        return resolve_scalar(text), 1 + len(text) // 64
    if text[:1] in ("'", '"') and text.find(text[0], 1) == len(text) - 1 and "\\" not in text:
        return text[1:-1], 1 + (len(text) - 2) // 64
    words = [word.strip(" ") for word in text[1:-1].split(",")]
    if text[:1] != "[" or text[-1] != "]" or not all(word.replace("-", "_").isidentifier() for word in words):
        raise _NotPlain
    return [resolve_scalar(word) for word in words], 1 + sum(1 + len(word) // 64 for word in words)


def parse_yaml(text: str, max_nodes: int = MAX_NODES) -> YamlDocument:
    """Return the value of any YAML document by way of PyYAML's parser; raises NotYaml."""
    import yaml

    builder = _Builder(max_nodes)
    for event in parse_yaml_events(text):
        builder.add_event(event, yaml)
    return YamlDocument(builder.result, tuple(dict.fromkeys(builder.duplicates)), builder.weight)


def parse_yaml_events(text: str) -> Iterator[Any]:
    """Yield the events of PyYAML's parser; raises NotYaml."""
    import yaml

    try:
        yield from yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else None
        raise NotYaml(str(error.problem), line) from None
    except yaml.YAMLError as error:
        raise NotYaml(str(error).splitlines()[0]) from None
    except (ValueError, RecursionError) as error:
        raise NotYaml(str(error)) from None


def resolve_scalar(value: str) -> Any:
    """Return the value of an unquoted scalar in the core schema.

    >>> [resolve_scalar(text) for text in ("~", "True", "0x1F", "1e3", "2024-05-01", "on")]
    [None, True, 31, 1000.0, '2024-05-01', 'on']
    """
    if value in _CONSTANTS:
        return _CONSTANTS[value]
    return _parse_number(value) if value[0] in "+-.0123456789" and value.isascii() else value


def _parse_number(text: str) -> Any:
    """Return a text as a number, or the text itself if it is none."""
    digits = text[1:] if text[0] in "+-" else text
    try:
        if digits.isdigit() and len(digits) <= 4000:  # Python refuses longer ones
            return int(text)
        if text[:2] in ("0o", "0x") and text[2:].isalnum() and len(text) <= 3000:
            return int(text[2:], 8 if text[1] == "o" else 16)
        if digits[:1] in "0123456789." and not set(digits) - set("0123456789.eE+-"):
            number = float(text)
            return text if number in (float("inf"), float("-inf")) else number  # JSON has no infinity
    except ValueError:
        pass
    return text


class _Node:
    """An open mapping or list, with its size when every alias is written out."""

    __slots__ = ("anchor", "height", "key", "value", "weight")

    def __init__(self, value: Any, anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.key: str | None = None
        self.weight = 1
        self.height = 1


class _Builder:
    """Builds a value from parser events, without recursion."""

    def __init__(self, max_nodes: int) -> None:
        self.max_nodes = max_nodes
        self.weight = 0
        self.result: Any = None
        self.duplicates: list[str] = []
        self._open: list[_Node] = []
        self._anchors: dict[str, tuple[Any, int, int]] = {}

    def add_event(self, event: Any, yaml: Any) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._add_scalar(event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            if len(self._open) >= MAX_DEPTH:
                raise NotYaml(f"nested deeper than {MAX_DEPTH}")
            value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
            self._open.append(_Node(value, event.anchor))
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            node = self._open.pop()
            self._add(node.value, node.weight, node.height, node.anchor)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise NotYaml(f"undefined alias '{event.anchor}'")
            self._add(*self._anchors[event.anchor], None)

    def _add_scalar(self, event: Any) -> None:
        text = event.value.encode("utf-8", "replace").decode()
        plain = (event.tag is None and event.implicit[0]) or event.tag in _TAGS
        # A key is always text, even if it looks like a number.
        is_key = self._open and isinstance(self._open[-1].value, dict) and self._open[-1].key is None
        value = resolve_scalar(text) if plain and not is_key else text
        self._add(value, 1 + len(text) // 64, 0, event.anchor)

    def _add(self, value: Any, weight: int, height: int, anchor: str | None) -> None:
        if anchor is not None:
            self._anchors[anchor] = (value, weight, height)
        if not self._open:
            self.result, self.weight = value, weight
            return
        parent = self._open[-1]
        parent.weight += weight
        parent.height = max(parent.height, height + 1)
        if parent.weight > self.max_nodes or len(self._open) + height > MAX_DEPTH:
            raise NotYaml("aliases or values without bound")
        if isinstance(parent.value, list):
            parent.value.append(value)
        elif parent.key is None:
            if not isinstance(value, str):
                raise NotYaml("a key that is not text")
            parent.key = value
        else:
            if parent.key in parent.value:
                self.duplicates.append(parent.key)
            parent.value[parent.key] = value
            parent.key = None
