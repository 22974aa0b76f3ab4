"""Usage as one page for a browser: self-contained, no scripts, nothing loaded from anywhere."""

from __future__ import annotations

from datetime import date
from html import escape
from posixpath import normpath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from skillc.usage.stats import Stats

SHOWN = 12  # rows of a chart; the rest are folded away
LISTED = 500  # rows of a chart with those folded away; what is left out is counted
LETTERS = 240  # of a text that someone else wrote

# A column for each day up to so many of them, then for each week, then for each month.
DAYS, WEEKS = 100, 800

_STYLE = """
:root {
  color-scheme: light dark;
  --ink: #1b2130; --soft: #626b7d; --line: #e3e6ec; --paper: #f5f6f9; --card: #fff;
  --bar: #4263eb; --track: #edf0f7; --bad: #d6453d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e4e8f1; --soft: #98a1b3; --line: #2a3040; --paper: #0f131b; --card: #171c27;
    --bar: #7b93ff; --track: #232a39; --bad: #ff7a70;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 72rem; padding: clamp(1rem, 4vw, 2.5rem);
  background: var(--paper); color: var(--ink); font: 15px/1.45 system-ui, sans-serif;
}
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 0 0 .9rem; }
p { margin: 0; }
.soft, small, figcaption { color: var(--soft); font-size: .85rem; }
.count, figcaption { font-variant-numeric: tabular-nums; }
main, .charts > div { display: grid; gap: 1rem; min-width: 0; }
main { margin-top: 1.25rem; }
.charts {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 25rem), 1fr));
  gap: 1rem; align-items: start;
}
section {
  background: var(--card); border: 1px solid var(--line); border-radius: .75rem;
  padding: 1.1rem 1.25rem; min-width: 0;
}
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: 1rem; }
.tiles b { display: block; font-size: 1.7rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.row {
  display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: .15rem 1rem; align-items: end;
  padding: .3rem 0;
}
.what { overflow-wrap: anywhere; }
.what small { margin-inline-start: .5rem; }
.track { grid-column: 1 / -1; background: var(--track); border-radius: .2rem; }
.bar { background: var(--bar); height: .4rem; border-radius: .2rem; min-width: 3px; }
.bad .bar { background: var(--bad); }
figure { margin: 0; }
figcaption { display: flex; justify-content: space-between; gap: 1rem; padding-top: .4rem; }
svg { width: 100%; height: 9rem; display: block; border-bottom: 1px solid var(--line); }
svg rect { fill: var(--bar); }
summary { cursor: pointer; overflow-wrap: anywhere; }
.row + details > summary { color: var(--soft); font-size: .85rem; margin-top: .5rem; }
.unread { margin-top: .75rem; columns: 26rem auto; column-gap: 2.25rem; }
.unread details { padding: .2rem 0; }
.unread summary { break-after: avoid; }
ul { list-style: none; margin: .25rem 0 .6rem; padding: 0 0 0 .9rem; border-left: 2px solid var(--line); }
li { break-inside: avoid; overflow-wrap: anywhere; padding: .05rem 0; }
"""


def unread(
    headings: Iterable[tuple[str, int, str]], shown: Collection[tuple[str, str]], opened: Collection[str]
) -> dict[str, list[tuple[int, str]]]:
    """The sections of which no part was read, by file, as (level, heading).

    `headings` are (file, level, heading) in their order, `shown` (heading, file). A section is read
    with the one around it, and in part with each one in it.

    >>> unread([("a.md", 1, "A"), ("a.md", 2, "B"), ("a.md", 2, "C"), ("b.md", 1, "D")], {("B", "a.md")}, ())
    {'a.md': [(2, 'C')], 'b.md': [(1, 'D')]}
    """
    files: dict[str, list[tuple[int, str]]] = {}
    for file, level, heading in headings:
        files.setdefault(file, []).append((level, heading))
    whole = {normpath(file) for file in opened}
    found = {}
    for file, entries in files.items():
        asked = [(heading, file) in shown for _, heading in entries]
        left = [] if file in whole else _unread(entries, asked)
        if left:
            found[file] = left
    return found


def _unread(entries: Sequence[tuple[int, str]], asked: Sequence[bool]) -> list[tuple[int, str]]:
    read = [False] * len(entries)
    around: list[int] = []  # the sections that the one at hand stands in
    for number, (level, _) in enumerate(entries):
        while around and entries[around[-1]][0] >= level:
            around.pop()
        if asked[number]:
            for outer in around:
                read[outer] = True
        read[number] = asked[number] or any(asked[outer] for outer in around)
        around.append(number)
    return [entry for entry, was in zip(entries, read, strict=True) if not was]


def usage_page(
    title: str,
    answers: Mapping[str, Stats],
    days: Sequence[tuple[str, int]],
    unread: Mapping[str, Sequence[tuple[int, str]]],
    *,
    skills: Sequence[tuple[str, int]] = (),
) -> str:
    """The page: totals, accesses over time, and charts of sections, files, searches and errors.

    `answers` holds a Stats for each group, `unread` the sections of which nobody read a part, by file,
    `skills` the accesses of each, where the page is about several.
    """
    summary = answers["summary"]
    by_skill = [{"skill": name, "count": count} for name, count in skills]
    by_command = [{"command": name, "count": count} for name, count in answers["commands"].data.items()]
    charts = [
        *([_Bars("Skills", by_skill, "skill")] if skills else []),
        _Bars("Sections", answers["sections"].data, "section", "file"),
        _Bars("Files", answers["files"].data, "file"),
        _Bars("Searches", answers["search"].data, "query"),
        _Bars("Errors", answers["errors"].data, "target", "error", css="bad"),
        _Bars("Commands", by_command, "command"),
        _Bars("Projects", answers["projects"].data, "project"),
    ]
    body = [_tiles(summary.data), _over_time(days), _two_columns(charts), _nobody_reads(unread)]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_shown(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<header><h1 dir="auto">{_shown(title)}</h1>{_scope(summary)}</header>\n<main>\n'
        + "\n".join(filter(None, body))
        + "\n</main>\n</body>\n</html>\n"
    )


def _shown(text: str) -> str:
    """Text of others as HTML: cut to a length that can be read, without characters that do things."""
    cut = text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"
    return escape(cut.translate(_HARMLESS))


# Control characters, and those that turn the direction of what follows.
_HARMLESS = dict.fromkeys(
    [*range(0x20), *range(0x7F, 0xA0), 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)], " "
)


def _scope(summary: Stats) -> str:
    """When and where the accesses were that the page is about."""
    filters = summary.filters
    if summary.start and summary.end:
        first, last = summary.start[:10], summary.end[:10]
        period = f"{_shown(first)} to {_shown(last)}" if first != last else _shown(first)
    else:
        period = "No accesses yet"
    asked = [f"since {filters.since}"] if filters.since else []
    asked += [f"until {filters.until}"] if filters.until else []
    asked += [f"in {' or '.join(filters.projects)}"] if filters.projects else []
    only = f" (only accesses {_shown(', '.join(asked))})" if asked else ""
    return f'<p class="soft">{period}{only}</p>'


def _tiles(data: Mapping[str, int]) -> str:
    names = {
        "total_accesses": "accesses",
        "unique_sections": "sections read",
        "unique_files": "files read",
        "error_count": "errors",
    }
    tiles = "".join(
        f'<p><b>{data[key]:,}</b><span class="soft">{name}</span></p>' for key, name in names.items()
    )
    return f'<section class="tiles">{tiles}</section>'


def _over_time(days: Sequence[tuple[str, int]]) -> str:
    """A column for each day, week or month from the first to the last, also where there was nothing."""
    if len(days) < 2:
        return ""
    unit = "day" if len(days) <= DAYS else "week" if len(days) <= WEEKS else "month"
    columns: dict[str, int] = {}
    for day, count in days:
        name = _column_of(day, unit)
        columns[name] = columns.get(name, 0) + count
    highest = max(columns.values()) or 1
    drawn = "".join(
        _column(number, name, count, highest) for number, (name, count) in enumerate(columns.items()) if count
    )
    return (
        f"<section><h2>Accesses by {unit}</h2><figure>"
        f'<svg viewBox="0 0 {len(columns)} 100" preserveAspectRatio="none" role="img"'
        f' aria-label="Accesses by {unit}, at most {highest:,}">{drawn}</svg>'
        f"<figcaption><span>{days[0][0]}</span><span>at most {highest:,} a {unit}</span>"
        f"<span>{days[-1][0]}</span></figcaption></figure></section>"
    )


def _column_of(day: str, unit: str) -> str:
    if unit == "week":
        year, week, _ = date.fromisoformat(day).isocalendar()
        return f"{year}, week {week}"
    return day if unit == "day" else day[:7]


def _column(number: int, name: str, count: int, highest: int) -> str:
    height = max(100 * count / highest, 1)
    return (
        f'<rect x="{number + 0.1:.1f}" width="0.8" y="{100 - height:.1f}" height="{height:.1f}">'
        f"<title>{name}: {count:,}</title></rect>"
    )


class _Bars:
    """A chart with a bar for each entry; the first ones are shown, the others folded away."""

    def __init__(
        self, title: str, data: Sequence[Mapping[str, Any]], name: str, detail: str = "", css: str = ""
    ) -> None:
        self.title = title
        self.data = data
        self.name = name
        self.detail = detail
        self.css = css

    def height(self) -> int:
        """How tall it is, in rows; the title is as tall as two."""
        return min(len(self.data), SHOWN) + 2

    def html(self) -> str:
        if not self.data:
            return f'<section><h2>{self.title}</h2><p class="soft">None.</p></section>'
        highest = max(entry["count"] for entry in self.data) or 1
        rows = [_bar(entry, self.name, self.detail, highest) for entry in self.data[:LISTED]]
        folded = ""
        if len(self.data) > SHOWN:
            beyond = len(self.data) - LISTED
            more = f'<p class="soft">and {beyond:,} more</p>' if beyond > 0 else ""
            summary = f"<summary>{len(self.data) - SHOWN:,} more</summary>"
            folded = f"<details>{summary}{''.join(rows[SHOWN:])}{more}</details>"
        return f'<section class="{self.css}"><h2>{self.title}</h2>{"".join(rows[:SHOWN])}{folded}</section>'


def _two_columns(charts: Iterable[_Bars]) -> str:
    """Charts side by side, each below those of the shorter column."""
    columns: tuple[list[_Bars], list[_Bars]] = ([], [])
    for chart in charts:
        min(columns, key=lambda column: sum(other.height() for other in column)).append(chart)
    divisions = (f"<div>{''.join(chart.html() for chart in column)}</div>" for column in columns)
    return f'<div class="charts">{"".join(divisions)}</div>'


def _bar(entry: Mapping[str, Any], name: str, detail: str, highest: int) -> str:
    small = f"<small>{_text(entry, detail)}</small>" if detail and entry[detail] else ""
    what = _text(entry, name) if entry[name] else '<span class="soft">(nothing)</span>'
    width = 100 * entry["count"] / highest
    return (
        f'<div class="row"><div class="what">{what}{small}</div><div class="count">{entry["count"]:,}</div>'
        f'<div class="track"><div class="bar" style="width:{width:.1f}%"></div></div></div>'
    )


def _text(entry: Mapping[str, Any], name: str) -> str:
    """A text in the direction of its own script; paths go from left to right in any."""
    direction = ' dir="ltr"' if name in ("file", "project") else ""
    return f"<bdi{direction}>{_shown(entry[name])}</bdi>"


def _nobody_reads(unread: Mapping[str, Sequence[tuple[int, str]]]) -> str:
    """What could go, or should be found more easily."""
    if not unread:
        return '<section><h2>Sections nobody reads</h2><p class="soft">None.</p></section>'
    total = sum(map(len, unread.values()))
    files = "".join(_file(file, entries, folded=total > LISTED) for file, entries in unread.items())
    return (
        f'<section><h2>Sections nobody reads <span class="soft">{total:,}</span></h2>'
        f'<p class="soft">No part of these was shown, and their files were not opened.</p>'
        f'<div class="unread">{files}</div></section>'
    )


def _file(file: str, entries: Sequence[tuple[int, str]], *, folded: bool) -> str:
    top = min(level for level, _ in entries)
    items = "".join(
        f'<li style="padding-left:{(level - top) * 0.9:.1f}rem"><bdi>{_shown(heading)}</bdi></li>'
        for level, heading in entries
    )
    return (
        f'<details{"" if folded else " open"}><summary><bdi dir="ltr">{_shown(file)}</bdi>'
        f" <small>{len(entries):,}</small></summary><ul>{items}</ul></details>"
    )
