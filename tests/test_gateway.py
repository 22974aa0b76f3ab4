"""Reading a skill: outline, show and search."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillc.compiler import build
from skillc.errors import EmptyQuery, SectionNotFound
from skillc.gateway import outline, search, show
from skillc.library import Skill, resolve
from tests.conftest import World

SKILL = """\
---
name: pdf
description: d
---
# PDF

## Forms

Fill them.

### Fields

Names.

#### Kinds
##### Deeper
###### Deepest

## Größe — Maße

Metric.

## forms

Again.
"""


@pytest.fixture
def skill(world: World) -> Skill:
    folder = world.skill("pdf", SKILL)
    (folder / "references").mkdir()
    (folder / "references" / "api.md").write_text("# API\r\n\r\n## Forms\r\n\r\nOther file.\r\n", newline="")
    (folder / "B.md").write_text("# B\n")
    found = resolve("pdf", str(world.project))
    build(found)
    return found


def test_outline_text(world: World, skill: Skill) -> None:
    """[RFC-0002:C-OUTLINE] [D14] files bytewise, indentation by level, no blank lines."""
    assert world.ok("outline", "pdf").stdout == (
        "B.md\n  # B\n"
        "SKILL.md\n  # PDF\n  ## Forms\n    ### Fields\n      #### Kinds\n        ##### Deeper\n"
        "          ###### Deepest\n  ## Größe — Maße\n  ## forms\n"
        "references/api.md\n  # API\n  ## Forms\n"
    )


def test_outline_level_and_json(world: World, skill: Skill) -> None:
    """[RFC-0002:C-OUTLINE] [D14] [D21] only levels up to n; the JSON form."""
    entries = json.loads(world.ok("outline", "pdf", "--level", "1", "--format", "json").stdout)
    assert entries == [
        {"file": "B.md", "level": 1, "heading": "B", "line": 1},
        {"file": "SKILL.md", "level": 1, "heading": "PDF", "line": 5},
        {"file": "references/api.md", "level": 1, "heading": "API", "line": 1},
    ]
    for bad in ("0", "7", "x", "-1"):
        world.fails("E100", "outline", "pdf", "--level", bad)


def test_outline_needs_no_build(world: World) -> None:
    """[RFC-0002:C-OUTLINE] it reads the sources."""
    world.skill("fresh")
    assert [entry.heading for entry in outline(resolve("fresh", str(world.project)))] == ["fresh", "Usage"]


def test_show_goes_to_the_next_heading_of_its_level(skill: Skill) -> None:
    """[RFC-0002:C-SHOW] [D15] subsections included; line ends are the source's."""
    assert (
        show(skill, "Fields").text == b"### Fields\n\nNames.\n\n#### Kinds\n##### Deeper\n###### Deepest\n\n"
    )
    assert show(skill, "api").text == b"# API\r\n\r\n## Forms\r\n\r\nOther file.\r\n"


def test_show_several_matches(world: World, skill: Skill) -> None:
    """[RFC-0002:C-SHOW] [D16] the first in outline order, a warning, status 0; --file narrows."""
    result = world.ok("show", "pdf", "--section", "FORMS")
    assert result.stdout.startswith("## Forms\n\nFill them.")
    assert result.stderr == 'warning: multiple matches for "FORMS"; showing first\n'
    narrowed = world.ok("show", "pdf", "--section", "forms", "--file", "references/api.md")
    assert "Other file." in narrowed.stdout
    assert narrowed.stderr == ""


def test_show_case_and_dashes(skill: Skill) -> None:
    """[D15] [D17] Unicode's case; a heading with a dash, and one copied with its description."""
    assert show(skill, "GRÖSSE — MASSE").heading == "Größe — Maße"
    assert show(skill, "  API — the description of a stub  ").heading == "API"


def test_show_suggests(world: World, skill: Skill) -> None:
    """[RFC-0002:C-SHOW] prefix first, then substring, at most five; E020."""
    stderr = world.fails("E020", "show", "pdf", "--section", "f").stderr
    assert stderr.startswith(
        "error[E020]: section not found: 'f'\n\nDid you mean one of these?\n  - Forms (SKILL.md)\n"
    )
    assert stderr.count("  - ") <= 5
    with pytest.raises(SectionNotFound) as caught:
        show(skill, "nothing like it")
    assert caught.value.details == ""


def test_show_max_lines(world: World, skill: Skill) -> None:
    """[RFC-0002:C-SHOW] [D21] the first n lines and how many were left out."""
    assert (
        world.ok("show", "pdf", "--section", "Fields", "--max-lines", "2").stdout
        == "### Fields\n\n... (6 more lines)\n"
    )
    assert "more lines" not in world.ok("show", "pdf", "--section", "Fields", "--max-lines", "8").stdout
    world.fails("E100", "show", "pdf", "--section", "Fields", "--max-lines", "0")
    world.fails("E100", "show", "pdf")


def test_show_never_the_wrong_lines(skill: Skill) -> None:
    """[D18] an edit after the build: the file is read anew; new headings are found, gone ones are not."""
    path = Path(skill.source, "SKILL.md")
    path.write_text(
        "moved\n\n"
        + SKILL.split("---\n", 2)[2].replace("### Fields", "### Other")
        + "\n## Brand new\n\nNow.\n"
    )
    assert show(skill, "Kinds").text.startswith(b"#### Kinds\n")
    assert show(skill, "brand new").text == b"## Brand new\n\nNow.\n"
    with pytest.raises(SectionNotFound):
        show(skill, "Fields")
    added = Path(skill.source, "added.md")
    added.write_text("# Added later\n")
    assert show(skill, "added later").file == "added.md"
    added.unlink()
    path.unlink()
    with pytest.raises(SectionNotFound):
        show(skill, "Kinds")


def test_show_after_an_edit_with_the_old_time(skill: Skill) -> None:
    """[D18] same size, same modification time, other bytes."""
    path = Path(skill.source, "B.md")
    status = path.stat()
    path.write_text("# C\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(SectionNotFound):
        show(skill, "B")
    assert show(skill, "C").line == 1


def test_search_json(world: World, skill: Skill) -> None:
    """[RFC-0004:C-SEARCH] the JSON form; BM25 scores are positive, best first; snippets are marked."""
    found = json.loads(world.ok("search", "pdf", "fill", "--format", "json").stdout)
    assert found["query"] == "fill"
    assert [(r["file"], r["section"]) for r in found["results"]] == [
        ("SKILL.md", "Forms"),
        ("SKILL.md", "PDF"),
    ]
    assert "[MATCH]Fill[/MATCH] them" in found["results"][0]["snippet"]
    scores = [r["score"] for r in found["results"]]
    assert scores == sorted(scores, reverse=True)
    assert (
        json.loads(world.ok("search", "pdf", "fill", "--limit", "1", "--format", "json").stdout)["results"]
        == found["results"][:1]
    )


def test_search_needs_all_words(skill: Skill) -> None:
    """[RFC-0004:C-QUERY-SYNTAX] implicit AND, any order, stemmed, punctuation stripped."""
    assert search(skill, "them filling").results
    assert search(skill, "(fill),").results
    assert search(skill, "fill zebra").results == []
    assert search(skill, "---").results == []


def test_search_errors(world: World, skill: Skill) -> None:
    """[RFC-0004:C-ERRORS] empty query E004, unknown skill E001, no index E002, extra words E100."""
    for query in ("", " \t\n"):
        world.fails("E004", "search", "pdf", query)
    world.fails("E001", "search", "nowhere", "x")
    world.skill("fresh")
    stderr = world.fails("E002", "search", "fresh", "x").stderr
    assert stderr == "error[E002]: search index unusable; run 'skc build fresh' to rebuild\n"
    world.fails("E100", "search", "pdf", "two", "words")
    world.fails("E100", "search", "pdf")


@given(st.text())
def test_any_query(skill: Skill, query: str) -> None:
    """[D22] no text whatever makes a search fail, but for the empty one."""
    try:
        search(skill, query)
    except EmptyQuery:
        assert not query.strip(" \t\r\n")
