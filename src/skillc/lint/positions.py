"""Find the line and the range of each entry of a frontmatter, for findings and fixes.

>>> raw = "name: pdf\\ntools: [a,\\n  b]\\n"
>>> block = find_block(f"---\\n{raw}---\\n# PDF\\n", raw)
>>> block.line_of("tools"), block.raw[slice(*block.entries["tools"].span)]
(3, ' [a,\\n  b]')
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from skillc.skills.document import MAX_FRONTMATTER, NotYaml, parse_yaml_events

_OPENING = re.compile(r"(?:[ \t]*(?:\r\n|\n|\r))*+---[ \t]*(?:\r\n|\n|\r|\Z)")
_BREAK = re.compile(r"\r\n|\n|\r")
_KEY = re.compile(r"(?m)^(['\"]?)(\w[\w.-]*)\1[ \t]*:(?=[ \t\r\n]|\Z)")
_COLON = re.compile(r"[ \t]*:")


class Entry(NamedTuple):
    """A top-level entry of the YAML: its line, and the range in the block after its colon.

    A `simple` one has no anchor, alias, tag or comment, which a new value would lose.
    """

    line: int
    span: tuple[int, int]
    simple: bool


@dataclass(frozen=True)
class Block:
    """The YAML of a frontmatter, which starts at `start` in the text, after the first line with `---`.

    `keys`, with their lines, need no YAML.
    """

    raw: str
    start: int
    first_line: int
    keys: dict[str, int]

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """The entries by their keys; none where the block is no YAML mapping."""
        try:
            return _find_entries(self.raw, self.first_line) if len(self.raw) <= MAX_FRONTMATTER else {}
        except NotYaml:
            return {}

    @cached_property
    def _is_plain(self) -> bool:
        """Whether every line has a key of its own, so that YAML would find the same."""
        return len(self.keys) == sum(map(bool, _BREAK.split(self.raw)))

    def line_of(self, key: str) -> int:
        """Return the line that sets a key, the last of several; 1 if it is missing."""
        if not self._is_plain and key in self.entries:
            return self.entries[key].line
        return self.keys.get(key, 1)


def find_block(text: str, raw: str) -> Block | None:
    """Find the frontmatter with the YAML `raw` in a document."""
    opening = _OPENING.match(text)
    if opening is None or not text.startswith(raw, opening.end()):
        return None
    first_line = 1 + len(_BREAK.findall(text, 0, opening.end()))
    keys: dict[str, int] = {}
    line, position = first_line, 0
    for key in _KEY.finditer(_BREAK.sub("\n", raw)):
        line += key.string.count("\n", position, key.start())
        position = key.start()
        keys[key[2]] = line
    return Block(raw, opening.end(), first_line, keys)


def _find_entries(raw: str, first_line: int) -> dict[str, Entry]:
    """Return the entries of a YAML mapping whose keys are text; none for anything else. Raises NotYaml."""
    import yaml  # takes as long to load as all of lint; most blocks are plain lines

    entries: dict[str, Entry] = {}
    depth = end = 0
    key: Any = None  # the event of the key whose value comes
    simple = True
    for event in parse_yaml_events(raw):
        mark = event.end_mark.index
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            # A block's end mark is where the next thing starts; a flow's is after its bracket.
            end = mark if raw[mark - 1 : mark] in ("]", "}") else end
        elif not isinstance(event, yaml.NodeEvent):
            continue
        elif depth == 1 and key is None:
            if not isinstance(event, yaml.ScalarEvent):
                return {}
            key, simple, end = event, event.anchor is None, mark
            continue
        else:
            if depth == 0 and not isinstance(event, yaml.MappingStartEvent):
                return {}
            simple = simple and event.anchor is None and getattr(event, "tag", None) is None
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            else:
                end = max(end, mark)
        if depth == 1 and key is not None:
            entries[key.value] = _make_entry(raw, first_line, key, end, simple)
            key = None
    return entries


def _make_entry(raw: str, first_line: int, key: Any, end: int, simple: bool) -> Entry:
    colon = _COLON.match(raw, key.end_mark.index)
    start = colon.end() if colon else key.end_mark.index
    source = raw[start : max(start, end)].rstrip()
    simple = simple and colon is not None and "#" not in source
    return Entry(first_line + key.start_mark.line, (start, start + len(source)), simple)


def find_scalars(raw: str) -> list[tuple[int, int]]:
    """Return the ranges of a block's keys and values; none where it is no YAML."""
    try:
        events: list[Any] = list(parse_yaml_events(raw)) if len(raw) <= MAX_FRONTMATTER else []
    except NotYaml:
        return []
    return [(e.start_mark.index, e.end_mark.index) for e in events if hasattr(e, "value")]  # of scalars
