"""Check the headings of each file, SKL202 to SKL205."""

from __future__ import annotations

from collections.abc import Iterator

from skillc.lint.page import Page
from skillc.lint.report import Problem


def check_main(page: Page, name: str) -> Iterator[Problem]:
    """Check that SKILL.md has an H1, and that the first one names the skill."""
    first = next((heading for heading in page.headings if heading.level == 1), None)
    if first is None:
        yield Problem("SKL202", "there is no H1", page.name)
    elif name and _fold(name) not in _fold(first.text):
        message = f"the first H1, '{first.text}', does not contain the name '{name}'"
        yield Problem("SKL203", message, page.name, first.line)


def check(page: Page) -> Iterator[Problem]:
    """Check that the first heading is an H1, and that none skips a level."""
    before = 0
    for heading in page.headings:
        if not before and heading.level > 1:
            message = f"the first heading, '{heading.text}', is an H{heading.level}, not an H1"
            yield Problem("SKL204", message, page.name, heading.line)
        elif before and heading.level > before + 1:
            message = f"'{heading.text}' is an H{heading.level} below an H{before}"
            yield Problem("SKL205", message, page.name, heading.line)
        before = heading.level


def _fold(text: str) -> str:
    """Return a text in lower case, with hyphens as spaces."""
    return " ".join(text.replace("-", " ").casefold().split())
