"""The commands for prompts: browse, load, inventory, turn, repo list, diagnose."""

from __future__ import annotations

import pytest

from tests.cli.calls import as_json, fails, ok
from tests.conftest import World
from tests.support.skills import skill


@pytest.fixture
def library(world: World) -> World:
    for path in ("extraction/email-extractor", "extraction/medical/diagnosis", "pdf-processing"):
        skill(world.store, path)
    return world


@pytest.mark.slow
def test_browse(library: World, world: World) -> None:
    """[LIB: browse_skills tool] [SURFACES: Library] what the tool returns; a query wins over a path.

    Where nothing is listed, `browse` says what to do; stdout says it as ever.
    """
    listing = as_json("browse", "extraction")
    assert (listing["type"], listing["path"]) == ("listing", "extraction")
    assert listing["subcollections"] == [
        {"path": "extraction/medical", "description": "1 skills", "count": 1}
    ]
    assert [s["id"] for s in listing["skills"]] == ["extraction/email-extractor"]
    assert listing["skills"][0]["source_name"] == "project"
    found = as_json("browse", "nowhere", "--query", "diagnosis")
    assert [s["id"] for s in found["skills"]] == ["extraction/medical/diagnosis"]
    assert ok("browse", "nowhere").stdout == "No skills.\n"
    assert "extraction/  (2)\n" in ok("browse").stdout
    result = ok("browse", "--query", "xyzzy plugh")
    assert result.stdout == "No skills.\n"
    hint = "'skc find \"xyzzy plugh\"' reads more"
    assert result.stderr == f"note: no name or description has these words; {hint}\n"
    (world.project / "none").mkdir()
    config = world.project / ".skillc" / "skills.toml"
    config.write_text("[[repositories]]\nname = 'here'\ntype = 'filesystem'\npath = 'none'\n")
    result = ok("browse", "--repository", "here")
    assert result.stdout == "No skills.\n"
    assert result.stderr == "note: the repository 'here' lists no skills; 'skc repo list' shows its state\n"


def test_diagnose_ends_in_a_total(world: World) -> None:
    """[D60] the last line counts errors and warnings."""
    assert ok("doctor", "--library").stdout == "Nothing to report.\n"
    (skill(world.store, "bad") / "SKILL.md").write_text("no frontmatter")
    line, total, advice = ok("doctor", "--library").stdout.splitlines()
    assert total.startswith(("1 error, 0 warnings (", "0 errors, 1 warning ("))
    code = total.partition("(1 ")[2].rstrip(")")
    assert f"[{code}]: project: " in line
    assert "skc lint <path>" in advice
    assert ok("doctor", "--library", "--code", code.lower()).stdout.splitlines()[0] == line
    other = ok("doctor", "--library", "--code", "W022").stdout
    assert other == "Nothing to report here; 1 without the filters.\n"


@pytest.mark.slow
def test_load_and_inventory(library: World) -> None:
    """[LIB: Injection mode (per-turn / pre-load)] [D30a] [SURFACES: Library]
    [LIB: Inventory mode (system prompt)] the block, E001 and E070; mode, XML, preloaded skills marked.
    """
    block = '<skill id="pdf-processing">\n# pdf-processing\n\nBody.\n</skill>'
    assert ok("load", "pdf-processing").stdout == block + "\n"
    fields = as_json("load", "pdf-processing")
    assert fields == {
        "id": "pdf-processing",
        "name": "pdf-processing",
        "body": block,
        "byte_size": len(block),
    }
    fails("E001", "load", "not/there")
    fails("E070", "load", "../etc")
    fields = as_json("inventory", "--preload", "pdf-processing")
    assert fields["mode"] == "flat"
    assert '<skill id="pdf-processing" active="true">' in fields["xml"]
    fails("E001", "inventory", "--preload", "not/there")
    (library.project / ".skillc" / "skills.toml").write_text("inventory_threshold = 2\n")
    assert 'mode="collections"' in ok("inventory").stdout


@pytest.mark.slow
def test_turn(library: World) -> None:
    """[D31] [LIB: Failure semantics] [SURFACES: Library] what a model would get, with events and notices."""
    turn = as_json("turn", "/pdf-processing go", "--ref", "not/there")
    assert turn["message"].endswith("</skill>\n\ngo")
    assert [event["type"] for event in turn["events"]] == ["SkillsResolved", "SkillResolutionFailed"]
    assert turn["events"][1] == {
        "type": "SkillResolutionFailed",
        "reference": "not/there",
        "error": "skill 'not/there' not found",
    }
    assert turn["notices"] == ["skill 'not/there' not found"]
    preloaded = as_json("turn", "go", "--preload", "pdf-processing")
    assert preloaded["system"].endswith("</skill>")
    assert preloaded["message"] == "go"
    fails("E001", "turn", "go", "--preload", "not/there")


def test_repo_list_and_diagnose(library: World) -> None:
    """[D27] [D25] [SURFACES: Library] each repository's state, and what was quarantined or shadowed.

    What fails is told, also where nothing can be listed.
    """
    skill(library.store, "silent", "# no frontmatter\n")
    skill(library.global_store, "pdf-processing")
    states = {r["name"]: r for r in as_json("repo", "list")["repositories"]}
    assert states["project"] == {
        "name": "project",
        "type": "filesystem",
        "status": "ok",
        "skills": 3,
        "quarantined": 1,
        "shadowed": 0,
        "error": None,
    }
    assert (states["user"]["skills"], states["user"]["shadowed"]) == (0, 1)
    assert states["user-rkat"]["status"] == "unused"
    told = as_json("doctor", "--library")["diagnostics"]
    assert [(d["source_name"], d["code"], d["severity"]) for d in told] == [
        ("project", "E011", "error"),
        ("user", "W022", "warning"),
    ]
    fails("E100", "repo", "frobnicate")
    (library.project / ".skillc" / "skills.toml").write_text(
        '[[repositories]]\nname="gone"\ntype="filesystem"\npath="nowhere"\nrequired=true\n'
    )
    fails("E200", "browse")
    told = as_json("doctor", "--library")["diagnostics"]
    assert [(d["source_name"], d["code"]) for d in told] == [("gone", "E200")]
    states = as_json("repo", "list")["repositories"]
    assert (states[0]["name"], states[0]["status"]) == ("gone", "unavailable")
