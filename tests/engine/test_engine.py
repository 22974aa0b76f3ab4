"""The engine: inventory, browsing, loading, rendering, turns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from skillc.engine import (
    DefaultSkillEngine,
    prepare_turn,
)
from skillc.engine.inventory import FLAT_BUDGET, MARKER, render_skill
from skillc.errors import InvalidOption, InvalidSkillId, SkillNotFound
from skillc.library.sources import SkillScope
from tests.support.cases import each
from tests.support.engines import IDS, engine
from tests.support.skills import document, run


def test_flat_inventory() -> None:
    """[LIB: Inventory mode (system prompt)] [D30] [D30a] the document's form; escaped; active ones marked."""
    skills = [document("a/one", description="Extract <b> & co"), document("two", description='Say "hi"')]
    assert run(engine(*skills).inventory_section(["two"])) == (
        "<available_skills>\n"
        '  <skill id="a/one">\n    <description>Extract &lt;b&gt; &amp; co</description>\n  </skill>\n'
        '  <skill id="two" active="true">\n    <description>Say "hi"</description>\n  </skill>\n'
        "</available_skills>"
    )


def test_collections_inventory() -> None:
    """[LIB: Inventory mode (system prompt)] [D26] [LIB: Renderer (spec-compliant XML)] over the threshold:
    the top level, and the root's; any order gives the same text.
    """
    text = run(engine(inventory_threshold=5).inventory_section(["formatting/markdown-output"]))
    assert text == (
        '<available_skills mode="collections">\n'
        '  <collection path="extraction" count="4">4 skills</collection>\n'
        '  <collection path="formatting" count="1">1 skills</collection>\n'
        '  <collection path="" count="1">1 skills</collection>\n'
        '  <skill id="formatting/markdown-output" active="true"/>\n'
        "\n  Use the browse_skills tool to list skills in a collection or search.\n"
        "  Use the load_skill tool or /collection/skill-name to activate a skill.\n"
        "</available_skills>"
    )
    forwards = [document(skill_id) for skill_id in IDS]
    assert run(engine(*forwards).inventory_section()) == run(engine(*reversed(forwards)).inventory_section())


def test_the_threshold() -> None:
    """[LIB: Configuration types] [D59] it is inclusive, zero means collections, and skills that come with
    skillc do not count.
    """
    assert "mode=" not in run(engine(inventory_threshold=6).inventory_section())
    assert 'mode="collections"' in run(engine(inventory_threshold=5).inventory_section())
    for skills in ([document("a/b")], [document("pdf")]):
        assert 'mode="collections"' in run(engine(*skills, inventory_threshold=0).inventory_section())
    git = document("git")
    builtin = replace(git, descriptor=replace(git.descriptor, scope=SkillScope.BUILTIN))
    text = run(engine(document("a/b"), document("a/c"), builtin, inventory_threshold=2).inventory_section())
    assert "mode=" not in text
    assert text.count("<skill id=") == 3
    text = run(engine(document("a/b"), document("a/c"), builtin, inventory_threshold=1).inventory_section())
    assert 'mode="collections"' in text


def test_budget_shortens_fairly_and_says_so() -> None:
    """[LIB: Inventory mode (system prompt)] every skill stays, descriptions lose the same."""
    skills = [document(f"s{n}", description="long words " * 30) for n in range(8)] + [
        document("t", description="short")
    ]
    text = run(engine(*skills, inventory_budget=1200).inventory_section())
    assert len(text) <= 1200
    assert all(f'id="s{n}"' in text for n in range(8))
    assert "<description>short</description>" in text
    assert "Descriptions are shortened" in text
    assert "find_skills names the skills for a task" in text
    assert run(engine(*skills).inventory_section()).count("…") == 0


@each("budget", [None, 2_000, 5_000])
def test_a_flat_library_without_collections(budget: int | None) -> None:
    """[D59] skills in the root are listed within the budget; the others are counted, and can be found."""
    skills = [document(f"skill-{n:04}", description="long words " * 30) for n in range(3_000)]
    text = run(engine(*skills, inventory_budget=budget).inventory_section(["skill-2999"]))
    assert len(text) <= (budget or FLAT_BUDGET)
    assert len(text) > (budget or FLAT_BUDGET) - 200
    assert "mode=" not in text
    count = text.count("<skill id=")
    assert count > 10
    assert f"{3_000 - count} more skills are not listed; the find_skills tool" in text
    assert '<skill id="skill-0000">' in text
    assert '<skill id="skill-2999" active="true">' in text


def pages(browser: DefaultSkillEngine, *words: str) -> list[dict[str, Any]]:
    """All answers, from the first to the last."""
    found = [run(browser.browse(*words))]
    while "next_cursor" in found[-1]:
        query = words[1] if len(words) > 1 else None
        found.append(run(browser.browse(words[0], query, found[-1]["next_cursor"])))
    return found


def test_browse_in_pages() -> None:
    """[D60] at most 50 entries, with how many follow, a cursor, and the way to search them."""
    ids = [*(f"pdf-{n:03}" for n in range(90)), *(f"c{n:03}/pdf-x" for n in range(70)), "a/b"]
    browser = engine(*(document(skill_id, description="long words " * 40) for skill_id in ids))
    found = pages(browser, "")
    assert [len(page["subcollections"]) + len(page["skills"]) for page in found] == [50, 50, 50, 11]
    assert [page.get("more") for page in found] == [111, 61, 11, None]
    assert "find_skills" in found[0]["note"]
    assert "note" not in found[-1]
    paths = [one["path"] for page in found for one in page["subcollections"]]
    assert paths == ["a", *(f"c{n:03}" for n in range(70))]
    assert [one["id"] for page in found for one in page["skills"]] == ids[:90]
    assert {len(one["description"]) for page in found for one in page["skills"]} == {200}
    matches = pages(browser, "", "pdf")
    assert [len(page["skills"]) for page in matches] == [50, 50, 50, 10]
    assert "subcollections" not in matches[0]


def test_browse_with_another_cursor() -> None:
    """[D60] a cursor that is of another list, or made up, is E100; one whose entry is gone is not."""
    ids = [f"{path}pdf-{n:03}" for path in ("", "c/") for n in range(60)]
    browser = engine(*map(document, ids))
    cursor = run(browser.browse())["next_cursor"]
    for path, query in (("c", None), ("", "pdf")):
        with pytest.raises(InvalidOption):
            run(browser.browse(path, query, cursor))
    for bad in ("", "x", "spdf-048", f"{cursor}x", "0" * 8 + ".spdf-048", "\ud800"):
        with pytest.raises(InvalidOption):
            run(browser.browse("", None, bad))
    fewer = engine(*(document(skill_id) for skill_id in ids if skill_id != "pdf-048"))
    assert run(fewer.browse("", None, cursor))["skills"][0]["id"] == "pdf-049"


def test_browse() -> None:
    """[LIB: browse_skills tool] direct skills and next-level collections only; search is global and wins."""
    root = run(engine().browse())
    assert root["type"] == "listing"
    assert root["path"] == ""
    assert [(c["path"], c["count"]) for c in root["subcollections"]] == [("extraction", 4), ("formatting", 1)]
    assert [s["id"] for s in root["skills"]] == ["pdf-processing"]
    medical = run(engine().browse("extraction/medical/"))
    assert [c["path"] for c in medical["subcollections"]] == ["extraction/medical/imaging"]
    assert [s["id"] for s in medical["skills"]] == ["extraction/medical/diagnosis"]
    found = run(engine().browse("formatting", "extractor"))
    assert (found["type"], found["query"]) == ("search", "extractor")
    assert [s["id"] for s in found["skills"]] == list(IDS[:2])
    empty = run(engine().browse("nowhere"))
    assert (empty["subcollections"], empty["skills"]) == ([], [])


def test_what_may_be_used() -> None:
    """[D30a] [D32] [LIB: SkillEngine trait (revised)] what needs a capability or is denied is not there;
    text that is no ID is E070.
    """
    skills = (document("plain"), document("shelly", "b", "d", "shell"))
    assert [str(s.id) for s in run(engine(*skills).list_skills())] == ["plain"]
    with pytest.raises(SkillNotFound, match="needs the capability 'shell'"):
        run(engine(*skills).load("shelly"))
    able = engine(*skills, capabilities=frozenset({"shell"}))
    assert run(able.load("shelly")).body == "b"
    limited = engine(allow=("extraction",), deny=("extraction/medical",))
    assert [str(s.id) for s in run(limited.list_skills())] == list(IDS[:2])
    assert [c.path for c in run(limited.collections())] == ["extraction"]
    for hidden in ("pdf-processing", "extraction/medical/diagnosis"):
        with pytest.raises(SkillNotFound):
            run(limited.load(hidden))
    for bad in ("", "../x", "A/b", "/a", "a//b", "x" * 65):
        with pytest.raises(InvalidSkillId):
            run(engine().load(bad))


@given(st.text(), st.integers(64, 400))
def test_a_block_is_always_closed_once_and_bounded(body: str, limit: int) -> None:
    """[D30] [LIB: Injection mode (per-turn / pre-load)] whatever the body holds."""
    block = render_skill(document("a/b", body + "</SKILL\t>" + body), limit)
    lines = block.split("\n")
    assert lines[0] == '<skill id="a/b">'
    assert lines[-1] == "</skill>"
    inside = block.removeprefix('<skill id="a/b">\n').removesuffix("\n</skill>")
    assert "</skill" not in inside.lower().replace("<\\/skill", "") or not any(
        inside.lower()[i + 7 :].lstrip().startswith(">")
        for i in range(len(inside))
        if inside.lower().startswith("</skill", i)
    )
    assert len(inside.encode("utf-8", "replace")) <= max(limit, len(MARKER))


def test_rendering() -> None:
    """[D30a] [D30] [LIB: SkillEngine trait (revised)] cut at a character, the marker on its own line;
    byte_size counts the block.
    """
    exact = render_skill(document("a", "x" * 100), 100)
    assert "[truncated]" not in exact
    cut = render_skill(document("a", "é" * 100), 100)
    assert cut == '<skill id="a">\n' + "é" * 44 + "\n[truncated]\n</skill>"
    resolved = run(engine().resolve_and_render(["pdf-processing", "formatting/markdown-output"]))
    assert [str(r.id) for r in resolved] == ["pdf-processing", "formatting/markdown-output"]
    assert resolved[0].rendered_body == '<skill id="pdf-processing">\nDo it.\n</skill>'
    assert resolved[0].byte_size == len(resolved[0].rendered_body)
    with pytest.raises(SkillNotFound):
        run(engine().resolve_and_render(["pdf-processing", "not/there"]))


@each(
    "message",
    [
        *("plain", " /pdf-processing x", "/Pdf x", "/a//b", "see /pdf-processing", "/", "//x"),
        "/pdf-processing: x",
    ],
)
def test_what_is_no_reference(message: str) -> None:
    """[LIB: Per-turn /skill-ref processing] only a leading slash and a canonical ID alone."""
    turn = run(prepare_turn(engine(), message))
    assert (turn.message, turn.events) == (message, ())


def test_references_beside_the_message() -> None:
    """[D31] several resolve one by one; those that fail do not stop the others; none and empty mean none."""
    turn = run(prepare_turn(engine(), "go", ["pdf-processing", "not/there", "pdf-processing"]))
    assert [type(event).__name__ for event in turn.events] == ["SkillsResolved", "SkillResolutionFailed"]
    assert turn.message.startswith('<skill id="pdf-processing">')
    assert turn.message.endswith("\n\ngo")
    empty: list[str] = []
    for nothing in (None, empty):
        assert run(prepare_turn(engine(), "go", nothing)).message == "go"
