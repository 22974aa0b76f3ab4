"""Headings and their sections, held against markdown-it-py and a count by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from skillc.skills import Heading, find_headings
from skillc.skills.document import parse
from tests.support.cases import each
from tests.support.deadline import ends
from tests.support.markdown import LINES, Row, peer, section_ends


def rows(text: str) -> list[Row]:
    return [(heading.level, heading.text, heading.line) for heading in find_headings(text.encode())]


def spans(text: str) -> list[tuple[int, int]]:
    return [(heading.line, heading.end_line) for heading in find_headings(text.encode())]


# Against the specification and its other reader


def test_commonmark_examples(commonmark_examples: list[str]) -> None:
    """[D6] [D15] every example of the specification: as markdown-it-py, and with the ends of a count."""
    assert len(commonmark_examples) > 600
    assert sum(len(peer(example)) for example in commonmark_examples) > 50
    for example in commonmark_examples:
        assert rows(example) == peer(example), example
    for example in [*commonmark_examples, "\n\n".join(commonmark_examples)]:
        ends = [end for _, end in spans(example)]
        assert ends == section_ends(rows(example), len(example.encode().splitlines())), example


@pytest.mark.parametrize("eol", ["\r\n", "\r"])
def test_commonmark_line_ends(commonmark_examples: list[str], eol: str) -> None:
    """[D6] CRLF and CR end a line as LF does."""
    for example in commonmark_examples:
        other = example.replace("\n", eol)
        assert (rows(other), spans(other)) == (rows(example), spans(example)), example


@given(st.lists(st.sampled_from(LINES), max_size=15))
def test_any_lines(lines: list[str]) -> None:
    """[D6] on any pile of such lines too, markdown-it-py finds the same."""
    text = "\n".join(lines) + "\n"
    assert rows(text) == peer(text)


# By hand


@each(
    ("source", "text"),
    [
        ("# Plain", "Plain"),
        ("# Closed ##", "Closed"),
        ("# Not closed#", "Not closed#"),
        ("# Escaped \\#", "Escaped #"),
        ("#   Spaces   inside   ", "Spaces   inside"),
        ("#\tTab", "Tab"),
        ("#", ""),
        ("# #", ""),
        ("# `code` span", "code span"),
        ("# ``a ` b``", "a ` b"),
        ("# `*kept*`", "*kept*"),
        ("# *Emphasis* and **strong** and _both_", "Emphasis and strong and both"),
        ("# snake_case * 2", "snake_case * 2"),
        ("# [label](target.md 'title') after", "label after"),
        ("# [*label* `x`](t)", "label x"),
        ("# [ref]\n\n[ref]: t.md", "ref"),
        ("# [no ref]", "[no ref]"),
        ("# ![alt *text*](image.png)", "alt text"),
        ("# [![alt](i.png)](t)", "alt"),
        ("# <https://example.com>", "https://example.com"),
        ("# <b>bold</b> <br/> text <!-- no -->", "bold  text"),
        ("# &amp; &copy; &#35;", "& © #"),
        ("# 漢字 🚀 é", "漢字 🚀 é"),
        ("# a\\\\b", "a\\b"),
        ("# a\0b", "a\ufffdb"),
        ("# ~~not struck~~ $x$ {#id}", "~~not struck~~ $x$ {#id}"),
        ("Setext\n===", "Setext"),
        ("Over\nthree  \nlines\n===", "Over three lines"),
        ("`a\nb` c\n---", "a b c"),
    ],
)
def test_text(source: str, text: str) -> None:
    """[D6] the text is the heading's plain text: no marks, no HTML, no closing hashes."""
    assert [heading.text for heading in find_headings(source.encode())] == [text]


@each(
    "source",
    [
        *("# a\n## b\n### c\n#### d\n##### e\n###### f\n####### g\n", "One\n===\nTwo\n---\n", "> # quoted\n"),
        *("> Quoted\n> ===\n", "> > - ## deep\n", "- # item\n  ## second\n", "1. Item\n   ---\n"),
        *("> ```\n> # fenced in a quote\n\n# after it\n", "<!--\n# comment\n\n# still\n-->\n# after\n"),
    ],
)
def test_where(source: str) -> None:
    """[D6] ATX and setext, also inside block quotes and lists."""
    assert rows(source) == peer(source) != []


@each(
    "source",
    [
        *("#hashtag\n", "\\# escaped\n", "    # indented code\n", "```\n# fenced\n```\n", "===\n", "", "\n"),
        *("~~~ md\n# fenced\n===\n~~~\n", "```\n# never closed\n", "- ```\n  # fenced in a list\n  ```\n"),
        *("<div>\n# html\n</div>\n", "<pre>\n\n# pre\n</pre>\n", "<h1>html</h1>\n", "- a\n---\n"),
        *("| a | b |\n|---|---|\n| c | d |\n", "Text\n\n---\n"),
    ],
)
def test_where_not(source: str) -> None:
    """[D6] none in code, HTML or tables, nor of thematic breaks."""
    assert rows(source) == []


@each(
    ("source", "found"),
    [
        ("# a", [(1, 2)]),
        ("Text\n# a\nText\n## b\nText\n# c\n", [(2, 6), (4, 6), (6, 7)]),
        ("# a\n### b\n## c\n### d\n", [(1, 5), (2, 3), (3, 5), (4, 5)]),
        ("Over\nlines\n===\nText\nNext\n---\n\n", [(1, 8), (4, 8)]),
        ("> # a\n> text\n\n- ## b\n", [(1, 5), (4, 5)]),
    ],
)
def test_sections(source: str, found: list[tuple[int, int]]) -> None:
    """[D15] a section ends before the next heading of its level or a higher one, the last at EOF+1."""
    assert spans(source) == found


@each("eol", ["\n", "\r\n", "\r"])
@each("mark", [b"", b"\xef\xbb\xbf"])
def test_frontmatter_counts(eol: str, mark: bytes) -> None:
    """[D15] lines are the file's, whatever stands above: frontmatter, wide characters, a BOM."""
    text = "---\nname: 漢字\ndescription: é\n# a comment\n---\n\n# One\n\n## Two\n".replace("\n", eol)
    document = parse(mark + text.encode())
    found = document.headings()
    assert [(h.level, h.text, h.line, h.end_line) for h in found] == [(1, "One", 7, 10), (2, "Two", 9, 10)]
    assert document.data[found[1].start : found[1].end].decode() == f"## Two{eol}"


# Any text


def check_sections(data: bytes, found: list[Heading]) -> None:
    lines = data.splitlines(keepends=True)
    for heading in found:
        assert 1 <= heading.line < heading.end_line <= len(lines) + 1
        assert b"".join(lines[heading.line - 1 : heading.end_line - 1]) == data[heading.start : heading.end]


PIECES = [
    *("# ", "## ", "#", "\n", "\n", "\r\n", "\r", "===", "---", "- ", "> ", "    ", "`", "```", "*"),
    *("[a](b)", "<b>", "<!--", "<div>", "\t", "text", "é", "漢", "\x00", "\u2028", "\x85", "\x0b"),
    *("\x0c", "\\", "[r]: u"),
]
pieces = st.lists(st.sampled_from(PIECES), max_size=40).map("".join)


@given(pieces | st.text())
def test_any_text(text: str) -> None:
    """[D15] the bytes of a section are those of its lines, and its end is where a count by hand puts it."""
    data = text.encode()
    found = find_headings(data)
    check_sections(data, found)
    rows_found = [(heading.level, heading.text, heading.line) for heading in found]
    assert [heading.end_line for heading in found] == section_ends(rows_found, len(data.splitlines()))
    assert sorted({heading.line for heading in found}) == [heading.line for heading in found]
    assert all(heading.text == heading.text.strip() and "\n" not in heading.text for heading in found)


@given(pieces)
def test_any_text_below_frontmatter(text: str) -> None:
    """[D15] frontmatter moves every section by its lines, and changes nothing else."""
    head = b"---\nname: a\ndescription: b\n---\n"
    alone, below = find_headings(text.encode()), find_headings(head + text.encode(), len(head))
    check_sections(head + text.encode(), below)
    assert [(h.level, h.text, h.line + 4, h.end_line + 4) for h in alone] == [
        (h.level, h.text, h.line, h.end_line) for h in below
    ]


@pytest.mark.slow
@each("eol", [b"\n", b"\r\n"])
def test_time_grows_with_size(eol: bytes) -> None:
    """[D12] a large document costs in proportion to its size: 5 MB with 20,000 headings."""
    data = (b"# Heading" + eol + b"text " * 50 + eol) * 20_000
    with ends():
        assert len(find_headings(data)) == 20_000
