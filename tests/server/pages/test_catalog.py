"""Lists, searches and files: what is blocked, hidden, filtered and sorted, and the colours of code."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

from skillc.registry import Registry, open_registry
from skillc.server.pages.code_colours import colour_code, colour_lines, reveal_hidden
from tests.server.pages.conftest import Person
from tests.support.growth import grows_too_fast
from tests.support.pages import publish, publish_thief, use

BLOCKED = '<strong class="mark block">blocked</strong>'
LANGUAGES = ("python", "sh", "ts", "yaml", "json", "sql", "html", "diff")
HOSTILE = ("'", '"', "/*", "<!--", "${", "a.", "a:", "'''", "{", "\\", "\n")


def find(person: Person, query: str) -> list[str]:
    """Return the IDs of results, in their order."""
    page = person.get(f"/find?{query}").text
    return re.findall(r'<h2><a href="/s/([^"]+)">', page)


def test_blocked_skills(local_registry: Registry) -> None:
    """[SURFACES: Registry] blocked skills are marked at their name; hidden characters are named."""
    publish_thief(local_registry)
    person = Person(local_registry, public_read=True)
    for path in (
        "/",
        "/c/finance",
        "/find?q=prices+of+coins",
        "/s/finance/wallet-helper",
        "/diff/finance/wallet-helper",
    ):
        assert person.get(path).text.count(BLOCKED) == 1
    assert "The audit blocks this skill" in person.get("/files/finance/wallet-helper").text
    assert BLOCKED not in person.get("/s/payments/refunds").text
    description = "Pay\u200bments, and more."
    text = f"---\nname: x\ndescription: {description}\n---\n"
    publish(local_registry, "x", {"SKILL.md": text.encode(), "a.sh": "echo pass\u200bword\n".encode()})
    assert "U+E0073 and 8 more: send keys</span>" in person.get("/s/finance/wallet-helper").text
    for path in ("/", "/s/x", "/find?q=and+more", "/s/x@0.1.0/a.sh"):
        assert ">U+200B</span>" in person.get(path).text, path


def test_empty(tmp_path: Path) -> None:
    """[SURFACES: Registry] a registry without skills and without counts says what brings some in."""
    with open_registry(str(tmp_path / "registry.db")) as registry:
        person = Person(registry, public_read=True)
        home = person.get("/").text
        assert re.search(r"<code>skc publish ./my-skill --to http", home)
        assert 'href="/login' in home
        assert re.search(r"<code>skc sync --to http", person.get("/statistics").text)


def test_filters_and_order(local_registry: Registry) -> None:
    """[SURFACES: Registry] results are filtered by collection and tag, and sorted by use or time."""
    publish_thief(local_registry)
    person = Person(local_registry, public_read=True)
    both = find(person, "q=money")
    assert {"payments/refunds", "finance/wallet-helper"} <= set(both)
    assert find(person, "q=money&collection=finance") == ["finance/wallet-helper"]
    assert find(person, "q=money&tag=Money") == ["finance/wallet-helper"]
    assert find(person, "q=money&tag=nothing") == []
    assert "Search all skills" in person.get("/find?q=money&tag=nothing").text
    assert find(person, "q=money&sort=updated")[0] == "finance/wallet-helper"
    assert find(person, "q=money&sort=x") == both
    page = person.get("/find?q=money&collection=finance&sort=used").text
    assert 'href="/find?q=money&amp;sort=used" aria-current="true"' in page  # takes the filter away
    assert '<input type="hidden" name="collection" value="finance">' in page


def test_pages_of_results(local_registry: Registry) -> None:
    """[SURFACES: Registry] a search has pages; each result is on one, and a wrong one is the first."""
    for number in range(30):
        text = f"---\nname: x{number}\ndescription: Weave a basket, kind {number}\n---\n# Basket {number}\n"
        publish(local_registry, f"x{number}", {"SKILL.md": text.encode()})
    person = Person(local_registry, public_read=True)
    pages = [find(person, f"q=weave+a+basket&start={start}") for start in (0, 12, 24, 900, "x")]
    assert [len(page) for page in pages] == [12, 12, 6, 12, 12]
    assert len({*pages[0], *pages[1], *pages[2]}) == 30
    assert pages[3] == pages[4] == pages[0]
    assert "start=12" in person.get("/find?q=weave+a+basket").text


def test_use_as_order(local_registry: Registry) -> None:
    """[SURFACES: Registry] what agents used most comes first, where that is asked for."""
    use(local_registry)
    person = Person(local_registry, public_read=True)
    used = find(person, "q=write&sort=used")
    assert used[0] == "payments/refunds"
    assert used.index("engineering/incidents/postmortem") < used.index("payments/invoices")
    assert "34 uses" in person.get("/find?q=write&sort=used").text  # of payments/invoices
    assert "34 uses" not in person.get("/find?q=write").text


@pytest.mark.parametrize(
    ("code", "language", "parts"),
    [
        ("x = '# no' # yes", "python", ["c-string:'# no'", "c-comment:# yes"]),
        ('"""a\nb""" 1', "python", ['c-string:"""a\nb"""', "c-number:1"]),
        ("echo $HOME # x", "sh", ["c-word:echo", "c-name:$HOME", "c-comment:# x"]),
        ("a: 1\n- b: 'c'", "yaml", ["c-name:a", "c-number:1", "c-name:- b", "c-string:'c'"]),
        ('{"a": "b"}', "json", ['c-name:"a"', 'c-string:"b"']),
        ("SELECT 1 -- x", "sql", ["c-word:SELECT", "c-number:1", "c-comment:-- x"]),
        ("/* a */ let", "ts", ["c-comment:/* a */", "c-word:let"]),
        ("+ a\n- b", "diff", ["c-string:+ a", "c-number:- b"]),
        ("if 1", "no-such-language", []),
    ],
)
def test_colours(code: str, language: str, parts: list[str]) -> None:
    """[SURFACES: Registry] code has colours, and every character of it stays."""
    html = colour_code(code, language)
    assert [
        f"{kind}:{text}" for kind, text in re.findall(r'<span class="([^"]+)">([^<]*)</span>', html)
    ] == parts
    assert re.sub(r"</?span[^>]*>", "", html) == code


def test_lines() -> None:
    """[SURFACES: Registry] each line of a file is HTML of its own; without room for colours it has none."""
    lines = ["'''a", "b''' <1>"]
    assert all(line.count("<span") == line.count("</span>") for line in colour_lines(lines, "py", 1000))
    assert colour_lines(["1 < 2 " * 99], "py", 0) == ["1 &lt; 2 " * 99]


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_growth(language: str) -> None:
    """[SURFACES: Registry] hostile code takes no more than linear time, and so do hidden characters."""

    def colour(code: str) -> str:
        return colour_code(code, language)

    for piece in HOSTILE:
        assert not grows_too_fast(colour, partial(_repeat, piece))
    assert not grows_too_fast(reveal_hidden, partial(_repeat, "a\u200b"))


def _repeat(piece: str, size: int) -> str:
    return piece * (size // len(piece))
