"""Usage as one page for a browser: self-contained, without scripts and requests."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from html import escape
from posixpath import normpath
from typing import Any

from skillc.text import cut
from skillc.usage.stats import Stats, describe_results

VISIBLE_ROWS = 12  # of a chart; the others are collapsed
MAX_ROWS = 500  # of a chart; the others are counted
VISIBLE_SKILLS = 12  # with unread sections, without a click
MAX_OPEN = 40  # unread sections that are listed without a click
MAX_TICKS = 5  # labels of a time axis
MAX_TEXT = 240  # characters of a logged text

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
    summary = answers["summary"]
    by_skill = [{"skill": name, "count": count} for name, count in summary.by_skill]
    by_command = [{"command": name, "count": count} for name, count in answers["commands"].data.items()]
    searches = [{**search, "found": describe_results(search)} for search in answers["search"].data]
    empty = [search for search in searches if search["empty"]]
    charts = [
        *([_Bars("Skills", by_skill, "skill")] if by_skill else []),
        _Bars("Sections", answers["sections"].data, "section", "file"),
        _Bars("Files", answers["files"].data, "file"),
        _Bars("Searches that found nothing", empty, "query", "found", css="bad"),
        _Bars("Searches", searches, "query", "found"),
        _Bars("Errors", answers["errors"].data, "target", "error", css="bad"),
        _Bars("Commands", by_command, "command"),
        _Bars("Projects", answers["projects"].data, "project"),
    ]
    if summary.data["total_accesses"]:
        body = [_tiles(summary.data), _over_time(days), _two_columns(charts), _unread_sections(unread)]
    else:
        body = [_NOTHING]
    with open(os.path.join(os.path.dirname(__file__), "page.css"), encoding="utf-8") as file:
        style = file.read()
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_escape(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f'<header><h1 dir="auto">{_escape(title)}</h1>{_scope(summary)}</header>\n<main>\n'
        + "\n".join(filter(None, body))
        + f'\n</main>\n<footer class="soft">{_escape(maker)}</footer>\n</body>\n</html>\n'
    )


_NOTHING = (
    "<section><h2>Nothing yet</h2><p>No agent has used this so far. Accesses count when an agent runs "
    "<code>skc show</code>, <code>search</code>, <code>open</code>, <code>outline</code> or "
    "<code>run</code>, or the same over MCP (<code>skc mcp</code>).</p><p>Is it where agents look? "
    "<code>skc build --all</code> deploys it, and <code>skc doctor</code> says what is missing. "
    "<code>skc stats --all --html …</code> also counts what you type.</p></section>"
)


def _escape(text: str) -> str:
    """Return logged text as HTML: at most MAX_TEXT characters, without control characters."""
    return escape(cut(text, MAX_TEXT).translate(_CONTROLS))


# Control characters, and those that change the direction of text.
_CONTROLS = dict.fromkeys(
    [*range(0x20), *range(0x7F, 0xA0), 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)], " "
)


def _scope(summary: Stats) -> str:
    filters = summary.filters
    period = "No accesses yet"
    if summary.start and summary.end:
        period = _escape(" to ".join(dict.fromkeys((summary.start[:10], summary.end[:10]))))
    conditions = [f"since {filters.since}"] if filters.since else []
    conditions += [f"until {filters.until}"] if filters.until else []
    conditions += [f"in {' or '.join(filters.projects)}"] if filters.projects else []
    only = f" (only accesses {_escape(', '.join(conditions))})" if conditions else ""
    return f'<p class="soft">{period}{only}</p>'


def _tiles(data: Mapping[str, int]) -> str:
    keys = ("total_accesses", "unique_sections", "unique_files", "error_count")
    names = ("accesses", "sections read", "files read", "errors")
    tiles = "".join(
        f'<p><b>{data[key]:,}</b><span class="soft">{name}</span></p>'
        for key, name in zip(keys, names, strict=True)
    )
    return f'<section class="tiles">{tiles}</section>'


def _over_time(days: Sequence[tuple[str, int]]) -> str:
    """Return a chart with a column for each day, week or month, also for those without accesses."""
    if len(days) < 2:
        return ""
    unit = "day" if len(days) <= MAX_DAYS else "week" if len(days) <= MAX_WEEK_DAYS else "month"
    columns: dict[str, int] = {}
    for day, count in days:
        year, week, _ = date.fromisoformat(day).isocalendar()
        name = {"day": day, "week": f"{year}, week {week}", "month": day[:7]}[unit]
        columns[name] = columns.get(name, 0) + count
    highest = max(columns.values()) or 1
    bars = "".join(
        f'<rect x="{number + 0.1:.1f}" width="0.8" y="{100 - height:.1f}" height="{height:.1f}">'
        f"<title>{name}: {count:,}</title></rect>"
        for number, (name, count) in enumerate(columns.items())
        if count and (height := max(100 * count / highest, 1))
    )
    return (
        f"<section><h2>Accesses by {unit}</h2><figure>"
        f'<div class="scale soft"><span>{highest:,}</span><span>0</span></div>'
        f'<svg viewBox="0 0 {len(columns)} 100" preserveAspectRatio="none" role="img"'
        f' aria-label="Accesses by {unit}, at most {highest:,}">{bars}</svg>'
        f"<figcaption>{_axis([*columns])}</figcaption></figure></section>"
    )


def _axis(names: Sequence[str]) -> str:
    """Return at most MAX_TICKS labels of a time axis, evenly spaced, the first and the last among them."""
    last = len(names) - 1
    count = min(MAX_TICKS, len(names))
    places = dict.fromkeys(round(last * number / max(count - 1, 1)) for number in range(count))
    return "".join(f"<span>{names[place]}</span>" for place in places)


@dataclass(frozen=True)
class _Bars:
    """A chart with a bar for each entry; the first are visible, the others collapsed."""

    title: str
    data: Sequence[Mapping[str, Any]]
    name: str
    detail: str = ""
    css: str = ""

    def html(self) -> str:
        if not self.data:
            return f'<section><h2>{self.title}</h2><p class="soft">None.</p></section>'
        highest = max(entry["count"] for entry in self.data) or 1
        rows = [_bar(entry, self.name, self.detail, highest) for entry in self.data[:MAX_ROWS]]
        more = ""
        if len(self.data) > VISIBLE_ROWS:
            beyond = len(self.data) - MAX_ROWS
            count = f'<p class="soft">and {beyond:,} more</p>' if beyond > 0 else ""
            summary = f"<summary>{len(self.data) - VISIBLE_ROWS:,} more</summary>"
            more = f"<details>{summary}{''.join(rows[VISIBLE_ROWS:])}{count}</details>"
        visible = "".join(rows[:VISIBLE_ROWS])
        return f'<section class="{self.css}"><h2>{self.title}</h2>{visible}{more}</section>'


def _two_columns(charts: Iterable[_Bars]) -> str:
    """Arrange charts in two columns: each is added to the shorter one."""
    columns, heights = ["", ""], [0, 0]
    for chart in charts:
        column = heights.index(min(heights))
        columns[column] += chart.html()
        heights[column] += min(len(chart.data), VISIBLE_ROWS) + 2  # rows; a title is as tall as two
    return f'<div class="charts">{"".join(f"<div>{column}</div>" for column in columns)}</div>'


def _bar(entry: Mapping[str, Any], name: str, detail: str, highest: int) -> str:
    details = [key for key in ("skill", detail) if key and key != name and entry.get(key)]
    small = "".join(f"<small>{_entry_text(entry, key)}</small>" for key in details)
    what = _entry_text(entry, name) if entry[name] else '<span class="soft">(nothing)</span>'
    width = 100 * entry["count"] / highest
    return (
        f'<div class="row"><div class="what">{what}{small}</div><div class="count">{entry["count"]:,}</div>'
        f'<div class="track"><div class="bar" style="width:{width:.1f}%"></div></div></div>'
    )


def _entry_text(entry: Mapping[str, Any], name: str) -> str:
    """Return a text in the direction of its script; paths run from left to right in any."""
    direction = ' dir="ltr"' if name in ("file", "project") else ""
    return f"<bdi{direction}>{_escape(entry[name])}</bdi>"


def _unread_sections(unread: Mapping[str, Mapping[str, Sequence[tuple[int, str]]]]) -> str:
    """Return the sections that could be removed, or should be easier to find, by skill and file."""
    total = sum(len(entries) for files in unread.values() for entries in files.values())
    if not total:
        return '<section><h2>Unread sections</h2><p class="soft">None.</p></section>'
    state, more = "" if total > MAX_OPEN else " open", ""
    if len(unread) == 1:
        groups = "".join(_file(file, entries, state) for file, entries in next(iter(unread.values())).items())
    else:
        entries = sorted(((skill, files) for skill, files in unread.items() if files), key=_count_unread)
        skills = [_unread_skill(skill, files) for skill, files in entries]
        groups = "".join(skills[:VISIBLE_SKILLS])
        rest = "".join(skills[VISIBLE_SKILLS:])
        if rest:
            count = len(skills) - VISIBLE_SKILLS
            summary = f"<summary>{count:,} more skill{'' if count == 1 else 's'}</summary>"
            more = f'<details class="more">{summary}<div class="unread">{rest}</div></details>'
    return (
        f'<section><h2>Unread sections <span class="soft">{total:,}</span></h2>'
        f'<p class="soft">No part of these was shown, and their files were not opened.</p>'
        f'<div class="unread">{groups}</div>{more}</section>'
    )


def _count_unread(entry: tuple[str, Mapping[str, Sequence[tuple[int, str]]]]) -> tuple[int, str]:
    """Return the place of a skill in the list: those with the most unread sections come first."""
    skill, files = entry
    return -sum(map(len, files.values())), skill


def _unread_skill(skill: str, files: Mapping[str, Sequence[tuple[int, str]]]) -> str:
    count = sum(map(len, files.values()))
    parts = "".join(_file(file, entries, " open") for file, entries in files.items())
    return (
        f"<details><summary><bdi>{_escape(skill)}</bdi> <small>{count:,}</small></summary>"
        f'<div class="files">{parts}</div></details>'
    )


def _file(file: str, entries: Sequence[tuple[int, str]], state: str) -> str:
    top = min(level for level, _ in entries)
    items = "".join(
        f'<li style="padding-left:{(level - top) * 0.9:.1f}rem"><bdi>{_escape(heading)}</bdi></li>'
        for level, heading in entries
    )
    return (
        f'<details{state}><summary><bdi dir="ltr">{_escape(file)}</bdi>'
        f" <small>{len(entries):,}</small></summary><ul>{items}</ul></details>"
    )
