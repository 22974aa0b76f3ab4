"""Load YAML safely, with the core schema of YAML 1.2: no dates, no octals, no yes/no, bounded aliases.

PyYAML gives the events of libyaml's parser; this module makes the values, because PyYAML's own
constructors follow YAML 1.1 and expand aliases without bound. Every value is one that JSON can
hold: a mapping, a list, text, a number, true, false or null. Keys are text.

>>> load_yaml("released: 2024-05-01\\nstable: yes\\nmode: 0o17\\n").value
{'released': '2024-05-01', 'stable': 'yes', 'mode': 15}
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_NODES = 10_000  # values; 64 characters of text count as one, an alias as all the values it repeats
MAX_DEPTH = 64
_CONSTANTS: dict[str, bool | None] = dict.fromkeys(("", "~", "null", "Null", "NULL"))
_CONSTANTS |= {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_TAGS = tuple(f"tag:yaml.org,2002:{name}" for name in ("int", "float", "bool", "null"))


class YamlDocument(NamedTuple):
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


def _load_lines(text: str, max_nodes: int) -> YamlDocument | None:
    """Return the value of lines like `name: value`, as most skills have them; None for any other YAML.

    The parser makes an object of each event and takes ten times as long.
    """
    if not text.replace("\n", "").isprintable():
        return None
    value: dict[str, Any] = {}
    weight = 1
    for line in text.split("\n"):
        if not line:
            continue
        key, _, rest = line.partition(": ")
        scalar = rest.strip(" ")
        if key in value or len(key) > 64 or not key.replace("-", "_").isidentifier() or not key.isascii():
            return None
        if scalar[:1].isalpha():
            if ": " in scalar or " #" in scalar or scalar[-1] == ":":
                return None
            value[key] = resolve_scalar(scalar)
        elif scalar[:1] in ("'", '"') and scalar.find(scalar[0], 1) == len(scalar) - 1 and "\\" not in scalar:
            scalar = value[key] = scalar[1:-1]
        else:
            return None
        weight += 2 + len(key) // 64 + len(scalar) // 64
    return YamlDocument(value, (), weight) if value and weight <= max_nodes else None


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
