"""Statistics for people: a few lines, or a row for each thing that was counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from time import gmtime, strftime
from typing import Any

from skillc import __version__
from skillc.errors import Diagnostic, unexpected, warning
from skillc.library import Skill
from skillc.text import count_of, one_line
from skillc.usage.page import find_unread, render_page
from skillc.usage.query import Filters
from skillc.usage.stats import (
    GROUPS,
    Stats,
    compute_stats,
    count_by_day,
    describe_results,
    find_reads,
    label_skills,
)

Rows = Sequence[tuple[str, int]]
SHOWN = GROUPS[:-1]  # on the page, which is about what was used
MAX_ROWS = 50  # rows for people where no limit is given; JSON has them all


def make_page(
    skills: Skill | Sequence[Skill],
    filters: Filters,
    read_headings: Callable[[Skill], Iterable[tuple[str, int, str]]],
) -> tuple[str, tuple[Diagnostic, ...]]:
    """Return a page about one skill or several, and what could not be read for it.

    `read_headings` returns a skill's headings as (file, level, heading).
    """
    stats = {group: compute_stats(skills, group, filters, with_skills=True) for group in SHOWN}
    several = [skills] if isinstance(skills, Skill) else skills
    unread: dict[str, dict[str, list[tuple[int, str]]]] = {}
    diagnostics = [*stats["summary"].diagnostics]
    for label, skill in zip(label_skills(several), several, strict=True):
        try:
            unread[label] = find_unread(read_headings(skill), *find_reads(skill, filters))
        except Exception as error:  # one bad skill must not cost the others their page
            diagnostics.append(warning("W005", skill.source, unexpected(error).message))
    text = render_page(
        f"Usage of {skills.name}" if isinstance(skills, Skill) else "Usage of all skills",
        stats,
        count_by_day(several, filters),
        unread,
        maker=strftime(f"Made by skc {__version__} on %Y-%m-%d at %H:%M UTC", gmtime()),
    )
    return text, tuple(diagnostics)


def format_rows(rows: Rows) -> list[str]:
    """Return counts in a column, each with what was counted."""
    digits = len(f"{max((count for _, count in rows), default=0) or 1:,}")
    return [f"  {count:>{digits},}  {one_line(text)}" for text, count in rows]


def render_stats(
    stats: Stats,
    draw: Callable[[Rows], list[str]] = format_rows,
    limit: int | None = None,
) -> Iterator[str]:
    """Yield statistics for people; `draw` makes the lines of rows, such as bars on a terminal.

    Skills without use are counted in one line, unless a limit is given that has room for them.
    """
    title = f"'{stats.skill}'" if stats.skill else "all skills"
    period = f", {stats.start} to {stats.end}" if stats.start else ""
    yield one_line(f"{stats.query.capitalize()} of {title}{period}")
    if stats.query == "summary":
        for name, count in stats.data.items():
            yield f"  {name.replace('_', ' '):<16} {count:>8,}"
        if stats.by_skill:
            yield ""
            yield from _list_rows(stats.by_skill, draw, limit)
    else:
        rows = _MAKERS.get(stats.query, _rows)(stats.data)
        yield from _list_rows(rows, draw, limit) if rows else ["  nothing yet"]


def _list_rows(rows: Rows, draw: Callable[[Rows], list[str]], limit: int | None) -> Iterator[str]:
    """Yield the first rows, which have most, their total, and how many are left out."""
    used = sum(count > 0 for _, count in rows)
    shown = min(used, MAX_ROWS) if limit is None else min(len(rows), limit)
    yield from draw(rows[:shown])
    yield f"  {sum(count for _, count in rows):,} in all"
    if used > shown:
        yield f"  {used - shown:,} more: --limit {used} shows {'it' if used - shown == 1 else 'them'}, too"
    if len(rows) > max(used, shown):
        unused = count_of(len(rows) - max(used, shown), "skill")
        yield f"  {unused} without use: --limit {len(rows)} lists all"


def _rows(data: Any) -> list[tuple[str, int]]:
    """Return each thing that was counted as one text, with its count."""
    if isinstance(data, dict):
        return list(data.items())
    texts = ("  ".join(str(e[key]) for key in e if key != "count" and e[key]) for e in data)
    return [(text or "(none)", entry["count"]) for text, entry in zip(texts, data, strict=True)]


def _search_rows(searches: Sequence[dict[str, Any]]) -> list[tuple[str, int]]:
    """Return each query with what it found, and how often it was used."""
    texts = [(search["query"] or "(none)", describe_results(search)) for search in searches]
    rows = [f"{query}  ({results})" if results else query for query, results in texts]
    return [(row, search["count"]) for row, search in zip(rows, searches, strict=True)]


def _offer_rows(offers: Sequence[dict[str, Any]]) -> list[tuple[str, int]]:
    """Return each skill, if there are several, and agent, with how often the skill was offered, then read."""
    texts = ("  ".join(filter(None, (each.get("skill"), each["agent"] or "(none)"))) for each in offers)
    return [
        (f"{text}  (then read {each['read']:,})", each["count"])
        for text, each in zip(texts, offers, strict=True)
    ]


_MAKERS: Mapping[str, Callable[[Any], Sequence[tuple[str, int]]]] = {
    "search": _search_rows,
    "offers": _offer_rows,
}
