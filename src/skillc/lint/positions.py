"""Where frontmatter stands in a document, and its entries in it: lines to report, ranges to change.

>>> block = find("---\\nname: pdf\\ntools: [a,\\n  b]\\n---\\n# PDF\\n", "name: pdf\\ntools: [a,\\n  b]\\n")
>>> block.line_of("tools"), block.entries["tools"].value
(3, '[a,\\n  b]')
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from skillc.skills.yaml import MAX_DEPTH

_OPENING = re.compile(r"(?:[ \t]*(?:\r\n|\n|\r))*---[ \t]*(?:\r\n|\n|\r|\Z)")
_BREAK = re.compile(r"\r\n|\n|\r")
_KEY = re.compile(r"^(['\"]?)(\w[\w.-]*)\1[ \t]*:(?=[ \t\r\n]|\Z)", re.MULTILINE)
_COLON = re.compile(r"[ \t]*:")


@dataclass(frozen=True, slots=True)
class Entry:
    """A top-level entry of the YAML: `start` is where what follows its colon starts, in the block.

    `value` is the value as it is written, which ends at `end`. `simple` tells that nothing in it
    is more than values: no anchor, alias, tag or comment that a rewritten value would lose.
    """

    line: int
    start: int
    end: int
    value: str
    simple: bool


@dataclass(frozen=True, slots=True)
class Block:
    """A frontmatter's YAML as it stands in the text from `start` on, after the first line with `---`.

    `entries` is empty where it is not a YAML mapping; `keys` are then found line by line.
    """

    raw: str
    start: int
    first_line: int
    keys: dict[str, list[int]]  # lines from 1, of the document
    entries: dict[str, Entry]

    def line_of(self, key: str) -> int:
        """The line that sets a key, the last of several; the first one for a key that is not found."""
        if key in self.entries:
            return self.entries[key].line
        return self.keys[key][-1] if key in self.keys else 1


def find(text: str, raw: str) -> Block | None:
    """The block of a document whose frontmatter's YAML is `raw`."""
    opening = _OPENING.match(text)
    if opening is None or not text.startswith(raw, opening.end()):
        return None
    first_line = 1 + len(_BREAK.findall(text, 0, opening.end()))
    keys: dict[str, list[int]] = {}
    for key in _KEY.finditer(_BREAK.sub("\n", raw)):
        keys.setdefault(key[2], []).append(first_line + key.string.count("\n", 0, key.start()))
    return Block(raw, opening.end(), first_line, keys, _entries(raw, first_line))


def _entries(raw: str, first_line: int) -> dict[str, Entry]:
    """The entries of a YAML mapping whose keys are text; nothing for anything else."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    walk = _Walk(raw, first_line, yaml)
    try:
        for event in yaml.parse(raw, Loader=loader):
            walk.take(event)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return walk.entries


class _Walk:
    """Goes through a parser's events and keeps the top-level keys and the extent of their values."""

    def __init__(self, raw: str, first_line: int, yaml: Any) -> None:
        self.entries: dict[str, Entry] = {}
        self._raw = raw
        self._first_line = first_line
        self._yaml = yaml
        self._depth = 0
        self._key: Any = None  # the event of the key whose value comes
        self._simple = True
        self._end = 0

    def take(self, event: Any) -> None:
        yaml = self._yaml
        if not isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
            return
        if isinstance(event, yaml.CollectionEndEvent):
            self._depth -= 1
            # A block's end mark is where the next thing starts; a flow's is after its bracket.
            if self._raw[event.end_mark.index - 1 : event.end_mark.index] in ("]", "}"):
                self._end = event.end_mark.index
        else:
            self._start_node(event)
        if self._depth == 1 and self._key is not None and self._key is not event:
            self._finish()

    def _start_node(self, event: Any) -> None:
        yaml = self._yaml
        if self._depth == 0 and not isinstance(event, yaml.MappingStartEvent):
            raise ValueError("not a mapping")
        if self._depth > MAX_DEPTH:
            raise ValueError("nested too deep")
        if self._depth == 1 and self._key is None:
            if not isinstance(event, yaml.ScalarEvent):
                raise ValueError("a key that is not text")
            self._key, self._simple, self._end = event, event.anchor is None, event.end_mark.index
            return
        untagged = isinstance(event, yaml.AliasEvent) is False and event.tag is None
        self._simple = self._simple and event.anchor is None and untagged
        if isinstance(event, yaml.CollectionStartEvent):
            self._depth += 1
        elif event.end_mark.index > self._end:
            self._end = event.end_mark.index

    def _finish(self) -> None:
        key, self._key = self._key, None
        colon = _COLON.match(self._raw, key.end_mark.index)
        start = colon.end() if colon else key.end_mark.index
        written = self._raw[start : max(start, self._end)].rstrip()
        simple = self._simple and colon is not None and "#" not in written
        self.entries[key.value] = Entry(
            self._first_line + key.start_mark.line, start, start + len(written), written.strip(), simple
        )
