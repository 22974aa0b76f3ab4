"""What a terminal shows of results in place of the plain lines of their rooms.

Here and not in the commands, because agents read from pipes. Some commands have their views themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from skillc import gateway, library, usage
from skillc.cli import can_print, is_painted
from skillc.cli.layout import cut, printable
from skillc.cli.lines import CODE, CUT, FAINT, NEVER, STRONG, WHOLE, WORDS, Line, Mark
from skillc.cli.terminal import columns, is_dumb
from skillc.index import skills
from skillc.tables import pad, width_of
from skillc.text import one_line

MAX_NAME = 40  # columns for names of skills
MAX_BARS = 100  # columns for bars; longer ones are hard to compare with their labels
MATCH, END_OF_MATCH = "[MATCH]", "[/MATCH]"  # around words that a search found [RFC-0004]


def show_results(results: gateway.SearchResults) -> Iterator[str]:
    """Yield what a search found: where, and below it a snippet with its matches."""
    for result in results.results:
        # A match before the first heading of a file has no section.
        place = one_line(f"{result.file}#{result.section}".removesuffix("#"))
        score = f" (score: {result.score:.2f})"
        is_worth_it = score != " (score: 0.00)" and (not columns() or width_of(place + score) <= columns())
        yield Line(Mark(place, STRONG), Mark(score if is_worth_it else "", FAINT), breaks=WORDS)
        yield Line("  ", *_mark_matches(one_line(" ".join(result.snippet.split()))))
    if not results.results:
        yield "No results."


def _mark_matches(text: str) -> Iterator[str]:
    """Yield the parts of a snippet, its matches in bold; without styles they keep their marks."""
    if not is_painted():
        yield text
        return
    before, *pieces = text.split(MATCH)
    yield before
    for piece in pieces:
        match, end, rest = piece.partition(END_OF_MATCH)
        yield from (Mark(match, STRONG), rest) if end else (MATCH, piece)


def show_found(found: skills.FoundSkills) -> Iterator[str]:
    """Yield the skills that fit a task: each with what it is for, why it fits, and how to read it."""
    for typo, word in found.corrections.items():
        yield f"{typo}: showing {word}"
    likely, unlikely = library.part_unlikely(found)
    for skill in likely:
        facts = f"  ({skill.confidence:.0%}, {one_line(skill.source_name)})"
        yield Line(Mark(one_line(skill.id), STRONG), Mark(facts, FAINT), breaks=WORDS)
        for label, text in library.describe_result(skill):
            if label == "read":
                yield Line(Mark("  read: ", FAINT), Mark(text, CODE), breaks=WHOLE)
            else:
                yield Line("  ", Mark(f"{label}: {text}", FAINT) if label else text)
    if unlikely:
        yield Line(Mark("less likely: ", FAINT), unlikely, breaks=WORDS)
    if not found:
        yield "No skills fit."


def show_outline(headings: Iterable[gateway.Heading]) -> Iterator[str]:
    """Yield files and their headings, the hashes faint."""
    for file, group in groupby(headings, key=lambda heading: heading.file):
        yield Line(Mark(one_line(file), STRONG), breaks=NEVER)
        for heading in group:
            marks = f"{'  ' * max(1, heading.level - 1)}{'#' * heading.level} "
            yield Line(Mark(marks, FAINT), one_line(heading.heading), breaks=NEVER)


def show_listing(page: Mapping[str, Any], last: str) -> Iterator[str]:
    """Yield collections and skills in two columns, each on one line of the terminal.

    `last` says how many more there are, or that there is nothing.
    """
    rows = [(skill["id"], skill["description"]) for skill in page["skills"]]
    for each in reversed(page.get("subcollections", [])):
        count = f"{each['count']} skills"  # the description of a collection that has none of its own
        text = "" if each["description"] == count else f"  {each['description']}"
        rows.insert(0, (f"{each['path']}/", f"({each['count']}){text}"))
    limit = min(MAX_NAME, columns() // 3 or MAX_NAME)  # one long name is not to crowd out all texts
    width = min(limit, max((width_of(one_line(name)) for name, _ in rows), default=0))
    for name, text in rows:
        yield Line(Mark(pad(one_line(name), width), STRONG), one_line(f"  {text}"), breaks=CUT)
    if not rows or "more" in page:
        yield last


def draw_bars(rows: Sequence[tuple[str, int]]) -> list[str]:
    """Return counts in a column; on a terminal with bars."""
    highest = max((count for _, count in rows), default=0) or 1
    digits = len(f"{highest:,}")
    room = min(columns(), MAX_BARS) - digits - 5
    if room < 24 or is_dumb():  # no terminal, too narrow for bars, or read aloud
        return usage.format_rows(rows)
    block = "█" if can_print("█") else "#"
    labels = [printable(one_line(text)) for text, _ in rows]
    width = min(max(map(width_of, labels), default=0), room - 12)
    lines: list[str] = []
    for text, (_, count) in zip(labels, rows, strict=True):
        bar = block * max(1 if count else 0, round((room - width) * count / highest))
        label = pad(cut(text, width), width)
        lines.append(Line(f"  {count:>{digits},}  {label} ", Mark(bar, CODE), breaks=CUT))
    return lines
