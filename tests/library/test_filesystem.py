"""Skills in a folder: IDs, collections, quarantine, warm rescans."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from skillc.errors import Diagnostic, RepositoryUnavailable, SkillNotFound
from skillc.index import SETTLED_NS
from skillc.index.skills import skill_index
from skillc.library import find_skills
from skillc.library.sources import CompositeSkillSource, NamedSource
from skillc.library.sources.filesystem import FilesystemSkillSource
from skillc.library.sources.source import SkillCollection, SkillFilter, SkillScope
from skillc.skills import SkillId
from tests.conftest import World, save
from tests.support.skills import run, skill


def ids(source: FilesystemSkillSource, filter: SkillFilter = SkillFilter()) -> list[str]:
    return [str(found.id) for found in run(source.list(filter))]


def test_ids_from_directories(shelf: Path) -> None:
    """[LIB: Skill IDs] every depth, sorted; name and collection from the ID."""
    source = FilesystemSkillSource(shelf, SkillScope.USER)
    assert ids(source) == [
        *("extraction/email-extractor", "extraction/fiction-extractor", "extraction/medical/diagnosis"),
        *("extraction/medical/imaging/ct-scan", "formatting/markdown-output", "pdf-processing"),
    ]
    first = run(source.list())[0]
    assert (first.name, first.collection, first.description) == (
        "email-extractor",
        "extraction",
        "About email-extractor",
    )
    assert first.scope is SkillScope.USER
    assert first.source_name == ""


def test_filter_is_recursive_at_segments(shelf: Path) -> None:
    """[LIB: New types] a collection with all below it, never a part of a segment; words of a query."""
    skill(shelf, "extract/something")
    source = FilesystemSkillSource(shelf)
    assert ids(source, SkillFilter(collection="extraction/medical")) == [
        "extraction/medical/diagnosis",
        "extraction/medical/imaging/ct-scan",
    ]
    assert ids(source, SkillFilter(collection="extract")) == ["extract/something"]
    assert ids(source, SkillFilter(query="ABOUT scan")) == ["extraction/medical/imaging/ct-scan"]
    assert ids(source, SkillFilter(collection="nowhere")) == []


def test_collections_and_nested_folders(shelf: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """[D26] [LIB: Collection Derivation] [D25] every prefix with counts; a nested SKILL.md is a file;
    links are followed, loops end.
    """
    assert run(FilesystemSkillSource(shelf).collections()) == [
        SkillCollection("extraction", "Entity and relationship extraction", 4),
        SkillCollection("extraction/medical", "2 skills", 2),
        SkillCollection("extraction/medical/imaging", "1 skills", 1),
        SkillCollection("formatting", "1 skills", 1),
    ]
    skill(shelf, "pdf-processing/examples/nested")
    skill(shelf, ".hidden/secret")
    assert len(ids(FilesystemSkillSource(shelf))) == 6
    elsewhere = skill(tmp_path_factory.mktemp("elsewhere"), "linked")
    (shelf / "linked").symlink_to(elsewhere)
    (shelf / "extraction" / "loop").symlink_to(shelf)
    assert "linked" in ids(FilesystemSkillSource(shelf))


def test_names_and_roots(tmp_path: Path) -> None:
    """[D25] [D27] a directory is made a segment; a missing root holds nothing; one may be a skill."""
    skill(tmp_path, "My Tools/PDF_Helper v2")
    source = FilesystemSkillSource(tmp_path)
    assert ids(source) == ["my-tools/pdf-helper-v2"]
    told = run(source.diagnostics())
    assert [(d.code, d.severity) for d in told] == [("W021", "warning")]
    assert ids(FilesystemSkillSource(tmp_path / "nowhere")) == []
    with pytest.raises(RepositoryUnavailable):
        ids(FilesystemSkillSource(tmp_path / "nowhere", required=True))
    folder = skill(tmp_path, "only")
    assert ids(FilesystemSkillSource(folder)) == ["only"]


def test_quarantine(tmp_path: Path) -> None:
    """[D25] no description, too large, an ID twice: reported alone; strict: what breaks the format."""
    skill(tmp_path, "good")
    skill(tmp_path, "silent", "---\nname: silent\n---\n# S\n")
    skill(tmp_path, "huge", "---\nname: huge\ndescription: d\n---\n" + "x" * (1 << 20))
    skill(tmp_path, "Same Name")
    skill(tmp_path, "same-name")
    source = FilesystemSkillSource(tmp_path)
    assert ids(source) == ["good"]
    with pytest.raises(SkillNotFound):
        run(source.load(SkillId("same-name")))
    errors = [d for d in run(source.diagnostics()) if d.severity == "error"]
    assert sorted(d.code for d in errors) == ["E010", "E011", "E070", "E070"]
    assert run(source.snapshot()).quarantined == 4
    skill(tmp_path, "extra", "---\nname: extra\ndescription: d\nhomepage: x\n---\n")
    skill(tmp_path, "other", "---\nname: another\ndescription: d\n---\n")
    skill(tmp_path, "colon", "---\nname: colon\ndescription: a: b\n---\n")
    assert len(ids(FilesystemSkillSource(tmp_path))) == 4
    assert ids(FilesystemSkillSource(tmp_path, strict=True)) == ["good"]


def test_load(shelf: Path) -> None:
    """[LIB: SkillSource trait (revised)] the body without frontmatter, the other fields as extensions."""
    skill(
        shelf,
        "full",
        "---\nname: full\ndescription: d\nlicense: MIT\nrequires_capabilities: [shell, net]\n"
        "metadata:\n  author: me\n  count: 3\n---\n\n# Full\n",
    )
    document = run(FilesystemSkillSource(shelf).load(SkillId("full")))
    assert document.body == "# Full\n"
    assert document.extensions == {"license": "MIT"}
    assert document.descriptor.requires_capabilities == ("shell", "net")
    assert document.descriptor.metadata == {"author": "me", "count": "3"}
    with pytest.raises(SkillNotFound):
        run(FilesystemSkillSource(shelf).load(SkillId("not/there")))


def test_rescan_reads_only_what_changed(shelf: Path) -> None:
    """[LIB: Existing (updated)] an unchanged file is not read again; any change is seen."""
    source = FilesystemSkillSource(shelf)
    time.sleep(2 * SETTLED_NS / 1e9)  # what was written a moment ago is read once more
    before = run(source.snapshot())
    path = shelf / "pdf-processing" / "SKILL.md"
    again = run(source.snapshot())
    assert all(again.skills[k] is before.skills[k] for k in before.skills)
    path.write_text("---\nname: pdf-processing\ndescription: New words\n---\n")
    skill(shelf, "added")
    os.remove(shelf / "formatting" / "markdown-output" / "SKILL.md")
    after = {str(k): v.description for k, v in run(source.snapshot()).skills.items()}
    assert after["pdf-processing"] == "New words"
    assert "added" in after
    assert "formatting/markdown-output" not in after


# Folders that take longer than their time


def many(root: Path, count: int) -> Path:
    """A folder with many skills, which were there for a while."""
    for number in range(count):
        skill(root, f"group-{number % 7}/skill-{number}")
    for directory in (root, *root.iterdir()):
        os.utime(directory, (1, 1))
    return root


@pytest.mark.slow
@pytest.mark.parametrize("new_process", [False, True])
def test_partial_snapshot_goes_on(world: World, tmp_path: Path, new_process: bool) -> None:
    """[D27] at the end of its time a folder serves what was read, and the next call goes on from there."""
    folder = skill_index().folder(str(many(tmp_path / "many", 1200)), False)
    counts = []
    for _ in range(3):
        look = folder.snapshot(until=0)
        counts.append(len(look.skills))
        assert "in time" in look.partial
        if new_process:
            folder._snapshot = None  # all that is left is what the index has
    assert 0 < counts[0] < counts[1] < counts[2] < 1200
    whole = folder.snapshot()
    assert (len(whole.skills), whole.partial) == (1200, "")


@pytest.mark.slow
def test_partial_snapshot_keeps_what_it_had(world: World, tmp_path: Path) -> None:
    """[D27] a walk that ends early loses no skill of the last one."""
    folder = skill_index().folder(str(many(tmp_path / "many", 700)), False)
    before = set(folder.snapshot().skills)
    skill(tmp_path / "many", "zebra")
    assert before <= set(folder.snapshot(until=0).skills)
    assert set(folder.snapshot().skills) == before | {"zebra"}


@pytest.mark.slow
def test_time_out_of_a_large_folder(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D27] a repository whose time is too short for all its skills serves some and says so (W203)."""
    root = many(tmp_path / "many", 1200)
    library = CompositeSkillSource([NamedSource("big", FilesystemSkillSource(root))])
    with monkeypatch.context() as patch:
        patch.setattr("skillc.library.sources.composite.time.time", lambda: 0.0)  # the time was up long ago
        assert 0 < len(run(library.list())) < 1200
        (state,) = run(library.states())
        assert (state.status, 0 < state.skills < 1200) == ("partial", True)
        assert (state.error or "").startswith("served in part: ")
    assert [diagnostic.code for diagnostic in library.warnings()] == ["W203"]
    assert len(run(library.list())) == 1200
    assert library.warnings() == []
    assert run(library.states())[0].status == "ok"


@pytest.mark.parametrize("other_kinds", [False, True])
def test_time_out_of_find(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other_kinds: bool
) -> None:
    """[D27] find serves what it could index in time, says so (W203), and the next call goes on."""
    for number in range(30):
        text = f"---\ndescription: Stripe {number} of a zebra\n---\n# Zebra\n"
        skill(tmp_path / "many", f"skill-{number}", text)
    tables = [f'[[repositories]]\nname = "big"\ntype = "filesystem"\npath = "{tmp_path}/many"\n']
    if other_kinds:
        tables.append('[[repositories]]\nname = "down"\ntype = "http"\nurl = "http://127.0.0.1:9"\n')
    save(world.project / ".skillc" / "skills.toml", "".join(tables))
    warnings: list[Diagnostic] = []

    def find() -> int:
        warnings.clear()
        return len(find_skills(str(world.project), "zebra", 100, tell=warnings.append))

    with monkeypatch.context() as patch:
        patch.setattr("skillc.index.skills.folder.READ_SHARE", 0.0)
        counts = [find(), find(), find()]
        assert [w.message for w in warnings if w.code == "W203"] == [
            "repository 'big' is served in part: 3 of 30 skills were read in time;"
            " the next call goes on from there"
        ]
    assert counts == [1, 2, 3]
    assert find() == 30
    assert "W203" not in [warning.code for warning in warnings]


def test_walk_is_bounded(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D25] a walk ends at a number of names, and says so."""
    monkeypatch.setattr("skillc.index.skills.scan.MAX_ENTRIES", 20)
    source = FilesystemSkillSource(many(tmp_path / "many", 70))
    assert 0 < len(ids(source)) < 70
    assert "the rest was not looked at" in run(source.diagnostics())[0].message
