"""`skc stats --html`: one page that stands alone."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, strategies as st

from skillc.library import resolve
from skillc.usage import Filters, Stats, find_unread, render_page
from skillc.usage.log import INSERT
from skillc.usage.stats import Period
from tests.conftest import World
from tests.support.cases import each
from tests.support.examples import examples

VOID = {"meta", "br", "hr", "img", "link", "input"}
HOSTILE = [
    *("<script>alert(1)</script>", "</style><script>alert(2)</script>", '" onmouseover="alert(3)" x=\''),
    *("&lt;b&gt; & &amp; <b>", "<!-- comment --> <![CDATA[ x ]]> ]]>", "مرحبا بالعالم"),
    *("\u202eright to left\u2066", "nul \0 escape \x1b[31m line\nbreak"),
    "W" * 5000,
    "\ud800 half a pair",
    "https://example.org/x.js",
]


class Page(HTMLParser):
    """Reads a page and checks that what is opened is closed, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs)
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("style", "script"):
            self.text.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(data)

    def seen(self) -> str:
        return " ".join(" ".join(self.text).split())


def check(text: str) -> Page:
    """A page that nests, loads nothing, runs nothing, and whose texts are texts."""
    page = Page(text)
    assert text.startswith('<!doctype html>\n<html lang="en">')
    names = {tag for tag, _ in page.tags}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "form", "base", "a"}
    allowed = {"lang", "charset", "name", "content", "class", "style", "dir", "open"}
    allowed |= {"viewbox", "preserveaspectratio", "role", "aria-label", "x", "y", "width", "height", "d"}
    for _, attributes in page.tags:
        assert attributes.keys() <= allowed
        assert "url" not in (attributes.get("style") or "")
    styles = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    assert len(styles) == 1
    assert not re.search(r"url\(|@import|http|//", styles[0])
    text.encode()
    return page


def stats(query: str, data: Any, filters: Filters = Filters()) -> Stats:  # noqa: B008 -- immutable
    period = Period("2026-03-01T00:00:00Z", "2026-03-09T00:00:00Z")
    return Stats("pdf", "/x", query, filters, period, data)


def answers(texts: list[str], filters: Filters = Filters()) -> dict[str, Stats]:  # noqa: B008 -- immutable
    counts = [(text, len(texts) - number) for number, text in enumerate(texts)]
    data: dict[str, Any] = {
        "summary": {"total_accesses": 1234, "unique_sections": 5, "unique_files": 2, "error_count": 3},
        "sections": [{"section": text, "file": text, "count": n} for text, n in counts],
        "files": [{"file": text, "count": n} for text, n in counts],
        "commands": dict(counts),
        "projects": [{"project": text, "count": n} for text, n in counts],
        "errors": [{"target": text, "command": text, "error": text, "count": n} for text, n in counts],
        "search": [{"query": text, "count": n, "results": n - 1, "empty": n > 1} for text, n in counts],
    }
    return {group: stats(group, value, filters) for group, value in data.items()}


def clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def test_the_page(world: World) -> None:
    """[RFC-0003] sections, files, searches, errors, and the unread sections, in one file."""
    folder = world.skill(
        "pdf", "---\nname: pdf\ndescription: d\n---\n# PDF\n\n## Forms\n\n## Dead end\n\n### Deeper\n"
    )
    (folder / "a.md").write_text("# Opened\n\n## Inside\n")
    (folder / "b.md").write_text("# Never\n")
    world.ok("build", "pdf")
    world.ok("show", "pdf", "--section", "forms")
    world.ok("open", "pdf", "./a.md")
    world.ok("search", "pdf", "needle")
    world.fails("E020", "show", "pdf", "--section", "Missing")
    result = world.ok("stats", "pdf", "--html", "out.html")
    assert result.stdout == f"Wrote {world.project / 'out.html'}\n"
    seen = check((world.project / "out.html").read_text()).seen()
    assert seen.startswith("Usage of pdf skills Usage of pdf 20")
    for words in (
        "4 accesses 1 sections read",
        "Sections Forms SKILL.md 1",
        "Searches that found nothing needle no results 1",
        "Searches needle no results 1",
        "Errors Missing section not found: 'Missing' 1",
        f"Projects {world.project} 4",
        "Unread sections 3 No part of these was shown, and their files were not opened."
        " SKILL.md 2 Dead end Deeper b.md 1 Never",
    ):
        assert words in seen, words
    logged = [json.loads(args) for (args,) in _args(world)]
    assert logged[-1] == {"html": "out.html"}


def _args(world: World) -> list[tuple[str]]:
    with closing(sqlite3.connect(world.runtime / "pdf" / ".skillc-meta" / "logs.db")) as connection:
        return connection.execute("SELECT args FROM access_log ORDER BY id").fetchall()


def test_all_skills(world: World) -> None:
    """[RFC-0003] of all skills: how much each is used, and whose sections are unread, most of them first.

    A page without an access is a page; one skill's Usage says nothing about another's.
    """
    path = world.root / "all.html"

    def page() -> Page:
        assert world.json("stats", "--html", str(path))["path"] == str(path)
        return check(path.read_text())

    empty = page()
    for text in ("No accesses yet", "Nothing yet No agent has used this so far.", "skc doctor"):
        assert text in empty.seen()
    assert "rect" not in {tag for tag, _ in empty.tags}
    for name in ("one", "two"):
        world.skill(name, "---\nname: x\ndescription: d\n---\n# Same\n\n## Usage\n")
    world.skill("two", store=world.global_store)
    broken = world.skill("broken")
    (broken / "leads-out.md").symlink_to("/etc/hostname")
    for name in ("one", "two"):
        world.ok("build", name)
    world.ok("show", "one", "--section", "Usage")
    seen = page().seen()
    for text in (
        "Usage of all skills",
        "Skills one 1",
        "two (project) 2 SKILL.md 2 Same Usage",
        "two (global) 2 SKILL.md 2 two Usage",
        "Sections Usage one SKILL.md 1",
    ):
        assert text in seen
    for number in range(13):
        world.skill(f"s{number:02}", "---\nname: x\ndescription: d\n---\n# A\n" + "\n## B\n" * number)
    page()
    unread = path.read_text().partition("<h2>Unread sections")[2]
    visible, more, rest = unread.partition(" more skills</summary>")
    assert more
    assert visible.index("<bdi>s12</bdi>") < visible.index("<bdi>s04</bdi>")
    assert "<bdi>s00</bdi>" in rest


@pytest.mark.slow
def test_filters_are_told() -> None:
    """[RFC-0003] what a page leaves out, it says: filters, and rows that would be too much."""
    found = Filters.parse("/", "2026-03-01", "2026-04-01", ["/a<b>", "/c"])
    seen = check(render_page("x", answers(["a"], found), [], {})).seen()
    assert "only accesses since 2026-03-01T00:00:00Z, until 2026-04-01T00:00:00Z, in /a<b> or /c" in seen
    page = check(render_page("x", answers([f"Section {n}" for n in range(600)]), [], {}))
    assert "588 more" in page.seen()
    assert "and 100 more" in page.seen()
    assert "Section 499" in page.seen()
    assert "Section 500" not in page.seen()
    dead = {"x": {f"{n}.md": [(1, f"Heading {n}")] for n in range(501)}}
    folded = check(render_page("x", answers(["a"]), [], dead))
    assert [attributes for tag, attributes in folded.tags if tag == "details"] == [{}] * 501


@pytest.mark.slow
@each("text", HOSTILE)
def test_hostile_text(text: str) -> None:
    """[RFC-0003] whatever agents and authors wrote is shown as text, cut where it has no end."""
    hostile = {text: {text: [(1, text), (3, text)]}, "other": {text: [(1, text)]}}
    given = answers([text])
    given["summary"] = replace(given["summary"], by_skill=[(text, 1)])
    page = check(clean(render_page(text, given, [("2026-03-01", 1)] * 2, hostile)))
    harmless = "".join(c if c.isprintable() else " " for c in clean(text)[:200])
    assert " ".join(harmless.split()) in page.seen()
    assert all(c.isprintable() or c.isspace() for c in page.seen())
    assert len(page.seen()) < 9000


@pytest.mark.slow
@examples(60)
@given(st.lists(st.text(max_size=20), max_size=4), st.text(max_size=20))
def test_any_text(texts: list[str], title: str) -> None:
    """[RFC-0003] any text at all."""
    dead = {text: {text: [(1, text)]} for text in texts}
    check(clean(render_page(title, answers(list(dict.fromkeys(texts))), [], dead)))


def test_hostile_skill(world: World) -> None:
    """[RFC-0003] the same through a skill and its log."""
    evil = "<script>alert(1)</script>"
    folder = world.skill("pdf", "---\nname: pdf\ndescription: d\n---\n# `<script>alert(1)</script>`\n")
    (folder / "<img src=x onerror=y>.md").write_text("# ok\n")
    world.ok("outline", "pdf")
    with closing(sqlite3.connect(world.runtime / "pdf" / ".skillc-meta" / "logs.db")) as connection:
        for text in (evil, '"><svg onload=x>'):
            args = json.dumps({"section": text, "file": text, "query": text, "path": text})
            for command, error in (("show", None), ("open", None), ("search", None), ("open", text)):
                row = ("2026-03-01T00:00:00Z", "r", command, "pdf", "x", text, args, error)
                connection.execute(INSERT, row)
        connection.commit()
    world.ok("stats", "pdf", "--html", "page.html")
    page = check((world.project / "page.html").read_text())
    assert page.seen().count(evil) >= 6
    assert "<img src=x onerror=y>.md" in page.seen()


@each(
    ("days", "title", "columns"), [(2, "day", 2), (100, "day", 100), (101, "week", 15), (3000, "month", 99)]
)
def test_over_time(days: int, title: str, columns: int) -> None:
    """[RFC-0003] accesses by day, by week or by month, as fits; days without any have their room."""
    from datetime import date, timedelta

    every = [((date(2020, 1, 1) + timedelta(days=n)).isoformat(), n % 5) for n in range(days)]
    page = check(render_page("x", answers([]), every, {}))
    (_, drawing) = [attributes for tag, attributes in page.tags if tag == "svg"]  # behind the sign
    assert drawing["viewbox"] == f"0 0 {columns} 100"
    assert f"Accesses by {title}" in page.seen()
    for tag, attributes in page.tags:
        if tag == "rect":
            assert 0 <= float(attributes["x"] or -1) < columns
            assert 99.8 <= float(attributes["y"] or 0) + float(attributes["height"] or 0) <= 100.2


def test_unread() -> None:
    """[RFC-0003] a section is read with the one around it, and in part with each one in it."""
    headings = [
        ("a.md", 1, "Top"),
        ("a.md", 2, "Shown"),
        ("a.md", 3, "Inside"),
        ("a.md", 2, "Dead"),
        ("a.md", 4, "Dead too"),
        ("a.md", 2, "Half"),
        ("a.md", 3, "Part"),
        ("a.md", 3, "Other part"),
        ("b.md", 2, "Shown"),
        ("c d/ü.md", 1, "Opened"),
    ]
    shown = {("Shown", "a.md"), ("Part", "a.md"), ("Gone", "a.md")}
    assert find_unread(headings, shown, {"./c d/ü.md", "nothing"}) == {
        "a.md": [(2, "Dead"), (4, "Dead too"), (3, "Other part")],
        "b.md": [(2, "Shown")],
    }
    assert find_unread(headings, {("Top", "a.md"), ("Shown", "b.md")}, {"c d/ü.md"}) == {}
    assert find_unread([], shown, set()) == {}


def test_where_it_is_written(world: World) -> None:
    """[D11] [RFC-0005] over an old page, whole or not at all; not into what is no file."""
    world.skill("pdf")
    page = world.root / "p" / "ä b.html"
    world.fails("E100", "stats", "pdf", "--html", str(page))
    page.parent.mkdir()
    page.write_text("old")
    world.ok("stats", "pdf", "--html", str(page))
    check(page.read_text())
    assert [path.name for path in page.parent.iterdir()] == ["ä b.html"]
    world.fails("E999", "stats", "pdf", "--html", str(page.parent))
    world.fails("E030", "stats", "pdf", "--html", "x.html", "--group-by", "nonsense")
    world.fails("E031", "stats", "pdf", "--html", "x.html", "--since", "nonsense")
    assert not (world.project / "x.html").exists()
    assert resolve("pdf", str(world.project)).name == "pdf"
