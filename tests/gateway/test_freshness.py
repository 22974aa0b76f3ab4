"""Reading sources that changed since the build: never the wrong lines [D18]."""

from __future__ import annotations

import json
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from skillc.compiler.build import build_skill
from skillc.errors import FileNotFound, PathEscapes, SectionNotFound
from skillc.gateway import freshness, has_changes, read_outline, render_outline, show, show_section
from skillc.index import SETTLED_NS
from skillc.index.sections import open_index
from skillc.library import Skill
from skillc.skills import SourceFile
from tests.conftest import World, save
from tests.gateway.conftest import SKILL, Run, code, made
from tests.support.deadline import ends
from tests.support.examples import examples

BODY = SKILL.split("---\n", 2)[2]


def settle() -> None:
    """Wait until the index will trust the times of files written now."""
    time.sleep(2 * SETTLED_NS / 1e9)


@pytest.fixture
def settled(world: World) -> Skill:
    """A skill whose files were old enough when it was built, so that their times are trusted."""
    skill = made(world, "pdf", {"SKILL.md": SKILL, "a.md": "# A\n\ntext\n", "b/c.md": "# C\n"}, built=False)
    settle()
    build_skill(skill)
    return skill


def lines_of(skill: Skill, heading: str, **options: str) -> str:
    return show_section(skill, heading, **options).text.decode()  # type: ignore[arg-type]


def agree(skill: Skill) -> None:
    """Every heading of the outline can be shown, with its own lines."""
    entries = read_outline(skill)
    for entry in entries:
        alike = [
            e for e in entries if e.file == entry.file and e.heading.casefold() == entry.heading.casefold()
        ]
        shown = show_section(skill, entry.heading, file=entry.file)
        assert (shown.file, shown.line) == (alike[0].file, alike[0].line)
        assert shown.ambiguous is (len(alike) > 1)
        source = Path(skill.source, entry.file).read_bytes().splitlines(keepends=True)
        following = [
            e.line for e in entries if e.file == shown.file and e.line > shown.line and e.level <= shown.level
        ]
        end = following[0] - 1 if following else len(source)
        assert shown.text == b"".join(source[shown.line - 1 : end])


# Edits


def test_edited(settled: Skill) -> None:
    """[D18] text above a section moves it, headings come and go, frontmatter is changed, line ends too."""
    main, other = Path(settled.source, "SKILL.md"), Path(settled.source, "a.md")
    save(main, "moved\n\nand moved\n\n" + BODY)
    assert lines_of(settled, "fields").startswith("### Fields\n\nNames.")
    agree(settled)
    for eol in ("\r\n", "\r", "\n"):
        save(main, SKILL.replace("\n", eol))
        fields = "### Fields\n\nNames.\n\n#### Kinds\n##### Deeper\n###### Deepest\n\n"
        assert lines_of(settled, "fields") == fields.replace("\n", eol)
        agree(settled)
    for front in ("---\nname: x\n---\n", "---\nname: x\n", "---\n: [\n---\n", ""):
        save(other, f"{front}\n# A\n\ntext\n")
        agree(settled)
    save(other, "# New\n\ntext\n\n## Newer\n")
    assert lines_of(settled, "newer") == "## Newer\n"
    with pytest.raises(SectionNotFound):
        show_section(settled, "a")
    agree(settled)


def test_same_size_and_time(settled: Skill) -> None:
    """[D18] other bytes under the same size and modification time, written in place and renamed."""
    path = Path(settled.source, "a.md")
    writes: list[Callable[[Path, str], object]] = [Path.write_text, save]
    for number, write in enumerate(writes):
        status = path.stat()
        write(path, f"# {number}\n\ntext\n")
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        assert path.stat().st_size == status.st_size
        assert path.stat().st_mtime_ns == status.st_mtime_ns
        assert lines_of(settled, str(number)) == f"# {number}\n\ntext\n"
        with pytest.raises(SectionNotFound):
            show_section(settled, "a")
        assert has_changes(settled)
        agree(settled)


def test_touched(settled: Skill, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D18] new times, or another file, and the same bytes: still what was indexed, by its hash."""
    monkeypatch.setattr(freshness, "parse_headings", None)  # nothing is parsed
    main, other = Path(settled.source, "SKILL.md"), Path(settled.source, "a.md")
    os.utime(main)
    os.utime(other)
    assert lines_of(settled, "a") == "# A\n\ntext\n"
    save(other, other.read_bytes())
    assert lines_of(settled, "a") == "# A\n\ntext\n"
    assert not has_changes(settled)


# Files


def test_files_that_come_and_go(settled: Skill) -> None:
    """[D18] files that are renamed, swapped, added, no Markdown any more, or removed."""
    Path(settled.source, "a.md").rename(Path(settled.source, "z.md"))
    assert show_section(settled, "a").file == "z.md"
    assert not show_section(settled, "a").ambiguous
    with pytest.raises(FileNotFound):
        show_section(settled, "a", file="a.md")
    agree(settled)
    assert has_changes(settled)

    Path(settled.source, "z.md").rename(Path(settled.source, "a.md"))
    a, c, other = (Path(settled.source, name) for name in ("a.md", "b/c.md", "tmp"))
    a.rename(other)
    c.rename(a)
    other.rename(c)
    assert (show_section(settled, "a").file, show_section(settled, "c").file) == ("b/c.md", "a.md")
    agree(settled)
    a.rename(other)
    c.rename(a)
    other.rename(c)
    assert not has_changes(settled)

    Path(settled.source, "new").mkdir()
    save(Path(settled.source, "new", "n.md"), "# N\n")
    Path(settled.source, "link.md").symlink_to("new/n.md")
    assert show_section(settled, "n").file == "link.md"
    assert show_section(settled, "n").ambiguous
    assert show_section(settled, "n", file="new/n.md").line == 1
    assert has_changes(settled)

    path = Path(settled.source, "a.md")
    path.rename(path.with_suffix(".txt"))
    with pytest.raises(SectionNotFound):
        show_section(settled, "a")
    path.mkdir()
    with pytest.raises(SectionNotFound) as caught:
        show_section(settled, "a")
    assert "a.md" not in caught.value.details
    assert lines_of(settled, "c") == "# C\n"

    Path(settled.source, "b", "c.md").unlink()
    Path(settled.source, "b").rmdir()
    with pytest.raises(SectionNotFound):
        show_section(settled, "c")
    assert has_changes(settled)


# Several matches, and none


def test_ambiguous_in_changed_files(run: Run, settled: Skill) -> None:
    """[D16] [D18] the first in outline order and whether there are others are as the files are now."""
    assert not show_section(settled, "a").ambiguous
    save(Path(settled.source, "b/c.md"), "# C\n\n# a\n")  # after a.md
    assert (show_section(settled, "a").file, show_section(settled, "a").ambiguous) == ("a.md", True)
    save(Path(settled.source, "0.md"), "# a\n")  # before it
    ran = run("show", "pdf", "--section", "A", "--format", "json")
    assert json.loads(ran.out)["file"] == "0.md"
    assert ran.err == "warning[W001]: multiple matches for 'A'; showing first\n"
    save(Path(settled.source, "0.md"), "# other\n")
    save(Path(settled.source, "a.md"), "# other\n")
    assert (show_section(settled, "a").file, show_section(settled, "a").ambiguous) == ("b/c.md", False)


def test_headings_of_changed_files(settled: Skill) -> None:
    """[D15] [D16] [D18] [RFC-0002:C-SHOW] the first one of the file as it is, the exact heading first;
    suggestions are of the files as they are.
    """
    save(Path(settled.source, "a.md"), "intro\n\n# A\n\nfirst\n\n# A\n\nsecond\n")
    shown = show_section(settled, "a")
    assert (shown.text, shown.line, shown.ambiguous) == (b"# A\n\nfirst\n\n", 3, True)
    save(Path(settled.source, "a.md"), "# Big\n")
    assert show_section(settled, "big — small").heading == "Big"
    save(Path(settled.source, "b/c.md"), "# Big — Small\n")
    assert show_section(settled, "big — small").heading == "Big — Small"
    save(Path(settled.source, "b/c.md"), "# Settings of C\n")
    save(Path(settled.source, "0.md"), "# The settings\n")
    with pytest.raises(SectionNotFound) as caught:
        show_section(settled, "setting")
    assert caught.value.details.splitlines()[2:] == ["  - Settings of C (b/c.md)", "  - The settings (0.md)"]
    save(Path(settled.source, "b/c.md"), "# Other\n")
    with pytest.raises(SectionNotFound) as caught:
        show_section(settled, "setting")
    assert caught.value.details.splitlines()[2:] == ["  - The settings (0.md)"]


# While it reads


Swap = Callable[[Path], None]


def edit_after_look_up(monkeypatch: pytest.MonkeyPatch, edit: Callable[[], object]) -> None:
    """Edit the sources whenever headings were looked up, before their lines are read."""
    find = show._Headings.find

    def find_and_edit(self: show._Headings, query: str) -> list[freshness.Heading]:
        headings = find(self, query)
        edit()
        return headings

    monkeypatch.setattr(show._Headings, "find", find_and_edit)


@pytest.mark.parametrize(
    ("swap", "expected"),
    [
        (lambda path: save(path, "moved\n\n# A\n\nother\n"), b"# A\n\nother\n"),
        (lambda path: path.write_text("moved\n\n# A\n\nother\n"), b"# A\n\nother\n"),
        (lambda path: save(path, "# B\n\n# A\n\nlast\n"), b"# A\n\nlast\n"),
        (lambda path: save(path, "nothing\n"), None),
        (lambda path: path.unlink(), None),
        (lambda path: os.utime(path), b"# A\n\ntext\n"),
    ],
)
@pytest.mark.parametrize("edited", [False, True])
def test_edited_between_index_and_file(
    settled: Skill, monkeypatch: pytest.MonkeyPatch, swap: Swap, expected: bytes | None, edited: bool
) -> None:
    """[D18] an edit after the heading was looked up and before its lines are read."""
    path = Path(settled.source, "a.md")
    if edited:
        save(path, "# A\n\ntext\n\n# More\n")
    edit_after_look_up(monkeypatch, lambda: swap(path))
    if expected is None:
        with pytest.raises(SectionNotFound):
            show_section(settled, "a")
    else:
        assert show_section(settled, "a").text == expected + (
            b"\n" if edited and expected.endswith(b"text\n") else b""
        )


def test_written_while_it_is_read(settled: Skill, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D18] a file that is written in place during the read is taken for what was read."""
    path = Path(settled.source, "a.md")
    stamp = freshness._stamp
    calls = []

    def write_after_the_first(descriptor: int) -> tuple[int, int, int]:
        calls.append(descriptor)
        found = stamp(descriptor)
        if len(calls) == 1:
            path.write_text("moved\n\n# A\n\nother\n")
        return found

    monkeypatch.setattr(freshness, "_stamp", write_after_the_first)
    assert show_section(settled, "a").text == b"# A\n\nother\n"


def test_the_next_match_is_taken(settled: Skill, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D18] where the first match vanishes on the way, the second is shown."""
    save(Path(settled.source, "b/c.md"), "# A\n\nsecond\n")
    edit_after_look_up(monkeypatch, lambda: Path(settled.source, "a.md").unlink(missing_ok=True))
    assert show_section(settled, "a").text == b"# A\n\nsecond\n"


# Search


def test_search_answers_from_the_index(run: Run, settled: Skill) -> None:
    """[D18] on changed sources: the old results, and one line on stderr that says so."""
    path = Path(settled.source, "a.md")
    changes: list[Callable[[], object]] = [
        lambda: save(path, "# Names\n"),
        path.unlink,
        lambda: save(Path(settled.source, "new.png"), b"\x89"),
    ]
    for change in changes:
        before = run("search", "pdf", "names")
        assert before.err == ""
        change()
        after = run("search", "pdf", "names")
        assert (after.status, after.out) == (0, before.out)
        assert after.err == (
            "warning[W004]: the sources of 'pdf' changed since it was built;"
            " run 'skc build pdf' to search them\n"
        )
        build_skill(settled)


def test_metadata_stays_strict(world: World, run: Run, settled: Skill) -> None:
    """[RFC-0002:C-ERRORS] [D18] a link that leaves is no file; a manifest of another build is E002 in any
    case.
    """
    Path(settled.source, "out").symlink_to(world.root)
    ran = run("search", "pdf", "names")
    assert (ran.status, ran.err[:14]) == (0, "")
    assert ran.out.startswith("SKILL.md#")
    manifest = Path(settled.runtime(), ".skillc", "manifest.json")
    manifest.write_text("{}")
    assert code(run("show", "pdf", "--section", "a")) == "E002"
    assert code(run("search", "pdf", "text")) == "E002"
    assert run("outline", "pdf").status == 0


# Any edits

TEXTS = [
    *("# A\n\none\n", "# A\n\ntwo\n", "# B\n\none\n", "x\n\n# A\n\none\n", "# A\r\n\r\none\r\n"),
    *("# A\n# A\n", "", "a\n=\n"),
]
edits = st.lists(
    st.tuples(
        st.sampled_from(["0.md", "SKILL.md", "a.md", "d/e.md"]),
        st.sampled_from([*TEXTS, None]),
        st.booleans(),
        st.booleans(),
    ),
    max_size=6,
)


@pytest.mark.slow
@examples(80)
@given(st.dictionaries(st.sampled_from(["0.md", "a.md", "d/e.md"]), st.sampled_from(TEXTS)), edits)
@example({"a.md": TEXTS[0]}, [("a.md", TEXTS[number % 3], True, number % 4 == 0) for number in range(1, 12)])
def test_any_edits(
    world: World, files: dict[str, str], changes: list[tuple[str, str | None, bool, bool]]
) -> None:
    """[D18] after any edits, removals and builds, show and outline agree with each other and the files."""
    folder = world.skill("any")
    for path in folder.rglob("*.md"):
        path.unlink()
    skill = made(world, "any", dict(files))
    for name, text, in_place, built in changes:
        path = Path(skill.source, name)
        status = path.stat() if path.exists() else None
        path.parent.mkdir(exist_ok=True)
        if text is None and name != "SKILL.md":
            path.unlink(missing_ok=True)
        elif name != "SKILL.md":
            path.write_text(text or "") if in_place else save(path, text or "")
            if status is not None:
                os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        if built:
            build_skill(skill)
        agree(skill)


@pytest.fixture
def large(world: World, monkeypatch: pytest.MonkeyPatch) -> Skill:
    """A skill with more files than are asked one by one, which was built at once."""
    monkeypatch.setattr(freshness, "EXACT", 3)
    monkeypatch.setattr("skillc.compiler.build.EXACT", 3)
    files = {f"part{n}/doc{n}.md": f"# Title {n}\n\nwords {n}\n\n## Same\n\nsame {n}\n" for n in range(6)}
    return made(world, "large", {"SKILL.md": SKILL, **files})


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The folders that were listed whole."""
    roots: list[str] = []
    listing = freshness.list_files

    def count(root: str) -> list[SourceFile]:
        roots.append(root)
        return listing(root)

    monkeypatch.setattr(freshness, "list_files", count)
    return roots


def test_the_text_of_a_large_outline(large: Skill, walks: list[str], run: Run) -> None:
    """[RFC-0002:C-OUTLINE] [D18] a build keeps it ready; it is what the files say, also after edits."""
    settle()
    build_skill(large)
    walks.clear()
    first = run("outline", "large").out
    assert not walks
    assert "part0/doc0.md\n  # Title 0\n  ## Same\npart1/doc1.md\n" in first
    assert first == "\n".join([*render_outline(read_outline(large)), ""])
    save(Path(large.source, "part1", "doc1.md"), "# Title 1\n\n## &#27;[31m\n")  # no directory tells
    edited = first.replace("# Title 1\n  ## Same", "# Title 1\n  ## \\x1b[31m")
    assert run("outline", "large").out == edited != first
    assert walks
    Path(large.source, "part0", "doc0.md").unlink()
    save(Path(large.source, "part2", "doc2.md"), "nothing\n")
    less = edited.replace("part0/doc0.md\n  # Title 0\n  ## Same\n", "")
    assert run("outline", "large").out == less.replace("part2/doc2.md\n  # Title 2\n  ## Same\n", "")


def test_a_large_outline_asks_each_file_once(
    large: Skill, walks: list[str], run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[D14] [D18] [D72] one question for each file below its open directory, and one text from the index."""
    settle()
    build_skill(large)
    walks.clear()
    asked: list[bytes] = []
    stat = os.stat

    def count(path: Any, **options: Any) -> os.stat_result:
        if "dir_fd" in options:
            asked.append(path)
        return stat(path, **options)

    monkeypatch.setattr(os, "stat", count)
    lines = run("outline", "large").out.splitlines()
    assert sorted(asked) == [b"SKILL.md", *(b"doc%d.md" % n for n in range(6))]
    assert len(lines) == len(read_outline(large)) + 7
    assert not walks


def test_an_outline_whose_lists_are_damaged(large: Skill, walks: list[str], run: Run) -> None:
    """[D18] what an index of an older version lacks, or a damaged one has, is read from the files."""
    settle()
    build_skill(large)
    expected = run("outline", "large").out
    with open_index(large, "ascii") as index:
        path = index.path
    for statement in (
        "DELETE FROM whole_outline",
        "UPDATE directories SET stamps = x'00'",
        "UPDATE directories SET names = 1",
        "UPDATE directories SET names = NULL",
        "ALTER TABLE directories DROP COLUMN names",
    ):
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(statement)
        walks.clear()
        assert run("outline", "large").out == expected
        assert walks


def test_large_skills_are_not_walked(large: Skill, walks: list[str]) -> None:
    """[D18] directories say that no file was added or removed, also just before a build; the file shown is
    checked.
    """
    assert lines_of(large, "Title 4").startswith("# Title 4\n\nwords 4\n")
    shown = show_section(large, "same")
    assert (shown.file, shown.ambiguous) == ("part0/doc0.md", True)
    assert lines_of(large, "Same", file="part5/doc5.md") == "## Same\n\nsame 5\n"
    assert not has_changes(large, names=["part1/doc1.md"])
    assert not walks
    with pytest.raises(SectionNotFound):
        show_section(large, "nothing")
    assert walks
    save(Path(large.source, "part2", "new.md"), "# New\n")
    build_skill(large)
    walks.clear()
    assert lines_of(large, "Title 4").startswith("# Title 4\n")
    assert not walks


def test_large_and_written_in_place(large: Skill, walks: list[str]) -> None:
    """[D18] never the wrong lines: the file is read again, and a search that answers from it says so."""
    path = Path(large.source, "part4", "doc4.md")
    path.write_text("Before.\n\n# Title 4\n\nother words\n\n# New\n\nnew\n")
    assert lines_of(large, "Title 4") == "# Title 4\n\nother words\n\n"
    assert not walks
    assert has_changes(large, names=["part4/doc4.md"])
    assert not has_changes(large, names=["part1/doc1.md"])
    assert lines_of(large, "New") == "# New\n\nnew\n"  # not in the index: every file is asked
    path.write_text("# Another\n")
    with pytest.raises(SectionNotFound):
        show_section(large, "Title 4")


@pytest.mark.parametrize("change", ["add", "remove", "rename", "replace", "link"])
def test_large_with_other_names(large: Skill, walks: list[str], change: str) -> None:
    """[D18] a file that was added, removed or replaced shows in its directory."""
    path = Path(large.source, "part2", "doc2.md")
    if change == "add":
        save(path.with_name("a.md"), "# Title 2\n\nfirst\n")
    elif change == "replace":
        save(path, "# Title 2\n\nfirst\n")
    elif change == "link":
        save(path.with_name(".b"), "# Title 2\n\nfirst\n")
        path.unlink()
        path.symlink_to(".b")
    else:
        path.rename(path.with_name("z.md" if change == "rename" else ".hidden"))
    assert has_changes(large)
    assert walks
    if change == "remove":
        with pytest.raises(SectionNotFound):
            show_section(large, "Title 2")
    else:
        expected = "words 2" if change == "rename" else "first"
        assert expected in lines_of(large, "Title 2")


def test_large_with_an_index_of_an_older_version(large: Skill, walks: list[str]) -> None:
    """[D18] an index without directories, or with damaged ones, means that every file is asked."""
    for statement in ("UPDATE directories SET modified_ns = 'x'", "DROP TABLE directories"):
        with open_index(large, "ascii") as index:
            connection = sqlite3.connect(index.path)
        connection.execute(statement)
        connection.commit()
        connection.close()
        walks.clear()
        assert lines_of(large, "Title 4").startswith("# Title 4\n")
        assert walks


SECRET = "# Title 4\n\n# A\n\nthe secret of another folder\n"


@pytest.mark.parametrize("place", ["a.md", "b"])
def test_a_link_between_index_and_file(
    world: World, settled: Skill, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """[RFC-0002:C-SHOW] a file or a directory that becomes a link after the look-up does not lead out."""
    outside = world.root / "outside"
    (outside / "b").mkdir(parents=True)
    for name in ("a.md", "b/c.md"):
        save(outside / name, SECRET + SECRET.replace("# A", "# C"))

    def swap() -> None:
        path = Path(settled.source, place)
        if not path.is_symlink():
            path.rename(world.root / "aside")
            path.symlink_to(outside / place)

    edit_after_look_up(monkeypatch, swap)
    with pytest.raises((SectionNotFound, PathEscapes)):
        show_section(settled, "a" if place == "a.md" else "c")


@pytest.mark.parametrize("name", ["outside", "/dev/zero", "pipe.md"])
def test_an_index_that_names_files_outside(world: World, large: Skill, name: str) -> None:
    """[RFC-0002:C-SHOW] an index that a clone brought names a file elsewhere: nothing of it is read."""
    save(world.root / "outside.md", SECRET)
    os.mkfifo(Path(large.source, "pipe.md"))
    with open_index(large, "ascii") as index:
        path = index.path
    with sqlite3.connect(path) as connection:
        name = str(world.root / "outside.md") if name == "outside" else name
        connection.execute("UPDATE headings SET file = ? WHERE file = 'part4/doc4.md'", (name,))
        connection.execute("UPDATE files SET path = ?, size = 0 WHERE path = 'part4/doc4.md'", (name,))
        status = os.stat(large.source)  # the pipe made it another directory
        times = status.st_mtime_ns, status.st_ctime_ns
        connection.execute("UPDATE directories SET modified_ns = ?, changed_ns = ? WHERE path = ''", times)
    connection.close()
    with ends():
        if name == "pipe.md":  # no file of the skill: all files are asked
            assert lines_of(large, "Title 4").startswith("# Title 4\n\nwords 4\n")
        else:
            with pytest.raises(PathEscapes):
                show_section(large, "Title 4")
        assert has_changes(large, names=[name])
