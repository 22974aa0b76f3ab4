"""Usage as one page for a browser: self-contained, without scripts and requests."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from posixpath import normpath
from typing import Any

from skillc import offline_page
from skillc.usage.query import Filters
from skillc.usage.stats import Stats, describe_results

VISIBLE_ROWS = 12  # of a chart; the others are collapsed
MAX_ROWS = 500  # of a chart; the others are counted
VISIBLE_SKILLS = 12  # with unread sections, without a click
MAX_OPEN = 40  # unread sections that are listed without a click
MAX_TICKS = 5  # labels of a time axis

# Maximum number of days that are shown by day, and by week; more are shown by month.
MAX_DAYS, MAX_WEEK_DAYS = 100, 800


def find_unread(
    headings: Iterable[tuple[str, int, str]], sections: Collection[tuple[str, str]], files: Collection[str]
) -> dict[str, list[tuple[int, str]]]:
    """Return the sections of which no part was read, by file, as (level, heading).

    `headings` are (file, level, heading) in order; `sections`, as (heading, file), and `files` were read.
    Reading a section reads its subsections, and a part of the sections around it.

    >>> headings = [("a.md", 1, "A"), ("a.md", 2, "B"), ("a.md", 2, "C"), ("b.md", 1, "D")]
    >>> find_unread(headings, {("B", "a.md")}, ())
    {'a.md': [(2, 'C')], 'b.md': [(1, 'D')]}
    """
    outlines: dict[str, list[tuple[int, str]]] = {}
    for file, level, heading in headings:
        outlines.setdefault(file, []).append((level, heading))
    for file in map(normpath, files):
        outlines.pop(file, None)
    unread = {
        file: _find_unread(outline, [(heading, file) in sections for _, heading in outline])
        for file, outline in outlines.items()
    }
    return {file: rest for file, rest in unread.items() if rest}


def _find_unread(outline: Sequence[tuple[int, str]], hits: Sequence[bool]) -> list[tuple[int, str]]:
    is_read = [False] * len(outline)
    ancestors: list[int] = []
    for number, (level, _) in enumerate(outline):
        while ancestors and outline[ancestors[-1]][0] >= level:
            ancestors.pop()
        if hits[number]:
            for ancestor in ancestors:
                is_read[ancestor] = True
        is_read[number] = hits[number] or any(hits[ancestor] for ancestor in ancestors)
        ancestors.append(number)
    return [heading for heading, read in zip(outline, is_read, strict=True) if not read]


def render_page(
    title: str,
    answers: Mapping[str, Stats],
    days: Sequence[tuple[str, int]],
    unread: Mapping[str, Mapping[str, Sequence[tuple[int, str]]]],
    *,
    maker: str = "",
) -> str:
    """Return the page: totals, accesses over time, and charts of sections, files, searches and errors.

    `answers` has the Stats of each group, and `unread` the result of `find_unread` for each skill. `maker`
    says when and by what it was made.
    """
    summary, time = answers["summary"], group_days(days) if len(days) > 1 else None
    period = "No accesses yet"
    if summary.start and summary.end:
        period = " to ".join(dict.fromkeys((summary.start[:10], summary.end[:10])))
    counts = {skill: sum(map(len, files.values())) for skill, files in unread.items()}
    skills = sorted((skill for skill in unread if counts[skill]), key=lambda skill: (-counts[skill], skill))
    return offline_page.render_page(
        os.path.join(os.path.dirname(__file__), "page.html"),
        title=title,
        period=period,
        conditions=_name_conditions(summary.filters),
        tiles=[(name, summary.data[key]) for key, name in _TILES.items()],
        time=time,
        ticks=_choose_ticks([name for name, _, _ in time["columns"]]) if time else (),
        charts=_arrange(_list_charts(answers)),
        unread=unread,
        unread_skills=[(skill, unread[skill], counts[skill]) for skill in skills],
        total_unread=sum(counts.values()),
        visible_rows=VISIBLE_ROWS,
        max_rows=MAX_ROWS,
        visible_skills=VISIBLE_SKILLS,
        max_open=MAX_OPEN,
        maker=maker,
    )


_TILES = {
    "total_accesses": "accesses",
    "unique_sections": "sections read",
    "unique_files": "files read",
    "error_count": "errors",
}


def _name_conditions(filters: Filters) -> str:
    conditions = [f"since {filters.since}"] if filters.since else []
    conditions += [f"until {filters.until}"] if filters.until else []
    conditions += [f"in {' or '.join(filters.projects)}"] if filters.projects else []
    return ", ".join(conditions)


def group_days(days: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """Return a column for each day, week or month, also for those without accesses.

    >>> group_days((("2026-01-01", 2), ("2026-01-02", 4)))["columns"]
    [('2026-01-01', 2, 50.0), ('2026-01-02', 4, 100.0)]
    """
    unit = "day" if len(days) <= MAX_DAYS else "week" if len(days) <= MAX_WEEK_DAYS else "month"
    counts: dict[str, int] = {}
    for day, count in days:
        year, week, _ = date.fromisoformat(day).isocalendar()
        name = {"day": day, "week": f"{year}, week {week}", "month": day[:7]}[unit]
        counts[name] = counts.get(name, 0) + count
    highest = max(counts.values(), default=0) or 1
    columns = [(name, count, round(100 * count / highest, 1)) for name, count in counts.items()]
    return {"unit": unit, "highest": highest, "columns": columns}


def _choose_ticks(names: Sequence[str]) -> list[str]:
    """Return at most MAX_TICKS labels of a time axis, evenly spaced, the first and the last among them."""
    last = len(names) - 1
    count = min(MAX_TICKS, len(names))
    places = dict.fromkeys(round(last * number / max(count - 1, 1)) for number in range(count))
    return [names[place] for place in places]


@dataclass(frozen=True)
class _Bars:
    """A chart with a bar for each entry; the first are visible, the others collapsed."""

    title: str
    data: Sequence[Mapping[str, Any]]
    name: str
    detail: str = ""
    css: str = ""

    @property
    def details(self) -> list[str]:
        """What stands below the name."""
        return [key for key in ("skill", self.detail) if key and key != self.name]

    @property
    def highest(self) -> int:
        return max(entry["count"] for entry in self.data) or 1


def _list_charts(answers: Mapping[str, Stats]) -> list[_Bars]:
    by_skill = [{"skill": name, "count": count} for name, count in answers["summary"].by_skill]
    by_command = [{"command": name, "count": count} for name, count in answers["commands"].data.items()]
    searches = [{**search, "found": describe_results(search)} for search in answers["search"].data]
    empty = [search for search in searches if search["empty"]]
    return [
        *([_Bars("Skills", by_skill, "skill")] if by_skill else []),
        _Bars("Sections", answers["sections"].data, "section", "file"),
        _Bars("Files", answers["files"].data, "file"),
        _Bars("Searches that found nothing", empty, "query", "found", css="bad"),
        _Bars("Searches", searches, "query", "found"),
        _Bars("Errors", answers["errors"].data, "target", "error", css="bad"),
        _Bars("Commands", by_command, "command"),
        _Bars("Projects", answers["projects"].data, "project"),
    ]


def _arrange(charts: Iterable[_Bars]) -> tuple[list[_Bars], list[_Bars]]:
    """Arrange charts in two columns: each is added to the shorter one."""
    columns: tuple[list[_Bars], list[_Bars]] = ([], [])
    heights = [0, 0]
    for chart in charts:
        column = heights.index(min(heights))
        columns[column].append(chart)
        heights[column] += min(len(chart.data), VISIBLE_ROWS) + 2  # rows; a title is as tall as two
    return columns
