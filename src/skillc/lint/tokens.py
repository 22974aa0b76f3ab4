"""What a text costs a context, estimated without a tokenizer.

Models cut text differently and no tokenizer is at hand everywhere, so this counts what all of them
do alike. A word of up to 9 letters costs 1, a longer one 1 for each 5; digits 1 for each 3; signs 1
for each 3 in a row; an end of line with its indentation 1, and so do several spaces; a Chinese,
Japanese or Korean character 1; other scripts 1 for each 3 letters; emoji 2. On English, code and
Chinese that is mostly within 15% of what tokenizers say, where counting a token for 4 characters
is off by half on Chinese; docs/lint.md has the measurements.

>>> estimate("Fill forms, merge and split PDF files."), estimate("如何查看日志")
(9, 6)
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillc.index import cjk
from skillc.text import utf8_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from skillc.skills import SourceFile

MAX_SAMPLE = 256 * 1024  # bytes; a larger file is estimated from its beginning
MAX_SAMPLED = 16 * 1024 * 1024  # bytes of one skill; files beyond are taken for 4 bytes a token

_WIDE = "".join(f"{chr(first)}-{chr(last)}" for first, last in cjk.WIDE)
_PARTS = re.compile(
    r"(?P<word>[A-Za-z]+)"
    r"|(?P<digits>[0-9]+)"
    r"|(?P<signs>[!-/:-@\[-`{-~]+)"
    r"|(?P<line>[ \t]*[\r\n]\s*)"
    r"|(?P<spaces>[ \t]+)"
    rf"|(?P<wide>[{_WIDE}]+)"
    r"|(?P<letters>[^\W\d_]+)"
    r"|(?P<emoji>[\U00010000-\U0010ffff])"
    r"|(?P<other>.)",
    re.DOTALL,
)
_COST: dict[str, Callable[[int], int]] = {
    "word": lambda length: length // 5 if length > 9 else 1,
    "digits": lambda length: (length + 2) // 3,
    "signs": lambda length: (length + 2) // 3,
    "line": lambda length: 1,
    "spaces": lambda length: 0 if length == 1 else 1,
    "wide": lambda length: length,
    "letters": lambda length: (length + 2) // 3,
    "emoji": lambda length: 2,
    "other": lambda length: 1,
}


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a skill costs: always its metadata, its body when it is used, each other text file when read."""

    metadata: int
    body: int
    files: tuple[tuple[str, int], ...]

    @property
    def in_files(self) -> int:
        return sum(tokens for _, tokens in self.files)

    def as_json(self) -> dict[str, Any]:
        return {
            "metadata": self.metadata,
            "body": self.body,
            "files": [{"file": utf8_text(name), "tokens": tokens} for name, tokens in self.files],
            "total": self.metadata + self.body + self.in_files,
        }


def estimate(text: str) -> int:
    """About how many tokens a text is."""
    return sum(_COST[part.lastgroup or "other"](part.end() - part.start()) for part in _PARTS.finditer(text))


def count_files(files: Iterable[SourceFile], known: Mapping[str, bytes]) -> tuple[tuple[str, int], ...]:
    """What each text file costs; `known` are those that were read already, by name.

    Files that are no text, or can't be read, are left out.
    """
    found: list[tuple[str, int]] = []
    sampled = 0
    for file in files:
        if sampled >= MAX_SAMPLED:
            found.append((file.name, file.size // 4))
            continue
        data = known[file.name][:MAX_SAMPLE] if file.name in known else _beginning(file.path)
        text = _text(data)
        if text is not None:
            sampled += len(data)
            found.append((file.name, estimate(text) * max(len(data), file.size) // max(len(data), 1)))
    return tuple(found)


def _beginning(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(MAX_SAMPLE)
    except OSError:
        return b"\0"


def _text(data: bytes) -> str | None:
    """The beginning of a file as text; None for what is no text."""
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        cut_off = len(data) == MAX_SAMPLE and error.start > len(data) - 4
        return data[: error.start].decode() if cut_off else None
