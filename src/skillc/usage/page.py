"""Usage as one page for a browser: self-contained, no scripts, nothing loaded from anywhere."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from skillc.usage.stats import Stats

MOST = 25  # rows in a chart; what is left out is counted

_STYLE = """
:root {
  color-scheme: light dark;
  --ink: #1d2330; --soft: #667085; --line: #e4e7ec; --bar: #4f6bed; --bad: #d9534f; --paper: #fff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6e9f0; --soft: #98a2b3; --line: #2b3242; --bar: #7c93ff; --bad: #ff7b72; --paper: #12161f;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 4rem;
  background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif;
}
h1 { font-size: 1.6rem; margin: 0; }
h2 { font-size: 1.05rem; margin: 2.5rem 0 .75rem; }
p { color: var(--soft); margin: .25rem 0 .5rem; }
small { color: var(--soft); }
.tiles {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem;
  margin-top: 1.5rem;
}
.tile { border: 1px solid var(--line); border-radius: .6rem; padding: .8rem 1rem; }
.tile b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); }
.row {
  display: grid; grid-template-columns: minmax(8rem, 22rem) 1fr 4.5rem; gap: .75rem;
  align-items: center; padding: .2rem 0;
}
.what, li { overflow-wrap: anywhere; }
.what small { display: block; }
.bar { background: var(--bar); height: .7rem; border-radius: .2rem; min-width: 2px; }
.errors .bar { background: var(--bad); }
.count { text-align: right; font-variant-numeric: tabular-nums; }
svg { width: 100%; height: 8rem; display: block; }
svg rect { fill: var(--bar); }
ul { columns: 2; padding-left: 1.1rem; }
li { break-inside: avoid; }
@media (max-width: 40rem) { ul { columns: 1; } }
"""


def usage_page(
    title: str,
    answers: dict[str, Stats],
    days: Sequence[tuple[str, int]],
    unread: Sequence[tuple[str, str]],
) -> str:
    """The page: totals, accesses by day, and charts of sections, files, searches and errors.

    `answers` holds a Stats for each group, `unread` the (heading, file) that nobody asked for.
    """
    summary = answers["summary"]
    period = f"{summary.start} to {summary.end}" if summary.start else "no accesses yet"
    body = [
        f"<h1>{escape(title)}</h1><p>{escape(period)}</p>",
        _tiles(summary.data),
        _chart_of_days(days),
        _bars("Sections", answers["sections"].data, "section", "file"),
        _bars("Files", answers["files"].data, "file"),
        _bars("Searches", answers["search"].data, "query"),
        _bars("Errors", answers["errors"].data, "target", "error", css="errors"),
        _bars("Projects", answers["projects"].data, "project"),
        _unread(unread),
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        + "\n".join(filter(None, body))
        + "\n</body>\n</html>\n"
    )


def _tiles(data: dict[str, int]) -> str:
    tiles = "".join(
        f'<div class="tile"><b>{count:,}</b><span>{escape(name.replace("_", " "))}</span></div>'
        for name, count in data.items()
    )
    return f'<div class="tiles">{tiles}</div>'


def _chart_of_days(days: Sequence[tuple[str, int]]) -> str:
    """A column for each day from the first to the last, days without accesses included."""
    if len(days) < 2:
        return ""
    highest = max(count for _, count in days)
    heights = [(n, day, 100 * count / highest, count) for n, (day, count) in enumerate(days) if count]
    columns = "".join(_column(*column) for column in heights)
    return (
        f"<h2>By day</h2><p>{escape(days[0][0])} to {escape(days[-1][0])}, at most {highest:,} a day</p>"
        f'<svg viewBox="0 0 {len(days)} 100" preserveAspectRatio="none" role="img">{columns}</svg>'
    )


def _column(number: int, day: str, height: float, count: int) -> str:
    return (
        f'<rect x="{number}" width="0.8" y="{100 - height:.2f}" height="{height:.2f}">'
        f"<title>{escape(day)}: {count:,}</title></rect>"
    )


def _bars(title: str, data: Sequence[dict[str, Any]], name: str, detail: str = "", css: str = "") -> str:
    if not data:
        return f"<h2>{escape(title)}</h2><p>none</p>"
    highest = max(entry["count"] for entry in data)
    rows = "".join(_bar(entry, name, detail, highest) for entry in data[:MOST])
    more = f"<p>and {len(data) - MOST:,} more</p>" if len(data) > MOST else ""
    return f'<h2>{escape(title)}</h2><div class="{css}">{rows}</div>{more}'


def _bar(entry: dict[str, Any], name: str, detail: str, highest: int) -> str:
    small = f"<small>{escape(entry[detail])}</small>" if detail and entry[detail] else ""
    width = 100 * entry["count"] / highest
    return (
        f'<div class="row"><div class="what">{escape(entry[name] or "(none)")}{small}</div>'
        f'<div><div class="bar" style="width:{width:.1f}%"></div></div>'
        f'<div class="count">{entry["count"]:,}</div></div>'
    )


def _unread(unread: Iterable[tuple[str, str]]) -> str:
    items = "".join(f"<li>{escape(heading)} <small>{escape(file)}</small></li>" for heading, file in unread)
    return f"<h2>Sections nobody reads</h2>{f'<ul>{items}</ul>' if items else '<p>none</p>'}"
