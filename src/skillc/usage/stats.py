"""Statistics of use (RFC-0003): sections, files, commands, projects, errors, searches."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from skillc.contract import Result, hidden
from skillc.errors import Diagnostic, InvalidOption, InvalidQueryType
from skillc.library import Skill
from skillc.spelling import did_you_mean
from skillc.usage.log import TERMINAL
from skillc.usage.missed import read_missed
from skillc.usage.query import FAILED, Filters, Logs

Key = tuple[str, ...]
Counts = dict[Key, int]

GROUPS = ("summary", "sections", "files", "commands", "projects", "errors", "search", "offers")
MISSED = "missed"  # a group that is of no skill
_OF_SKILLS = (
    "sections",
    "files",
    "errors",
    "search",
    "offers",
)  # groups whose entries belong to one skill each
_ALL = Filters()
_FIRST_DAY = date(1970, 1, 1).toordinal()


@dataclass(frozen=True)
class Period:
    """The times of the first and the last access."""

    start: str | None
    end: str | None


@dataclass(frozen=True)
class Stats(Result):
    """An answer: `data` has the form of its `query`; a summary of several skills may count each."""

    skill: str | None
    skill_path: str | None
    query: str
    filters: Filters
    period: Period
    data: Any
    diagnostics: tuple[Diagnostic, ...] = hidden(())
    by_skill: Sequence[tuple[str, int]] = hidden(())

    @property
    def start(self) -> str | None:
        return self.period.start

    @property
    def end(self) -> str | None:
        return self.period.end


def check_group(group: str) -> None:
    names = (*GROUPS, MISSED)
    if group not in names:
        question = did_you_mean(group, names)
        listing = f"there are {', '.join(names)}"
        raise InvalidQueryType(group, f"hint: {question or listing}")


def compute_stats(
    skills: Skill | Sequence[Skill],
    group: str = "summary",
    filters: Filters = _ALL,
    *,
    with_skills: bool = False,
) -> Stats:
    """Count the accesses of one skill, or of several together; what is theirs is listed with their names.

    A summary of several has the number of each `with_skills`.
    """
    check_group(group)
    if group == MISSED:
        return _compute_missed(skills, filters)
    name, source = (skills.name, skills.source) if isinstance(skills, Skill) else (None, None)
    several = [skills] if isinstance(skills, Skill) else skills
    with Logs(several, filters) as logs:
        period, diagnostics = logs.period(), logs.diagnostics
        data = None if name is None and group in _OF_SKILLS else _count_group(logs, group)
    if data is None:
        data = _count_by_skill(several, group, filters)
    elif name is None and group == "summary":  # a section of one skill is not that of another
        data["unique_sections"] = len(_count_by_skill(several, "sections", filters))
        data["unique_files"] = len(_count_by_skill(several, "files", filters))
    counts = count_by_skill(several, filters) if with_skills and name is None and group == "summary" else ()
    return Stats(name, source, group, filters, Period(*period), data, diagnostics, counts)


def _compute_missed(skills: Skill | Sequence[Skill], filters: Filters) -> Stats:
    """Count the prompts that no skill fitted, where they are kept."""
    if isinstance(skills, Skill):
        raise InvalidOption("prompts that nothing fitted belong to no skill; leave the skill out")
    counts: Counter[str] = Counter()
    times = []
    for time, cwd, prompt in read_missed():
        if filters.covers(time, cwd):
            counts[prompt] += 1
            times.append(time)
    data = [{"prompt": prompt, "count": count} for prompt, count in counts.most_common()]
    period = Period(min(times, default=None), max(times, default=None))
    return Stats(None, None, MISSED, filters, period, data)


def count_by_skill(skills: Sequence[Skill], filters: Filters) -> list[tuple[str, int]]:
    """Return the number of accesses of each skill, most first."""
    totals = [sum(compute_stats(skill, "commands", filters).data.values()) for skill in skills]
    return sorted(zip(label_skills(skills), totals, strict=True), key=lambda count: (-count[1], count[0]))


def label_skills(skills: Sequence[Skill]) -> list[str]:
    """Return the names of skills; equal ones with their scope."""
    names = Counter(skill.name for skill in skills)
    return [f"{s.name} ({s.scope})" if names[s.name] > 1 else s.name for s in skills]


def _count_by_skill(skills: Sequence[Skill], group: str, filters: Filters) -> list[dict[str, Any]]:
    """Return the entries of all skills, each with its skill, most first."""
    entries = []
    for skill in skills:
        with Logs([skill], filters) as logs:
            entries += [{"skill": skill.name, **entry} for entry in _count_group(logs, group)]
    return sorted(entries, key=lambda entry: -entry["count"])


def count_by_day(skills: Sequence[Skill], filters: Filters = _ALL) -> list[tuple[str, int]]:
    """Count the accesses of each day from the first to the last, days without any included."""
    with Logs(skills, filters) as logs:
        counts = {day + _FIRST_DAY: count for day, (count, _) in logs.totals("day").items()}
    days = [day for day in counts if 1 <= day <= date.max.toordinal()]
    period = range(min(days), max(days) + 1) if days else ()
    return [(date.fromordinal(day).isoformat(), counts.get(day, 0)) for day in period]


def find_reads(skill: Skill, filters: Filters = _ALL) -> tuple[set[tuple[str, str]], set[str]]:
    """Return what was read of a skill: sections, as (heading, file), and whole files."""
    with Logs([skill], filters) as logs:
        sections = {(section, file) for section, file in _count(list_accesses(logs, "show"), _section)}
        return sections, {access.text("path") for access in list_accesses(logs, "open")}


@dataclass(slots=True)  # not frozen, because there may be a million
class Access:
    """A command with its arguments, its error or nothing, and how often it was used."""

    command: str
    arguments: dict[str, Any]
    error: str
    count: int

    def text(self, name: str) -> str:
        value = self.arguments.get(name)
        return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def list_accesses(logs: Logs, *topics: str) -> Iterator[Access]:
    for command, args, error, count in logs.kinds(*topics):
        yield Access(command.removeprefix(TERMINAL), _parse_arguments(args), error, count)


def _parse_arguments(args: str) -> dict[str, Any]:
    try:
        arguments = json.loads(args)
    except (ValueError, RecursionError):  # other programs may write rows
        return {}
    return arguments if isinstance(arguments, dict) else {}


# What a group counts: the key of an access, or None for one that does not count.


def _section(access: Access) -> Key | None:
    section = access.text("section") if access.command == "show" else ""
    return (section, access.text("file")) if section else None


def _file(access: Access) -> Key | None:
    file = access.text("file") or access.text("path")
    return (file,) if file else None


def _error(access: Access) -> Key:
    texts = map(access.text, ("section", "query", "path", "file", "dir"))
    return next(filter(None, texts), ""), access.command, access.error


# The topics of a group, the key of its accesses, and the names of the key's parts.
_LISTS: dict[str, tuple[Key, Callable[[Access], Key | None], Key]] = {
    "sections": (("show",), _section, ("section", "file")),
    "files": (("show", "open"), _file, ("file",)),
    "errors": ((FAILED,), _error, ("target", "command", "error")),
}


def _count(accesses: Iterable[Access], key: Callable[[Access], Key | None]) -> Counts:
    counts: Counts = {}
    for access in accesses:
        if (name := key(access)) is not None:
            counts[name] = counts.get(name, 0) + access.count
    return counts


def _count_group(logs: Logs, group: str) -> Any:
    if group == "summary":
        return _summarize(logs)
    if group in ("commands", "projects"):
        totals = logs.totals("command" if group == "commands" else "cwd")
        counts = sorted(((name, count) for name, (count, _) in totals.items()), key=lambda c: (-c[1], c[0]))
        return dict(counts) if group == "commands" else [{"project": cwd, "count": n} for cwd, n in counts]
    if group == "search":
        return _count_searches(logs)
    if group == "offers":
        return _count_offers(logs)
    topics, key, names = _LISTS[group]
    step = -1 if group == "sections" else 1  # sections that were read equally often are sorted by file
    items = list(_count(list_accesses(logs, *topics), key).items())
    items.sort(key=lambda item: (-item[1], item[0][::step]))
    return [dict(zip(names, values, strict=True), count=count) for values, count in items]


def _count_offers(logs: Logs) -> list[dict[str, Any]]:
    """Return for each agent how often its hook offered the skill, and how often it was read soon after."""
    agents: dict[str, list[int]] = {}
    for _, args, count, reads in logs.offers():
        entry = agents.setdefault(_parse_arguments(args).get("agent") or "", [0, 0])
        entry[0] += count
        entry[1] += reads
    entries = [{"agent": agent, "count": count, "read": reads} for agent, (count, reads) in agents.items()]
    return sorted(entries, key=lambda entry: (-entry["count"], entry["agent"]))


def count_offers_by_day(skills: Sequence[Skill], filters: Filters = _ALL) -> list[tuple[str, int, int]]:
    """Return for each day on which hooks offered skills how often they did, and how often reads followed."""
    days: dict[str, list[int]] = {}
    with Logs(skills, filters) as logs:
        for day, _, count, reads in logs.offers():
            entry = days.setdefault(day, [0, 0])
            entry[0] += count
            entry[1] += reads
    return [(day, count, reads) for day, (count, reads) in sorted(days.items())]


def _count_searches(logs: Logs) -> list[dict[str, Any]]:
    """Return each query: how often it was used, its most results, and how often it found nothing.

    `results` is None where no search succeeded, or the log does not say.
    """
    searches: dict[str, dict[str, Any]] = {}
    for access in list_accesses(logs, "search", FAILED):
        if access.command != "search":
            continue
        query, results = access.text("query"), access.arguments.get("result_count")
        entry = searches.setdefault(query, {"query": query, "count": 0, "results": None, "empty": 0})
        entry["count"] += access.count
        if type(results) is int and not access.error:  # other programs may write rows
            entry["results"] = max(entry["results"] or 0, results)
            entry["empty"] += access.count if results == 0 else 0
    return sorted(searches.values(), key=lambda entry: (-entry["count"], entry["query"]))


def describe_results(search: Mapping[str, Any]) -> str:
    """Return what an entry of the group `search` says about its results, for people.

    >>> describe_results({"query": "forms", "count": 5, "results": 3, "empty": 2})
    'up to 3 results, none in 2 of 5'
    """
    results, empty = search["results"], search["empty"]
    if not results:
        return "" if results is None else "no results"
    most = f"up to {results:,} result{'' if results == 1 else 's'}"
    return f"{most}, none in {empty:,} of {search['count']:,}" if empty else most


def _summarize(logs: Logs) -> dict[str, int]:
    totals = logs.totals("command").values()
    reads = list(list_accesses(logs, "show", "open"))
    return {
        "total_accesses": sum(count for count, _ in totals),
        "unique_sections": len(_count(reads, _section)),
        "unique_files": len(_count(reads, _file)),
        "error_count": sum(failures for _, failures in totals),
    }
