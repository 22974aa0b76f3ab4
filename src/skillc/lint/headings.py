"""Rules about headings, SKL202 to SKL205: CommonMark's, each file by itself [D6]."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillc.lint.report import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillc.lint.page import Page


def check_main(page: Page, name: str) -> Iterator[Problem]:
    """SKILL.md has an H1, and the first one names the skill."""
    first = next((heading for heading in page.headings if heading.level == 1), None)
    if first is None:
        yield Problem("SKL202", "there is no H1", page.name)
    elif name and _spoken(name) not in _spoken(first.text):
        message = f"the first H1, '{first.text}', does not contain the name '{name}'"
        yield Problem("SKL203", message, page.name, first.line)


def check(page: Page) -> Iterator[Problem]:
    """The first heading is an H1, and none skips a level on the way down."""
    before = 0
    for heading in page.headings:
        if not before and heading.level > 1:
            message = f"the first heading, '{heading.text}', is an H{heading.level}, not an H1"
            yield Problem("SKL204", message, page.name, heading.line)
        elif before and heading.level > before + 1:
            message = f"'{heading.text}' is an H{heading.level} below an H{before}"
            yield Problem("SKL205", message, page.name, heading.line)
        before = heading.level


def _spoken(text: str) -> str:
    """Hyphens read as spaces, in any case."""
    return " ".join(text.replace("-", " ").casefold().split())
