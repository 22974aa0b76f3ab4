"""`skc build`: what is written where, what is kept, what is refused."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, strategies as st

from skillc.compiler.build import BuildResult, build_skill
from skillc.compiler.read_files import fingerprint, read_all
from skillc.errors import MissingField, PathEscapes
from skillc.gateway import search_sections, show_section
from skillc.index import SETTLED_NS
from skillc.library import resolve
from skillc.paths import index_file
from skillc.skills import list_files
from tests.conftest import World
from tests.support.cases import each
from tests.support.examples import examples, sample


def built(world: World, name: str = "pdf", **options: bool) -> BuildResult:
    return build_skill(resolve(name, str(world.project)), **options)  # type: ignore[arg-type]


def rows(path: str, query: str) -> list[Any]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        return connection.execute(query).fetchall()


def index_of(result: BuildResult) -> str:
    return index_file(result.runtime, result.skill.source)


def test_output_is_stub_manifest_and_meta(world: World) -> None:
    """[RFC-0001:C-OUTPUT] [D49] [RFC-0007] no Markdown is copied; only stub, manifest and meta; the
    command prints one JSON document.
    """
    folder = world.skill("pdf")
    (folder / "references").mkdir()
    (folder / "references" / "a.md").write_text("# A\n")
    world.ok("build", "pdf")
    runtime = world.runtime / "pdf"
    assert {entry.name for entry in runtime.iterdir()} == {"SKILL.md", ".skillc", ".skillc-meta"}
    assert [entry.name for entry in (runtime / ".skillc").iterdir()] == ["manifest.json"]
    assert not list(runtime.rglob("*.tmp"))
    shutil.rmtree(world.runtime / "pdf")
    result = world.json("build", "pdf")
    assert result["skill"] == "pdf"
    assert result["status"] == "built"
    assert result["deployments"] == [
        {"target": "claude", "path": str(world.home / ".claude/skills/pdf"), "method": "symlink"}
    ]


def test_manifest_and_index(world: World) -> None:
    """[RFC-0001:C-MANIFEST] [D3] [D7] [RFC-0004:C-INDEX] fields, keys and columns; the hash by hand."""
    folder = world.skill("pdf")
    (folder / "b.txt").write_bytes(b"\xff\x00")
    (folder / "a").mkdir()
    (folder / "a" / "x.md").write_text("# X\n")
    (folder / ".hidden").write_text("not counted")
    result = built(world)
    manifest = json.loads((Path(result.runtime) / ".skillc" / "manifest.json").read_text())
    assert manifest["skill"] == "pdf"
    assert manifest["version"] == 1
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", manifest["built_at"])
    whole = b""
    for name in sorted(["SKILL.md", "a/x.md", "b.txt"], key=str.encode):
        whole += name.encode() + hashlib.sha256((folder / name).read_bytes()).hexdigest().encode()
    assert manifest["source_hash"] == result.source_hash == hashlib.sha256(whole).hexdigest()
    digest = hashlib.sha256(os.path.realpath(folder).encode()).hexdigest()
    path = index_of(result)
    assert path == f"{result.runtime}/.skillc-meta/search-{digest[:16]}.db"
    meta = dict(rows(path, "SELECT key, value FROM index_meta"))
    assert meta["skill_path"] == os.path.realpath(folder)
    assert (meta["schema_version"], meta["tokenizer"]) == ("2", "porter")
    assert meta["source_hash"] == result.source_hash
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", str(meta["indexed_at"]))
    columns = [row[1] for row in rows(path, "PRAGMA table_info(headings)")]
    assert columns == ["id", "file", "text", "level", "start_line", "end_line"]
    assert [row[1] for row in rows(path, "PRAGMA table_info(sections)")] == ["file", "section", "content"]
    assert rows(path, "SELECT sql FROM sqlite_master WHERE name = 'idx_headings_text'")
    assert rows(path, "SELECT rowid FROM sections WHERE sections MATCH 'texts'"), "porter stems"


def test_headings_and_sections(world: World) -> None:
    """[RFC-0004:C-INDEX] [RFC-0004:C-FORMATS] [D15] lines, nested sections, plain text, the opening."""
    folder = world.skill(
        "pdf", "---\nname: pdf\ndescription: d\n---\nbefore\n# One\nfirst\n## Two\nsecond\n# Three\nthird"
    )
    (folder / "notes.TXT").write_text("plain words")
    (folder / "code.py").write_text("skipped = True")
    path = index_of(built(world))
    assert rows(path, "SELECT file, text, level, start_line, end_line FROM headings ORDER BY id") == [
        ("SKILL.md", "One", 1, 6, 10),
        ("SKILL.md", "Two", 2, 8, 10),
        ("SKILL.md", "Three", 1, 10, 12),
    ]
    assert rows(path, "SELECT file, section, content FROM sections ORDER BY file, rowid") == [
        ("SKILL.md", "", "before\n"),
        ("SKILL.md", "One", "# One\nfirst\n## Two\nsecond\n"),
        ("SKILL.md", "Two", "## Two\nsecond\n"),
        ("SKILL.md", "Three", "# Three\nthird"),
        ("notes.TXT", "", "plain words"),
    ]


@pytest.mark.slow
def test_errors(world: World) -> None:
    """[RFC-0001:C-ERRORS] [RFC-0001:C-INPUT] [D25] each condition has its code."""
    (world.store / "empty").mkdir()
    world.fails("E001", "build", "nowhere")
    world.fails("E010", "build", "empty")
    world.skill("silent", "# No frontmatter\n")
    assert "'description'" in world.fails("E011", "build", "silent").stderr
    folder = world.skill("leaving")
    (folder / "out").symlink_to("/etc/hostname")
    world.fails("E012", "build", "leaving")
    text = f"---\nname: large\ndescription: d\n---\n{'x' * (1 << 20)}"
    large = world.skill("large", text, store=world.root / "elsewhere")
    for command in ("build", "add", "import"):
        result = world.skc(command, str(large))
        assert "SKILL.md is over 1 MiB" in result.stdout + result.stderr, command
    world.fails("E010", "tools", str(large))
    world.fails("E100", "build", "pdf", "--nope")
    assert not (world.runtime / "silent" / "SKILL.md").exists()


def test_repairs_are_told_every_time(world: World) -> None:
    """[D4] [D7] a repair is told each time; what build wrote is no source, but leads to it [D51]."""
    folder = world.skill("pdf", "---\nname: pdf\ndescription: Use when: filling\n---\n# P\n")
    (folder / "old.md").write_bytes(b"# caf\xe9\n")
    for _ in range(2):
        stderr = world.ok("build", "pdf").stderr
        assert "warning[W011]: SKILL.md: " in stderr
        assert "warning[W010]: old.md: " in stderr
    assert world.ok("build", str(world.runtime / "pdf")).stdout.startswith("Unchanged 'pdf'")
    (world.home / ".skillc" / "deployments.json").unlink()
    world.fails("E010", "build", str(world.runtime / "pdf"))


# Rebuilding


def changes(result: BuildResult) -> tuple[str, int]:
    return result.status, result.changes


def settle() -> None:
    """Wait until files are old enough for the index to trust their times."""
    time.sleep(2 * SETTLED_NS / 1e9)


def test_only_what_changed_is_indexed(world: World) -> None:
    """[D12] unchanged files keep their rows; changed, new and gone ones are followed.

    An updated index holds the same as one made from nothing.
    """
    folder = world.skill("pdf")
    for n in range(10):
        (folder / f"r{n}.md").write_text(f"# R{n}\n\nword{n} and filler to make this document longer\n")
    first = built(world)
    assert changes(first) == ("built", 11)
    before = dict(rows(index_of(first), "SELECT path, first_row FROM files"))
    (folder / "r3.md").write_text("# R3\n\nzebra\n")
    (folder / "r4.md").unlink()
    (folder / "new.md").write_text("# New\n")
    second = built(world)
    assert changes(second) == ("updated", 3)
    after = dict(rows(index_of(second), "SELECT path, first_row FROM files"))
    kept = before.keys() - {"r3.md", "r4.md"}
    assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
    assert after.keys() == kept | {"r3.md", "new.md"}
    skill = second.skill
    assert [r.file for r in search_sections(skill, "zebra").results] == ["r3.md"]
    assert search_sections(skill, "word3").results == []
    assert search_sections(skill, "word4").results == []
    assert "New" in (Path(second.runtime) / "SKILL.md").read_text()
    path = index_of(second)
    assert_index_is_whole(path)
    tables = [
        "SELECT file, section, content FROM sections ORDER BY 1, 2, 3",
        "SELECT file, text, level, start_line, end_line FROM headings ORDER BY 1, 4",
        "SELECT path, digest, size, description FROM files ORDER BY 1",
        "SELECT key, value FROM index_meta WHERE key IN ('source_hash', 'stub', 'skill_path') ORDER BY 1",
    ]
    incremental = [rows(path, query) for query in tables]
    built(world, force=True)
    assert [rows(path, query) for query in tables] == incremental


def assert_index_is_whole(path: str) -> None:
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.execute("INSERT INTO sections(sections) VALUES('integrity-check')")
    connection.close()


def test_nothing_changed_writes_nothing(world: World) -> None:
    """[D12] [D18] [RFC-0004:C-INDEX] [D11] up to date: no file is written; what was edited is put right.

    New times with the same bytes change nothing; other bytes under the old time do.
    """
    world.skill("pdf")
    settle()
    result = built(world)
    stub, manifest = Path(result.runtime, "SKILL.md"), Path(result.runtime, ".skillc/manifest.json")
    files = [Path(index_of(result)), stub, manifest]
    before = [file.stat().st_ino for file in files]
    assert changes(built(world)) == ("unchanged", 0)
    assert [file.stat().st_ino for file in files] == before
    texts = stub.read_text(), manifest.read_text()
    stub.unlink()
    manifest.write_text("{}")
    built(world)
    assert (stub.read_text(), manifest.read_text()) == texts
    folder = world.skill("pdf")
    first = built(world)
    os.utime(folder / "SKILL.md", ns=(1_700_000_000_000_000_001, 1_700_000_000_000_000_001))
    settle()
    again = built(world)
    assert (again.status, again.source_hash) == ("unchanged", first.source_hash)
    assert rows(index_of(again), "SELECT modified_ns FROM files") == [(1_700_000_000_000_000_001,)]
    world.skill("pdf", "---\nname: pdf\ndescription: d\n---\n# Aaaa\n")
    built(world)
    for letter in "bcdefg":
        status = (folder / "SKILL.md").stat()
        world.skill("pdf", f"---\nname: pdf\ndescription: d\n---\n# {letter.upper()}aaa\n")
        os.utime(folder / "SKILL.md", ns=(status.st_atime_ns, status.st_mtime_ns))
        assert built(world).status == "updated", letter
        assert show_section(resolve("pdf", str(world.project)), f"{letter}aaa").line == 5


@each(
    "damage",
    [
        *("DROP TABLE sections", "DROP TABLE headings", "DROP TABLE files", "DROP TABLE index_meta"),
        *("DELETE FROM index_meta WHERE key = 'tokenizer'", "DELETE FROM index_meta WHERE key = 'stub'"),
        "UPDATE index_meta SET value = 'two' WHERE key = 'schema_version'",
        "UPDATE index_meta SET value = '1' WHERE key = 'schema_version'",
        "UPDATE index_meta SET value = NULL WHERE key = 'source_hash'",
        "UPDATE index_meta SET value = 'unicode61' WHERE key = 'tokenizer'",
    ],
)
def test_damaged_index_is_rebuilt(world: World, damage: str) -> None:
    """[RFC-0004:C-INDEX] [D11] missing, corrupt and stale indexes are made anew without a word."""
    world.skill("pdf")
    result = built(world)
    with closing(sqlite3.connect(index_of(result))) as connection:
        connection.execute(damage)
        connection.commit()
    built(world)
    assert show_section(result.skill, "usage").line == 7
    assert search_sections(result.skill, "text").results


def test_collision_is_not_overwritten(world: World) -> None:
    """[RFC-0004:C-INDEX] [RFC-0004:C-ERRORS] another source's index is E003 unless forced [D11]."""
    world.skill("pdf")
    result = built(world)
    connection = sqlite3.connect(index_of(result))
    connection.execute("UPDATE index_meta SET value = '/elsewhere' WHERE key = 'skill_path'")
    connection.commit()
    connection.close()
    for command in (("build", "pdf"), ("show", "pdf", "--section", "usage"), ("search", "pdf", "text")):
        stderr = world.fails("E003", *command).stderr
        assert f"delete .skillc-meta/{Path(index_of(result)).name} and rebuild" in stderr
    world.ok("build", "pdf", "--force")
    world.ok("search", "pdf", "text")


@each(("key", "value"), [("source_hash", "0" * 64), ("schema_version", "3")])
def test_index_unlike_its_manifest_is_rebuilt(world: World, key: str, value: str) -> None:
    """[RFC-0004:C-INDEX] hash or schema unlike the manifest's: a build writes a new index."""
    world.skill("pdf")
    result = built(world)
    (index,) = Path(result.runtime, ".skillc-meta").glob("search-*.db")
    with closing(sqlite3.connect(index)) as connection, connection:
        connection.execute("UPDATE index_meta SET value = ? WHERE key = ?", (value, key))
        connection.execute("DELETE FROM headings")
    assert built(world).status == "updated"
    with closing(sqlite3.connect(index)) as connection:
        assert connection.execute("SELECT count(*) FROM headings").fetchone()[0] > 0
    assert built(world).status == "unchanged"


def test_large_skills_are_read_by_several_processes(world: World) -> None:
    """[D12] the parallel path writes a whole index, too."""
    folder = world.skill("pdf")
    for n in range(60):
        (folder / f"r{n:02}.md").write_text(f"# R{n}\n\n" + f"word{n} filler text for size\n" * 2000)
    world.ok("build", "pdf")
    skill = resolve("pdf", str(world.project))
    path = index_file(skill.runtime(), skill.source)
    assert rows(path, "SELECT count(*) FROM headings") == [(62,)]
    assert [r.file for r in search_sections(skill, "word59").results] == ["r59.md"]
    assert_index_is_whole(path)


@pytest.mark.slow
def test_no_permission(world: World, unprivileged: tuple[str, ...]) -> None:
    """[RFC-0005] no permission to read, in any process, or to write: one coded line that names it."""
    folder = world.skill("pdf")
    secret = folder / "secret.md"
    secret.write_text("# S\n")
    secret.chmod(0)
    assert "secret.md" in world.fails("E999", "build", "pdf", prefix=unprivileged).stderr
    for n in range(3):
        (folder / f"big{n}.md").write_text("# B\n" + "filler text\n" * 100_000)
    assert "secret.md" in world.fails("E999", "build", "pdf", prefix=unprivileged).stderr
    (world.project / ".skillc").chmod(0o555)
    assert "ermission" in world.fails("E999", "build", "pdf", prefix=unprivileged).stderr


# Whatever the source


def assert_result_or_code(world: World, name: str = "any") -> None:
    """A build ends in a result that can be read, or in an error with a code."""
    try:
        result = built(world, name)
    except MissingField:
        return  # the only thing that bytes alone can be wrong in
    text = Path(result.runtime, "SKILL.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 100
    assert_index_is_whole(index_of(result))


@pytest.mark.slow
def test_every_commonmark_example(world: World, commonmark_examples: list[str]) -> None:
    """[RFC-0001:C-INPUT] every example of the CommonMark specification as SKILL.md and as a reference."""
    assert len(commonmark_examples) > 600
    folder = world.skill("any")
    for number, text in enumerate(commonmark_examples):
        (folder / f"example-{number:03}.md").write_bytes(text.encode())
    assert_result_or_code(world)
    for text in sample(commonmark_examples, 5):
        world.skill("alone", text)
        with pytest.raises(MissingField):
            built(world, "alone")
        world.skill("alone", f"---\nname: a\ndescription: d\n---\n{text}")
        assert_result_or_code(world, "alone")


DOCUMENTS = st.one_of(
    st.binary(max_size=300),
    st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.lists(
        st.sampled_from(
            ["---\n", "name: x\n", "description: y\n", "description: a: b\n", "---# T\n", "&a [*a]\n"]
            + ["# H\n", "===\n", "- ", "> ", "```\n", "[x]: y\n", "<div>\n", "    ", "\t"]
            + ["\r\n", "\r", "\0", "\ufeff", "é", "日本"]
        ),
        max_size=40,
    ).map(lambda parts: "".join(parts).encode()),
)


@pytest.mark.slow
@given(main=DOCUMENTS, reference=DOCUMENTS, name=st.sampled_from(["r.md", "R.MD", "n.txt", "x.bin", "é.md"]))
@example(main=b"", reference=b"", name="r.md")
@example(main=b"---\ndescription: x\n---", reference=b"\0" * 1000, name="r.md")
@examples(150)
def test_any_source(world: World, main: bytes, reference: bytes, name: str) -> None:
    """[RFC-0001:C-INPUT] a result or one coded line, never a traceback, for any bytes."""
    folder = world.skill("any", main)
    (folder / name).write_bytes(reference)
    try:
        assert_result_or_code(world)
    finally:
        (folder / name).unlink()


@pytest.mark.slow
@each(
    "text",
    [
        b"",
        b"\0",
        b"x" * 1_000_000,
        b"# " + b"x" * 1_000_000,
        b"# H\n" * 10_000,
        b"\xff\xfe" + "---\nname: x\n---\n".encode("utf-16-le"),
        b"\xff" * 10_000,
        b"> " * 5_000 + b"# deep",
        b"- " * 5_000 + b"# deep",
        b"[" * 50_000,
        b"`" * 50_000,
        b"*a " * 50_000,
        b"\r" * 10_000 + b"# H\r",
    ],
)
def test_hard_documents(world: World, text: bytes) -> None:
    """[RFC-0001:C-INPUT] empty, huge, deep, not UTF-8: as a reference and after good frontmatter."""
    folder = world.skill("any")
    (folder / "hard.md").write_bytes(text)
    (folder / "hard.txt").write_bytes(text)
    assert_result_or_code(world)
    world.skill("any", b"---\nname: any\ndescription: d\n---\n" + text)
    assert_result_or_code(world)
    world.skill("any", text)
    with pytest.raises(MissingField):
        built(world, "any")


@pytest.mark.parametrize("place", ["a.md", "b"])
def test_a_link_that_takes_the_place_of_a_file(world: World, place: str) -> None:
    """[RFC-0001:C-OUTPUT] what becomes a link out of the skill after it was listed is not indexed."""
    folder = world.skill("pdf")
    outside = world.root / "outside"
    for root in (folder, outside):
        (root / "b").mkdir(parents=True)
        for name in ("a.md", "b/c.md"):
            (root / name).write_text(f"# {root.name}\n")
    files = [file for file in list_files(str(folder)) if file.name.startswith(place)]
    (folder / place).rename(world.root / "aside")
    (folder / place).symlink_to(outside / place)
    with pytest.raises(PathEscapes):
        list(read_all(files))
    with pytest.raises(PathEscapes):
        fingerprint(files[0])
