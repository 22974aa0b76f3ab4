"""What agents used, grouped (RFC-0003): sections, files, commands, projects, errors, searches."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from skillc.errors import InvalidQueryType
from skillc.usage.counts import FAILED, Logs
from skillc.usage.query import Filters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from skillc.errors import Diagnostic
    from skillc.library import Skill

    Counts = dict[tuple[str, ...], int]
    Asked = tuple[str, dict[str, Any], str, int]

GROUPS = ("summary", "sections", "files", "commands", "projects", "errors", "search")
_ALL = Filters()
_FIRST_DAY = date(1970, 1, 1).toordinal()


@dataclass(frozen=True)
class Stats:
    """An answer: `data` has the form of its `query`; `start` and `end` are the first and last access."""

    skill: str | None
    skill_path: str | None
    query: str
    filters: Filters
    start: str | None
    end: str | None
    data: Any
    diagnostics: tuple[Diagnostic, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "skill": self.skill,
            "skill_path": self.skill_path,
            "query": self.query,
            "filters": self.filters.as_json(),
            "period": {"start": self.start, "end": self.end},
            "data": self.data,
        }


def check_group(group: str) -> None:
    if group not in GROUPS:
        raise InvalidQueryType(group)


def stats_of(skill: Skill, group: str = "summary", filters: Filters = _ALL) -> Stats:
    """The accesses of one skill; none is an empty result."""
    check_group(group)
    with Logs([skill], filters) as logs:
        return Stats(
            skill.name, skill.source, group, filters, *logs.period(), _DATA[group](logs), logs.diagnostics
        )


def stats_of_all(skills: Sequence[Skill], group: str = "summary", filters: Filters = _ALL) -> Stats:
    """The accesses of several skills together."""
    check_group(group)
    with Logs(skills, filters) as logs:
        return Stats(None, None, group, filters, *logs.period(), _DATA[group](logs), logs.diagnostics)


def by_day(skills: Sequence[Skill], filters: Filters = _ALL) -> list[tuple[str, int]]:
    """Accesses on each day from the first to the last, days without any too."""
    with Logs(skills, filters) as logs:
        counts = {day + _FIRST_DAY: count for day, (count, _) in logs.total("day").items()}
    days = [day for day in counts if 1 <= day <= date.max.toordinal()]
    if not days:
        return []
    return [
        (date.fromordinal(day).isoformat(), counts.get(day, 0)) for day in range(min(days), max(days) + 1)
    ]


def read_of(skill: Skill, filters: Filters = _ALL) -> tuple[set[tuple[str, str]], set[str]]:
    """What was read of a skill: the sections shown, as (heading, file), and the files opened."""
    with Logs([skill], filters) as logs:
        shown = {(section, file) for section, file in _sections(logs)}
        return shown, {_word(asked, "path") for _, asked, _, _ in _asked(logs, "open")}


def _summary(logs: Logs) -> dict[str, int]:
    totals = logs.total("command").values()
    read = list(_asked(logs, "show", "open"))
    return {
        "total_accesses": sum(count for count, _ in totals),
        "unique_sections": len(_sections_of(read)),
        "unique_files": len(_files_of(read)),
        "error_count": sum(failed for _, failed in totals),
    }


def _sections(logs: Logs) -> Counts:
    return _sections_of(_asked(logs, "show"))


def _sections_of(read: Iterable[Asked]) -> Counts:
    return _added(
        ((section, _word(asked, "file")), count)
        for command, asked, _, count in read
        if command == "show" and (section := _word(asked, "section"))
    )


def _files(logs: Logs) -> Counts:
    return _files_of(_asked(logs, "show", "open"))


def _files_of(read: Iterable[Asked]) -> Counts:
    return _added(
        ((file,), count)
        for _, asked, _, count in read
        if (file := _word(asked, "file") or _word(asked, "path"))
    )


def _commands(logs: Logs) -> dict[str, int]:
    totals: Counts = {(command,): count for command, (count, _) in logs.total("command").items()}
    return {command: count for (command,), count in _most_first(totals)}


def _projects(logs: Logs) -> Counts:
    return {(cwd,): count for cwd, (count, _) in logs.total("cwd").items()}


def _errors(logs: Logs) -> Counts:
    failed = _asked(logs, FAILED)
    return _added(((_target(asked), command, error), count) for command, asked, error, count in failed)


def _searches(logs: Logs) -> Counts:
    searched = _asked(logs, "search", FAILED)
    return _added(
        ((_word(asked, "query"),), count) for command, asked, _, count in searched if command == "search"
    )


def _listed(
    count: Callable[[Logs], Counts], *names: str, from_last: bool = False
) -> Callable[[Logs], list[dict[str, Any]]]:
    """A group that is a list of entries with these names and `count`, most first."""
    return lambda logs: [
        dict(zip(names, key, strict=True), count=number)
        for key, number in _most_first(count(logs), from_last=from_last)
    ]


_DATA: dict[str, Callable[[Logs], Any]] = {
    "summary": _summary,
    "sections": _listed(_sections, "section", "file", from_last=True),
    "files": _listed(_files, "file"),
    "commands": _commands,
    "projects": _listed(_projects, "project"),
    "errors": _listed(_errors, "target", "command", "error"),
    "search": _listed(_searches, "query"),
}


def _most_first(counts: Counts, *, from_last: bool = False) -> list[tuple[tuple[str, ...], int]]:
    """By count, downwards; what is equal by its names, in their order or from the last on."""
    step = -1 if from_last else 1
    return sorted(counts.items(), key=lambda item: (-item[1], item[0][::step]))


def _added(counts: Iterable[tuple[tuple[str, ...], int]]) -> Counts:
    total: Counts = {}
    for key, count in counts:
        total[key] = total.get(key, 0) + count
    return total


def _asked(logs: Logs, *topics: str) -> Iterator[Asked]:
    """Commands with their arguments, the error or nothing, and how often."""
    for command, args, error, count in logs.kinds(*topics):
        try:
            asked = json.loads(args)
        except (ValueError, RecursionError):  # rows that someone else wrote
            asked = None
        yield command, asked if isinstance(asked, dict) else {}, error, count


def _word(asked: dict[str, Any], name: str) -> str:
    value = asked.get(name)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _target(asked: dict[str, Any]) -> str:
    """What was asked for in vain."""
    words = (_word(asked, name) for name in ("section", "query", "path", "file", "dir"))
    return next(filter(None, words), "")
