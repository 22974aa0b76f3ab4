"""Skills of repositories by canonical ID in every command that works on a folder."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from skillc.errors import InvalidSkill, SkillNotFound
from skillc.library import at_path, locate_skill
from skillc.library.skill_cache import write_copy
from skillc.library.sources.source import SkillDescriptor, SkillDocument
from skillc.skills import SkillId
from skillc.skills.document import parse, read_metadata
from tests.conftest import World
from tests.support.cases import each
from tests.support.git import Origin

REFUNDS = """---
name: refunds
description: "How refunds work: who may give one"
---
# Refunds

## Limits

Up to 100 without asking.
"""


@pytest.fixture
def origin(world: World) -> Origin:
    """A company's repository with one skill in a collection, configured for the project."""
    made = Origin(world.root)
    made.make()
    made.write("skills/billing/refunds/SKILL.md", REFUNDS)
    made.write("skills/billing/refunds/references/law.md", "# Law\n\n## Europe\n\nFourteen days.\n")
    made.push()
    configure(world, made)
    return made


def configure(world: World, origin: Origin, **more: object) -> None:
    lines = [
        "[[repositories]]",
        'name = "company"',
        'type = "git"',
        f'url = "file://{origin.bare}"',
        'skills_root = "skills"',
        *(f"{key} = {json.dumps(value)}" for key, value in more.items()),
    ]
    (world.project / ".skillc" / "skills.toml").write_text("\n".join(lines))


@pytest.mark.slow
def test_commands_work_on_a_skill_of_a_git_repository(world: World, origin: Origin) -> None:
    """[LIB: remote skills as local folders] reading commands, statistics under its ID, lint that does not
    write its copy, and a stub that says the ID.
    """
    shown = world.ok("show", "billing/refunds", "--section", "Limits")
    assert shown.stdout == "## Limits\n\nUp to 100 without asking.\n"
    assert "Europe" in world.ok("outline", "billing/refunds").stdout
    assert world.ok("open", "billing/refunds", "references/law.md").stdout.endswith("Fourteen days.\n")
    listed = world.ok("sources", "billing/refunds").stdout
    assert listed.startswith("billing/refunds")
    assert ".origin" not in listed
    found = world.json("search", "billing/refunds", "days")
    assert ("references/law.md", "Europe") in [(r["file"], r["section"]) for r in found["results"]]
    told = world.json("stats", "billing/refunds", "--group-by", "sections")
    assert told["skill"] == "billing/refunds"
    assert [row["section"] for row in told["data"]] == ["Limits"]
    report = json.loads(world.skc("lint", "billing/refunds", "--format", "json").stdout)
    assert report["skills"][0]["skill"] == "billing/refunds"
    assert not [f for f in report["skills"][0]["findings"] if "folder" in f["message"]]
    assert "fix it there" in world.fails("E100", "lint", "billing/refunds", "--fix").stderr
    built = world.json("build", "billing/refunds", "--target", "cursor")
    assert built["skill"] == "billing/refunds"
    assert built["runtime_path"] == str(world.home / ".skillc/runtime/billing+refunds")
    stub = (world.home / ".cursor/skills/refunds/SKILL.md").read_text()
    assert read_metadata(parse(stub.encode()), "").name == "refunds"
    assert 'skc show billing/refunds --section "<heading>"' in stub
    assert "Compiled by skillc from the repository 'company'." in stub
    found = world.json("search", "billing/refunds", "fourteen")
    assert ("references/law.md", "Europe") in [(r["file"], r["section"]) for r in found["results"]]
    missed = world.fails("E001", "show", "refunds", "--section", "Limits")  # an ID is whole
    assert missed.stderr.endswith("not found\nhint: did you mean 'billing/refunds'?\n")


@pytest.mark.slow
def test_a_new_commit_is_followed_in_the_same_folder(world: World, origin: Origin) -> None:
    """[LIB: remote skills as local folders] [D12] What was built stays, and is brought up to date."""
    configure(world, origin, refresh_seconds=0)
    first = world.json("build", "billing/refunds")
    origin.write("skills/billing/refunds/SKILL.md", REFUNDS.replace("100", "250"))
    origin.git("rm", "-q", "-r", "skills/billing/refunds/references")
    origin.push()
    assert "Law" not in world.ok("outline", "billing/refunds").stdout
    second = world.json("build", "billing/refunds")
    assert (second["status"], second["source_path"]) == ("unchanged", first["source_path"])
    assert second["source_hash"] != first["source_hash"]  # reading it brought the index up to date
    assert "250" in world.ok("show", "billing/refunds", "--section", "Limits").stdout
    origin.write("skills/billing/refunds/SKILL.md", REFUNDS.replace("100", "1000"))
    origin.push()
    found = world.ok("search", "billing/refunds", "1000")  # no build by hand, and no W004
    assert "#Limits" in found.stdout
    assert not found.stderr
    world.fails("E021", "open", "billing/refunds", "references/law.md")


@pytest.mark.slow
def test_the_copy_serves_when_the_repository_is_gone(world: World, origin: Origin) -> None:
    """[LIB: remote skills as local folders] Also when the checkout is gone, which serves first [D29]."""
    world.ok("outline", "billing/refunds")
    shutil.rmtree(origin.bare)
    shutil.rmtree(world.home / ".skillc/cache/repositories")
    shutil.rmtree(world.home / ".skillc/cache/skills/recent")  # as if a minute had passed
    shown = world.ok("show", "billing/refunds", "--section", "Limits")
    assert "Up to 100" in shown.stdout
    assert shown.stderr.startswith("warning[W201]: repository 'company' could not be refreshed")
    assert shown.stderr.count("\n") == 1
    world.fails("E200", "show", "billing/other", "--section", "Limits")


@pytest.mark.slow
def test_fallback_logs_of_an_id_are_moved_to_its_log(world: World, origin: Origin) -> None:
    """[LIB: remote skills as local folders] A name with a slash is one folder among the logs, too."""
    world.ok("outline", "billing/refunds")
    shutil.rmtree(world.home / ".skillc/runtime")
    (world.home / ".skillc/runtime").write_text("in the way")
    world.ok("open", "billing/refunds", "SKILL.md")
    (world.home / ".skillc/runtime").unlink()
    assert "1" in world.ok("sync").stdout
    told = world.json("stats", "billing/refunds", "--group-by", "commands")
    assert told["data"] == {"open": 1}


def test_a_skill_in_a_collection_of_a_store_needs_no_repository(world: World) -> None:
    """[LIB: remote skills as local folders] [D25]"""
    folder = world.skill("extraction/email")
    world.skill("extraction/email/examples/inner")
    found = locate_skill("extraction/email", str(world.project))
    assert (found.source, found.scope, found.segment) == (str(folder), "project", "email")
    assert at_path(str(folder)).name == "extraction/email"
    with pytest.raises(SkillNotFound):
        locate_skill("extraction/email/examples/inner", str(world.project))
    built = world.json("build", "extraction/email")
    assert built["runtime_path"] == str(world.runtime / "extraction+email")
    assert "Usage" in world.ok("show", str(folder), "--section", "usage").stdout


@each("name", ["../x", "/etc", "a//b", "A/b", "", "a\0b", "x" * 5000, "billing/../refunds"])
def test_what_is_no_id_is_not_looked_for_in_repositories(world: World, name: str) -> None:
    """[D30a]"""
    with pytest.raises((SkillNotFound, InvalidSkill)):
        locate_skill(name, str(world.project))


def test_a_document_without_a_folder_reads_back_equal(world: World) -> None:
    """[LIB: remote skills as local folders] A skill of an HTTP server is a SKILL.md."""
    descriptor = SkillDescriptor(
        SkillId("a/b"),
        description='with: "all"\nsorts\u2028of 😀 text\x07',
        requires_capabilities=("shell",),
        metadata={"k: v": "- x"},
    )
    told = {"license": "MIT", "nested": {"a": [1, None, True, "yes"]}, "odd key": 1.5}
    document = SkillDocument(descriptor, "# Body\n\n---\ntext\n", told)
    path = write_copy(str(world.root / "copies" / "a+b"), "server", document, None)
    bare = SkillDocument(SkillDescriptor(SkillId("a/c"), description="d"), "# Body\n")
    plain = write_copy(str(world.root / "copies" / "a+c"), "server", bare, None)
    assert (Path(plain) / "SKILL.md").read_text() == '---\nname: "c"\ndescription: "d"\n---\n\n# Body\n'
    read = parse((Path(path) / "SKILL.md").read_bytes())
    found = read_metadata(read, "b")
    assert not read.diagnostics
    assert found.description == descriptor.description
    assert found.fields["metadata"] == descriptor.metadata
    assert found.fields["requires_capabilities"] == ["shell"]
    assert {key: found.fields[key] for key in told} == told
    assert read.data[read.body :].decode().lstrip("\n") == document.body


@pytest.mark.slow
def test_a_second_question_does_not_wake_the_library(world: World, origin: Origin) -> None:
    """[D13a] [LIB: remote skills as local folders] for a moment the copy is enough, for one skills.toml; a
    skill of the store comes first.
    """
    world.ok("outline", "billing/refunds")
    code = (
        "import sys; from skillc.library import locate_skill\n"
        f"skill = locate_skill('billing/refunds', {str(world.project)!r})\n"
        "print(skill.is_recent, skill.repository, 'asyncio' in sys.modules, 'dulwich' in sys.modules)"
    )
    run = [sys.executable, "-c", code]
    printed = subprocess.run(run, env=world.env, capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["True", "company", "False", "False"]
    assert "Up to 100" in world.ok("show", "billing/refunds", "--section", "Limits").stdout
    assert "#Limits" in world.ok("search", "billing/refunds", "asking").stdout
    (world.project / ".skillc" / "skills.toml").write_text("")
    world.fails("E001", "outline", "billing/refunds")
    world.skill("billing/refunds", "---\nname: refunds\ndescription: d\n---\n# Ours\n")
    assert "Ours" in world.ok("outline", "billing/refunds").stdout


@pytest.mark.slow
def test_sync_renews_what_every_command_reads(world: World, origin: Origin) -> None:
    """[D29] after `repo sync`, `show`, `open`, `search` and `outline` have what `load` has."""
    assert "100" in world.ok("show", "billing/refunds", "--section", "Limits").stdout
    origin.write("skills/billing/refunds/SKILL.md", REFUNDS.replace("100", "250"))
    origin.write("skills/billing/refunds/new.md", "# News\n")
    origin.push()
    world.ok("repo", "sync")
    for words in (("load",), ("show", "--section", "Limits"), ("search", "250")):
        assert "250" in world.ok(words[0], "billing/refunds", *words[1:]).stdout
    assert world.ok("open", "billing/refunds", "new.md").stdout == "# News\n"
    assert "# News" in world.ok("outline", "billing/refunds").stdout
