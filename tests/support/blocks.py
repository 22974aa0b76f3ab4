"""The blocks of a page of docs/, and what is said of them in comments that a reader of the site does not see.

```console      commands after `$ `, each followed by what it prints; `…` stands for text that is left out
```bash         a script
```python       a part of the page's one program
```text         what the block before it printed
```json         the same as JSON; numbers may differ
```<any> title="file"    a file that the reader writes, or, if it is there already, what is in it

<!-- not run: reason -->   before a block that can't be run here
<!-- with: name -->        what the page takes for granted from here on: a function of tests/support/needs.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skillc.results import OLD_KEYS

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>\w*)(?: +title=\"(?P<title>[^\"]+)\")?$")
_COMMENT = re.compile(r"^ *<!-- *(?P<kind>not run|with)(?:: *(?P<text>.*?))? *-->$")


@dataclass(frozen=True)
class Need:
    """What a page takes for granted."""

    name: str
    line: int


@dataclass(frozen=True)
class Block:
    """A fenced block; `excuse` is why it is not run, None if it is."""

    language: str
    title: str
    text: str
    line: int
    excuse: str | None = None


@dataclass(frozen=True)
class Command:
    """A line of a transcript, and what it prints: None if the page does not say."""

    words: str
    output: str | None

    @property
    def stays(self) -> bool:
        """Whether it runs until it is ended, and the reader goes on in another terminal."""
        return "# in a terminal of its own" in self.words

    @property
    def fails(self) -> bool:
        return "# status 1" in self.words or "error[" in (self.output or "")


def read_steps(page: Path) -> list[Need | Block]:
    """Return the blocks of a page and what it needs, in order."""
    return list(_read(page.read_text(encoding="utf-8").splitlines()))


def _read(lines: list[str]) -> Iterator[Need | Block]:
    excuse: str | None = None
    numbered = iter(enumerate(lines, 1))
    for number, line in numbered:
        if comment := _COMMENT.match(line):
            if comment["kind"] == "with":
                yield Need(comment["text"] or "", number)
            else:
                excuse = comment["text"] or ""
        elif line.lstrip().startswith("```"):
            fence = _FENCE.match(line)
            assert fence, f"line {number}: a fence that is not understood: {line}"
            text = _read_text(fence, numbered)
            yield Block(fence["language"], fence["title"] or "", text, number, excuse)
            excuse = None
        elif line:
            assert excuse is None, f"line {number}: 'not run' stands before a block"


def _read_text(fence: re.Match[str], numbered: Iterator[tuple[int, str]]) -> str:
    text = ""
    for _, line in numbered:
        if line == fence["indent"] + fence["fence"]:
            return text
        text += line.removeprefix(fence["indent"]) + "\n"
    raise AssertionError(f"a fence that is not closed: {fence[0]}")


def read_transcript(text: str) -> list[Command]:
    """Return the commands of a `console` block."""
    first, *parts = re.split(r"^\$ ", text, flags=re.MULTILINE)
    assert not first.strip(), f"text before the first command: {first}"
    commands = []
    for part in parts:
        words, _, output = re.sub(r"\\\n(?:> )?", "\\\n", part).partition("\n")
        while words.endswith("\\"):
            more, _, output = output.partition("\n")
            words += f"\n{more}"
        commands.append(Command(words, output.strip("\n") or None))
    return commands


def fits(said: str, printed: str) -> bool:
    """Tell whether a page says what was printed, `…` apart; a line of it alone stands for any lines."""
    patterns = {"…": r"(?:.*\n)*?"}
    lines = [patterns.get(line) or re.escape(line).replace("…", ".*?") + "\n" for line in _tidy(said)]
    return re.fullmatch("".join(lines), "".join(f"{line}\n" for line in _tidy(printed))) is not None


def _tidy(text: str) -> list[str]:
    """Return lines without spaces at their ends, and with columns as wide as in any other table."""
    return [re.sub(r"(?<=\S)  +", "  ", line.rstrip()) for line in text.strip("\n").splitlines()]


def compare_json(said: object, given: object, where: str = "$") -> Iterator[str]:
    """Yield how the JSON of a page differs from what was given; numbers are of the day, `…` is any text."""
    match said, given:
        case dict(), dict():
            for key in said.keys() ^ (given.keys() - (_find_old(given) - said.keys())):
                yield f"{where}.{key} is only {'in the page' if key in said else 'given'}"
            for key in said.keys() & given.keys():
                yield from compare_json(said[key], given[key], f"{where}.{key}")
        case list(), list():
            yield from _compare_lists(said, given, where)
        case (bool(), _) | (_, bool()):
            yield from _compare_values(said, given, where)
        case ((int() | float()), (int() | float())):
            return
        case str(), str():
            if not re.fullmatch(re.escape(said).replace("…", ".*"), given, re.DOTALL):
                yield from _compare_values(said, given, where)
        case _:
            yield from _compare_values(said, given, where)


def _find_old(given: dict[str, object]) -> set[str]:
    """Return keys that go with the next release; a page need not show them."""
    pairs = {pair for keys in OLD_KEYS.values() for pair in keys.items()}
    return {old for old, new in pairs if old in given and given.get(new) == given[old]}


def _compare_lists(said: list[object], given: list[object], where: str) -> Iterator[str]:
    if said and said[-1] == "…":  # and others
        said, given = said[:-1], given[: len(said) - 1]
    if len(said) != len(given):
        yield f"{where} has {len(given)} items, not {len(said)}"
    for number, (one, other) in enumerate(zip(said, given, strict=False)):
        yield from compare_json(one, other, f"{where}[{number}]")


def _compare_values(said: object, given: object, where: str) -> Iterator[str]:
    if said != given or type(said) is not type(given):
        yield f"{where} is {given!r}, not {said!r}"
