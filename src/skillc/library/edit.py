"""Changing skills.toml as text: a repository more or less, and everything else stays as it was written.

A table is appended, or its lines are cut; what results is parsed and compared with what was meant
before it replaces the file, whole, while no other `skc` changes it.

A table's lines are its own, those of tables below it, the comments directly above its header, and the
comments directly below its last line where a blank line parts them from what follows.
"""

from __future__ import annotations

import io
import os
import stat
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillc import atomic, paths
from skillc.errors import InvalidConfiguration, InvalidOption
from skillc.library import config

KEY = "repositories"
MAX_TRIES = 200  # lines that look like a header and are none; after them a file is for people to edit

Table = Mapping[str, str | bool]


def file_to_edit(cwd: str, for_all: bool = False) -> str:
    """The project's file in force, else a new one in the nearest project; or that of the home."""
    roots = [paths.require_home()] if for_all else list(paths.library_roots(cwd))
    if not roots:
        raise InvalidOption("there is no project here; make one with 'skc init', or use --global")
    found = (path for root in roots if (path := config.find(root)))
    return next(found, os.path.join(roots[0], paths.DIRECTORY, config.FILE))


def names_in(file: str) -> list[str]:
    """The names of a file's repositories, in their order; none where there is no file."""
    return _names(_parsed(file, _read(file)))


def add(file: str, tables: Sequence[Table]) -> None:
    """Append repositories; raises InvalidOption for a name that is taken, and InvalidConfiguration."""

    def edit(text: str) -> str:
        data = _parsed(file, text)
        for table in tables:
            if table["name"] in _names(data):
                raise InvalidOption(
                    f"there is a repository '{table['name']}' in {file} already; "
                    "take another name, or remove that one first with 'skc repo remove'"
                )
        _refuse_inline(file, text)
        end = "\r\n" if "\r\n" in text else "\n"
        new = text + (end if text and not text.endswith("\n") else "")
        for table in tables:
            new += (end if new else "") + _written(table, end)
        config.parse(file, new)
        return _checked(file, new, {**data, KEY: [*data.get(KEY, []), *map(dict, tables)]})

    _change(file, edit)


def remove(file: str, name: str) -> list[str]:
    """Cut a repository; gives the names of those that stay. Raises InvalidOption where it is not there."""
    left: list[str] = []

    def edit(text: str) -> str:
        data = _parsed(file, text)
        _require(file, name, data)
        _refuse_inline(file, text)
        left.extend(known for known in _names(data) if known != name)
        kept = [table for table in data.pop(KEY) if table.get("name") != name]
        return _checked(file, _without(text, name), {**data, KEY: kept} if kept else data)

    _require(file, name, _parsed(file, _read(file)))  # before anything is made
    _change(file, edit)
    return left


def _require(file: str, name: str, data: Mapping[str, Any]) -> None:
    names = _names(data)
    if name not in names:
        known = f"it has {', '.join(names)}" if names else "it has none"
        raise InvalidOption(f"there is no repository '{name}' in {file}; {known}")


def _change(file: str, edit: Callable[[str], str]) -> None:
    """Read, edit and replace a file as one step among all processes; links to it stay links."""
    real = os.path.realpath(file)
    directory = os.path.dirname(real)
    os.makedirs(directory, exist_ok=True)
    # A directory can be locked as it is, so that nothing is left in the project; not so on Windows.
    lock = directory if os.name == "posix" else os.path.join(directory, f".{config.FILE}.lock")
    with atomic.Lock(lock):
        new = edit(_read(file))
        mode = stat.S_IMODE(os.stat(real).st_mode) if os.path.exists(real) else None
        atomic.write(real, new.encode(), durable=True, mode=mode)


def _read(file: str) -> str:
    try:
        with open(file, encoding="utf-8", newline="") as opened:
            return opened.read()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise InvalidConfiguration(file, getattr(error, "strerror", None) or str(error)) from None


def _parsed(file: str, text: str) -> dict[str, Any]:
    """What a file says; floats stay text, because one that is no number is unlike itself."""
    try:
        data = tomllib.loads(text, parse_float=str)
    except (ValueError, RecursionError) as error:
        raise InvalidConfiguration(file, str(error)) from None
    tables = data.get(KEY, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise InvalidConfiguration(file, f"'{KEY}' must be [[{KEY}]] tables")
    return data


def _names(data: Mapping[str, Any]) -> list[str]:
    return [name for table in data.get(KEY, []) if isinstance(name := table.get("name"), str)]


def _checked(file: str, new: str, meant: Mapping[str, Any]) -> str:
    """`new`, if it says what was meant."""
    if _parsed(file, new) != meant:
        raise InvalidConfiguration(file, "it can't be changed safely; edit it by hand")
    return new


def _refuse_inline(file: str, text: str) -> None:
    if KEY in next(_parts(_lines(text))).data:
        raise InvalidConfiguration(
            file, f"'{KEY} = [...]' can't be changed by a command; edit it by hand, or write [[{KEY}]] tables"
        )


def _written(table: Table, end: str) -> str:
    lines = [f"[[{KEY}]]", *(f"{key} = {_value(value)}" for key, value in table.items())]
    return "".join(line + end for line in lines)


def _value(value: str | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    escaped = "".join(
        f"\\u{ord(c):04x}" if c < " " or c == "\x7f" else c for c in value.replace("\\", "\\\\")
    )
    return '"' + escaped.replace('"', '\\"') + '"'


@dataclass(frozen=True, slots=True)
class _Part:
    """The lines from a header to the next one (or before the first), and what they say alone.

    Lines `start` to `end` say it; after them come comments and blank lines up to `stop`.
    """

    start: int
    end: int
    stop: int
    data: Mapping[str, Any]


def _parts(lines: Sequence[str]) -> Iterator[_Part]:
    """A file taken apart at its headers.

    A line that starts with `[` is one only where what is before it is complete: inside a text of
    several lines, or a list, it is not.
    """
    start, tries = 0, MAX_TRIES
    for number in range(len(lines) + 1):
        if number < len(lines) and (tries == 0 or not _may_be_header(lines[number])):
            continue
        try:
            data = tomllib.loads("".join(lines[start:number]))
        except (ValueError, RecursionError):
            tries -= 1
            continue
        end = number
        while end > start and (_is_blank(lines[end - 1]) or _is_comment(lines[end - 1])):
            end -= 1
        yield _Part(start, end, number, data)
        start = number


def _may_be_header(line: str) -> bool:
    """Whether a line starts as a header does and does not end as an item of a list."""
    return line.lstrip(" \t").startswith("[") and ("#" in line or not line.rstrip().endswith(","))


def _lines(text: str) -> list[str]:
    """With their ends, which are TOML's: other characters that end lines elsewhere do not."""
    return list(io.StringIO(text, newline="\n"))


def _is_blank(line: str) -> bool:
    return not line.strip()


def _is_comment(line: str) -> bool:
    """Whether a line is a comment for sure: one with three quotes may be the end of a text."""
    return line.lstrip(" \t").startswith("#") and '"""' not in line and "'''" not in line


def _without(text: str, name: str) -> str:
    """The text without the lines of a repository."""
    lines = _lines(text)
    cut: set[int] = set()
    inside, before = False, 0
    for part in _parts(lines):
        tables = part.data.get(KEY)
        if isinstance(tables, list):
            inside = tables[0].get("name") == name
        if inside and tables is not None:
            cut.update(_span(lines, before, part))
        before = part.end
    return "".join(line for number, line in enumerate(lines) if number not in cut)


def _span(lines: Sequence[str], before: int, part: _Part) -> range:
    """The lines that go with a table, and one of the two gaps around it; `before` ends the last table."""
    first, last = part.start, part.end
    while first > before and _is_comment(lines[first - 1]):
        first -= 1
    while last < part.stop and _is_comment(lines[last]):
        last += 1
    if last == part.stop < len(lines):  # comments down to the next header are that one's
        last = part.end
    while last < part.stop and _is_blank(lines[last]):
        last += 1
    while last == len(lines) and first > before and _is_blank(lines[first - 1]):
        first -= 1
    return range(first, last)
