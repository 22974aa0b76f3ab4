"""TOML as text: split it at its headers, so that a table can be cut and all else stays as it was written.

And TOML as data: a file of the package with a table for each of many things, and settings that people write,
whose misspelled names are faults.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeVar

from skillc.settings import parse_toml
from skillc.spelling import near_miss

T = TypeVar("T")

_KINDS = {str: "text", bool: "true or false", list: "a list", dict: "a table"}
MAX_TRIES = 200  # lines that look like a header and are none; with more, a file is for people to edit


@dataclass(frozen=True, slots=True)
class Part:
    """The lines from a header to the next one (or before the first), and what they say alone.

    Its content is in lines `start` to `end`; after them come comments and blank lines up to `stop`.
    """

    start: int
    end: int
    stop: int
    data: Mapping[str, Any]


def split_parts(lines: Sequence[str]) -> Iterator[Part]:
    """Split a file at its headers.

    A line that starts with `[` is one only if the lines before it are complete: inside a text of
    several lines, or a list, it is not.
    """
    start, tries = 0, MAX_TRIES
    for number in range(len(lines) + 1):
        if number < len(lines) and (tries == 0 or not _may_be_header(lines[number])):
            continue
        try:
            data = parse_toml("".join(lines[start:number]))
        except (ValueError, RecursionError):
            tries -= 1
            continue
        end = number
        while end > start and (not lines[end - 1].strip() or is_comment(lines[end - 1])):
            end -= 1
        yield Part(start, end, number, data)
        start = number


def read_agents(path: str, kind: Callable[..., T]) -> dict[str, T]:
    """Return what a file of the package says of agents: a value for each table, whose lists become tuples."""
    with open(path, encoding="utf-8") as file:
        tables: Mapping[str, Mapping[str, Any]] = parse_toml(file.read())
    return {
        agent: kind(agent=agent, **{key: tuple(v) if isinstance(v, list) else v for key, v in table.items()})
        for agent, table in tables.items()
    }


def split_lines(text: str) -> list[str]:
    """Split at TOML's line ends; other characters that end lines elsewhere do not count."""
    return list(io.StringIO(text, newline="\n"))


def is_comment(line: str) -> bool:
    """Return whether a line is surely a comment: one with three quotes may end a text."""
    return line.lstrip(" \t").startswith("#") and '"""' not in line and "'''" not in line


def _may_be_header(line: str) -> bool:
    """Return whether a line starts as a header does and does not end as an item of a list."""
    return line.lstrip(" \t").startswith("[") and ("#" in line or not line.rstrip().endswith(","))


class Table:
    """A table whose settings are taken one by one; what is left at the end is unknown.

    A fault is a ValueError: a misspelled limit must not be no limit.
    """

    def __init__(self, values: Mapping[str, Any], name: str = "") -> None:
        self._values = dict(values)
        self._name = name
        self._known: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def take(self, key: str, default: Any, *kinds: type) -> Any:
        self._known.append(key)
        value = self._values.pop(key, default)
        if value is not default and not isinstance(value, kinds):
            raise self.fault(key, f"it is {' or '.join(_KINDS[kind] for kind in kinds)}")
        return value

    def text(self, key: str, default: str = "") -> str:
        value: str = self.take(key, default, str)
        if not value.isprintable() or len(value) > 2000:
            raise self.fault(key, "it is one line of printable text")
        return value

    def texts(self, key: str, default: Iterable[str] = ()) -> tuple[str, ...]:
        values = self.take(key, default, list)
        if not all(isinstance(value, str) for value in values):
            raise self.fault(key, "it is a list of texts")
        return tuple(values)

    def table(self, key: str) -> Self:
        return type(self)(self.take(key, {}, dict), f"[{key}] ")

    def tables(self, key: str, limit: int) -> list[Self]:
        values = self.take(key, [], list)
        outer = self._name.strip(" []")
        name = f"[[{outer}.{key}]]" if outer else f"[[{key}]]"
        if len(values) > limit or not all(isinstance(value, dict) for value in values):
            raise self.fault(key, f"it is at most {limit} tables {name}")
        return [type(self)(value, f"{name} ") for value in values]

    def fault(self, key: str, reason: str) -> ValueError:
        return ValueError(f"{self._name}{key}: {reason}")

    def finish(self) -> None:
        for key in self._values:
            raise self.fault(key[:100], f"there is no such setting{near_miss(key, self._known)}")
