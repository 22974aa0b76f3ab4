"""Links and images, their lines, and what they lead to."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

from hypothesis import given, strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from skillc.lint.links import split_target
from skillc.lint.page import find_links
from skillc.skills.document import parse
from tests.support.cases import each

COMMONMARK = MarkdownIt("commonmark")


def found(text: str) -> list[tuple[str, int]]:
    return [(link.target, link.line) for link in find_links(text.encode())]


@each(
    ("text", "links"),
    [
        ("[a](b.md)", [("b.md", 1)]),
        ("[a](b.md 'title') and [c](<d e.md>)", [("b.md", 1), ("d e.md", 1)]),
        ("[a](b.md#part)\n\ntext\n[c](d.md)", [("b.md#part", 1), ("d.md", 4)]),
        ("![alt](i.png)", [("i.png", 1)]),
        ("[![alt](i.png)](t.md)", [("t.md", 1), ("i.png", 1)]),
        ("[one]\n[two][one]\n[one][]\n\n[one]: t.md", [("t.md", 1), ("t.md", 2), ("t.md", 3)]),
        ("![one]\n\n[one]: i.png", [("i.png", 1)]),
        ("[unused]: t.md", []),
        ("[undefined] [a][b]", []),
        ("<https://example.com/x>", [("https://example.com/x", 1)]),
        ("https://example.com is no link in CommonMark", []),
        (
            "# [in a heading](h.md)\n> [in a quote](q.md)\n- [in a list](l.md)",
            [("h.md", 1), ("q.md", 2), ("l.md", 3)],
        ),
        ("*[in emphasis](e.md)*", [("e.md", 1)]),
        ("[a](b&amp;c.md) [d](e\\)f.md)", [("b&c.md", 1), ("e)f.md", 1)]),
        ("[a](a%20b.md)", [("a%20b.md", 1)]),
        ("[empty]()", [("", 1)]),
        ("[over\nlines](a.md) [b](b.md)\n[c](c.md)", [("a.md", 1), ("b.md", 2), ("c.md", 3)]),
        ("漢字 [é](ü.md)\n[ö](ä.md)", [("ü.md", 1), ("ä.md", 2)]),
        # in code and HTML there are none
        ("`[a](b.md)`", []),
        ("```\n[a](b.md)\n```\n", []),
        ("    [a](b.md)\n", []),
        ("<!-- [a](b.md) -->\n", []),
        ("<a href='b.md'>a</a>", []),
        ("\\[a](b.md)", []),
        ("", []),
    ],
)
def test_links(text: str, links: list[tuple[str, int]]) -> None:
    """[D6] inline, by reference, images and autolinks, as CommonMark has them, each with its line."""
    assert found(text) == links


@each("eol", ["\n", "\r\n", "\r"])
def test_lines(eol: str) -> None:
    """[D6] lines are the file's, with every line end, and below frontmatter."""
    text = "---\nname: é\ndescription: [no](link.md)\n---\n\n[a](a.md)\n\n    code\n\n![b](b.png)\n[c](c.md)"
    document = parse(text.replace("\n", eol).encode())
    links = find_links(document.data, document.body)
    assert [(link.target, link.line, link.image) for link in links] == [
        ("a.md", 6, False),
        ("b.png", 10, True),
        ("c.md", 11, False),
    ]


def peer(text: str) -> list[bool]:
    """Links (False) and images (True) that markdown-it-py finds."""

    def walk(tokens: list[Token]) -> list[bool]:
        kinds: list[bool] = []
        for token in tokens:
            if token.type in ("link_open", "image"):
                kinds.append(token.type == "image")
            kinds += walk(token.children or [])
        return kinds

    return walk(COMMONMARK.parse(text))


def test_commonmark_examples(commonmark_examples: list[str]) -> None:
    """[D6] on every example of the specification: the links and images that markdown-it-py finds."""
    for example in commonmark_examples:
        if "javascript:" not in example and "data:" not in example:  # those markdown-it-py refuses
            assert [link.image for link in find_links(example.encode())] == peer(example), example


@given(st.text(st.sampled_from("[]()<>!`\\ab:/#\n\r*_ "), max_size=40) | st.text())
def test_any_text(text: str) -> None:
    """[D6] no text makes it fail, and every link stands on a line of the document."""
    data = text.encode()
    for link in find_links(data):
        assert 1 <= link.line <= len(data.splitlines())
        split_target(link.target)


TARGETS = [
    *("forms.md", "./a/../b.md", "../outside.md", "/absolute.md", "forms.md#fill", "#fill", "#", ""),
    *("a%20b.md#c%20d", "100%25.md", "%E6%BC%A2.md", "漢.md", "a%23b.md#c", "%2e%2e/x", "bad%zz.md"),
    *("a.md?query#part", "1:2.md"),
]
AWAY = [
    *("https://example.com/", "HTTP://x", "mailto:a@example.com", "ftp://x/y", "//host/path", "data:,x"),
    *("file:///etc", "javascript:x", "tel:123", "http://[bad", "http://[::1", "http://a＠b／c"),
]


@given(st.text(st.sampled_from("ab:/?#%[]@.\\ \t2é\u2100"), max_size=12) | st.text())
def test_targets(text: str) -> None:
    """[D6] a file and an anchor, percent-encoding undone, as urllib splits it; else it leads out."""
    for target in (text, *TARGETS, *AWAY):
        try:
            parts = urlsplit(target)
            leads_out = bool(parts.scheme or parts.netloc)
        except ValueError:
            leads_out = True
        local = None if leads_out else (unquote(parts.path), unquote(parts.fragment))
        assert split_target(target) == local
    assert None not in map(split_target, TARGETS)
    assert {*map(split_target, AWAY)} == {None}


def test_mail_is_not_local() -> None:
    """[D6] an address in angle brackets is mail, not a file."""
    [link] = find_links(b"Write to <me@example.com>.")
    assert split_target(link.target) is None
