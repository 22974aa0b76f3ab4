"""Rules about what a skill costs a context: SKL201, SKL206, SKL207."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skillc.lint.report import Problem
from skillc.lint.tokens import Tokens, count_files, estimate
from skillc.skills.markdown import line_count, newlines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from skillc.lint.config import Settings
    from skillc.lint.page import Folder, Page


def measure(folder: Folder, main: Page) -> Tokens:
    """What the parts of a skill cost."""
    document = main.document
    front = document.frontmatter
    metadata = [front.text(field) or "" for field in ("name", "description")] if front else []
    body = document.data[document.body :].decode("utf-8", "replace")
    known = {page.name: page.document.data for page in folder.pages.values()}
    others = count_files([file for file in folder.files if file.name != main.name], known)
    return Tokens(sum(map(estimate, metadata)), estimate(body), others)


def check(main: Page, tokens: Tokens, settings: Settings) -> Iterator[Problem]:
    limits = settings.limits
    lines = line_count(main.document.data)
    if lines > limits["skill-size"]:
        message = f"{lines} lines, more than {limits['skill-size']}; move what is not always needed to files"
        yield Problem("SKL201", message, main.name, limits["skill-size"] + 1)
    if tokens.metadata > limits["metadata-tokens"]:
        message = (
            f"name and description cost about {tokens.metadata} tokens, over {limits['metadata-tokens']}"
        )
        line = main.block.line_of("description") if main.block else 1
        yield Problem("SKL206", message, main.name, line)
    if tokens.body > limits["body-tokens"]:
        message = f"the body costs about {tokens.body} tokens, over {limits['body-tokens']}"
        yield Problem("SKL207", message, main.name, 1 + newlines(main.document.data, 0, main.document.body))
