"""What a terminal shows of what reading commands return, in place of the plain lines of their rooms.

Here and not in the commands, because agents read from pipes. Other commands have their views themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from skillc import gateway, library
from skillc.cli import is_painted
from skillc.cli.lines import CODE, FAINT, NEVER, STRONG, WHOLE, WORDS, Line, Mark
from skillc.cli.terminal import columns
from skillc.index import skills
from skillc.tables import width_of
from skillc.text import one_line

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
    for skill in found:
        facts = f"  ({skill.score:.1f}, {one_line(skill.source_name)})"
        yield Line(Mark(one_line(skill.id), STRONG), Mark(facts, FAINT), breaks=WORDS)
        for label, text in library.describe_result(skill):
            if label == "read":
                yield Line(Mark("  read: ", FAINT), Mark(text, CODE), breaks=WHOLE)
            else:
                yield Line("  ", Mark(f"{label}: {text}", FAINT) if label else text)
    if not found:
        yield "No skills fit."


def show_outline(headings: Iterable[gateway.Heading]) -> Iterator[str]:
    """Yield files and their headings, the hashes faint."""
    for file, group in groupby(headings, key=lambda heading: heading.file):
        yield Line(Mark(one_line(file), STRONG), breaks=NEVER)
        for heading in group:
            marks = f"{'  ' * max(1, heading.level - 1)}{'#' * heading.level} "
            yield Line(Mark(marks, FAINT), one_line(heading.heading), breaks=NEVER)
