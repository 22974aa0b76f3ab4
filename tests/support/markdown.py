"""Headings by markdown-it-py, and lines to build documents from."""

from __future__ import annotations

from markdown_it import MarkdownIt
from markdown_it.token import Token

Row = tuple[int, str, int]  # level, text, line


COMMONMARK = MarkdownIt("commonmark")


def peer(text: str) -> list[Row]:
    """What markdown-it-py finds."""
    tokens = COMMONMARK.parse(text)
    return [
        (int(token.tag[1]), plain(tokens[at + 1].children or []).strip(), token.map[0] + 1)
        for at, token in enumerate(tokens)
        if token.type == "heading_open" and token.map
    ]


INSTEAD = {"softbreak": " ", "hardbreak": " ", "html_inline": ""}


def plain(tokens: list[Token]) -> str:
    return "".join(
        INSTEAD.get(token.type, plain(token.children) if token.children else token.content)
        for token in tokens
    )


def section_ends(found: list[Row], lines: int) -> list[int]:
    """Where each section ends, one heading after the other."""
    return [
        next((line for level, _, line in found[at + 1 :] if level <= found[at][0]), lines + 1)
        for at in range(len(found))
    ]


LINES = [
    *("# One", "## `Two` *x*", "### [Three](u) ###", "#Four", "#", "####### Seven", "Text", "===", "---"),
    *("", "", ""),
]


LINES += [
    *("- item", "  - # in a list", "1. ## in a list", "> # quoted", "> text", "> ===", "    # code", "```"),
    "~~~",
]


LINES += [
    *("<div>", "</div>", "\\# no", "a # b", "![alt *x*](i.png)", "  ## indented", "<b>Bold</b> text"),
    "* * *",
]
