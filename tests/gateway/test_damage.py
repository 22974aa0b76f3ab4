"""An index that is damaged: E002, or what it says, never anything else."""

from __future__ import annotations

import random
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from skillc.compiler.build import build_skill
from skillc.errors import IndexCollision, IndexUnusable, SectionNotFound
from skillc.gateway import has_changes, read_outline, search_sections, show_section
from skillc.index.sections import reader
from skillc.library import Skill
from skillc.paths import index_file
from tests.conftest import World
from tests.gateway.conftest import Run, code, made
from tests.support.cases import each
from tests.support.examples import sample


@pytest.fixture
def database(skill: Skill) -> Path:
    return Path(index_file(skill.runtime(), skill.source))


def unseal(database: Path) -> None:
    """Change the database as SQLite does it, so that its checksum is not looked at any more."""
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("CREATE TABLE more (x)")
        connection.execute("DROP TABLE more")
    assert reader.is_as_written(str(database))


def read_everything(skill: Skill) -> None:
    """Run every operation that reads an index; it may find nothing, or say that the index is unusable."""
    for heading in ("Forms", "größe — maße", "nothing"):
        try:
            show_section(skill, heading)
        except (IndexUnusable, IndexCollision, SectionNotFound):
            pass
    for mode in ("all", "any", "phrase"):
        try:
            for result in search_sections(skill, "fill them", mode=mode).results:
                assert isinstance(result.score, float)
                assert {type(result.file), type(result.section), type(result.snippet)} == {str}
        except (IndexUnusable, IndexCollision):
            pass
    has_changes(skill)
    for entry in read_outline(skill):
        assert isinstance(entry.level, int)
        assert isinstance(entry.line, int)


@pytest.mark.slow
def test_any_damage(skill: Skill, database: Path) -> None:
    """[RFC-0004:C-INDEX] bytes changed, cut off or moved: any failure to read is E002."""
    unseal(database)
    whole = database.read_bytes()
    rng = random.Random(18)
    for _ in sample(range(300), 5):
        data = bytearray(whole)
        match rng.randrange(4):
            case 0:
                for _ in range(rng.choice((1, 10, 100))):
                    data[rng.randrange(len(data))] = rng.randrange(256)
            case 1:
                del data[rng.randrange(len(data)) :]
            case 2:
                start = rng.randrange(len(data))
                data[start : start + 512] = bytes(512)
            case 3:
                one, two = (rng.randrange(len(data) // 1024) * 1024 for _ in range(2))
                data[one : one + 1024], data[two : two + 1024] = (
                    data[two : two + 1024],
                    data[one : one + 1024],
                )
        replace(database, bytes(data))
        read_everything(skill)


@each(
    "statement",
    [
        *("UPDATE headings SET start_line = 'x'", "UPDATE headings SET level = 'x', end_line = X'00'"),
        *("DROP TABLE headings", "ALTER TABLE headings DROP COLUMN level", "DROP TABLE files"),
        "UPDATE sections_content SET c0 = NULL, c1 = NULL, c2 = NULL",
        *("UPDATE sections_content SET c0 = X'ff', c1 = 5", "DELETE FROM sections_content"),
        *("DELETE FROM sections_data", "UPDATE sections_data SET block = X'00'"),
        *("UPDATE sections_docsize SET sz = X''", "DROP TABLE sections_docsize", "DROP TABLE sections_idx"),
        "UPDATE sections_config SET v = 99",
    ],
)
def test_damaged_tables(skill: Skill, database: Path, statement: str) -> None:
    """[RFC-0004:C-INDEX] the same for tables that hold something else."""
    whole = database.read_bytes()
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA writable_schema=ON")
    connection.execute(statement)
    connection.commit()
    connection.close()
    headings = len(read_outline(skill))
    read_everything(skill)
    replace(database, whole)
    assert headings == 11, "the outline is read from the sources where the index is of no use"


def test_an_index_that_is_replaced_meanwhile(world: World, skill: Skill, database: Path) -> None:
    """[D11] a process that has an index open takes the new one as soon as it is there."""
    assert show_section(skill, "B").line == 1
    made(world, "pdf", {"B.md": "# New\n"})
    assert show_section(skill, "new").line == 1
    assert search_sections(skill, "new").results
    whole = database.read_bytes()
    database.unlink()
    with pytest.raises(IndexUnusable):
        search_sections(skill, "new")
    replace(database, whole)
    assert search_sections(skill, "new").results


@pytest.mark.slow
def test_threads_share_open_indexes(world: World) -> None:
    """[RFC-0004:C-INDEX] more skills than stay open, searched by several threads: each answers for itself."""
    skills = [made(world, f"s{n}", {"a.md": f"# Only in {n}\n"}) for n in range(2 * reader.MAX_OPEN)]

    def work(start: int) -> None:
        for n in range(start, start + 200):
            number = n % len(skills)
            found = search_sections(skills[number], "only").results
            assert [result.section for result in found] == [f"Only in {number}"]
            assert search_sections(skills[number], "zebra").results == []

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, range(8)))
    assert len(reader._idle) <= reader.MAX_OPEN


def observe(skill: Skill) -> list[object]:
    """Return what the reading commands give; None where the index is unusable."""
    values: list[object] = [[heading.as_json() for heading in read_outline(skill)]]
    for heading in ("Forms", "Fields", "API"):
        try:
            values.append(show_section(skill, heading).as_json())
        except IndexUnusable:
            values.append(None)
    for query in ("fill them", "forms", "names"):
        try:
            values.append(search_sections(skill, query, mode="any").as_json())
        except IndexUnusable:
            values.append(None)
    return values


@pytest.mark.slow
def test_any_byte(skill: Skill, database: Path) -> None:
    """[RFC-0004:C-INDEX] a byte that changed changes no answer: it is the same, or the index is unusable."""
    whole, expected = database.read_bytes(), observe(skill)
    assert None not in expected
    rng = random.Random(7)
    for _ in sample(range(300), 5):
        data = bytearray(whole)
        data[rng.randrange(len(data))] ^= rng.randrange(1, 256)
        replace(database, bytes(data))
        for now, then in zip(observe(skill), expected, strict=True):
            assert now in (then, None)


def test_a_damaged_index_is_built_again(skill: Skill, database: Path, run: Run) -> None:
    """[D11] [RFC-0004:C-INDEX] a build finds the damage, too; --raw on a damaged index is E002."""
    expected = observe(skill)
    data = bytearray(database.read_bytes())
    data[len(data) // 2] ^= 1
    replace(database, bytes(data))
    with pytest.raises(IndexUnusable):
        search_sections(skill, "forms")
    build_skill(skill)
    assert observe(skill) == expected
    connection = sqlite3.connect(database)
    connection.execute("DELETE FROM sections_docsize")
    connection.commit()
    connection.close()
    assert code(run("search", "pdf", "fill", "--raw")) == "E002"
    assert code(run("search", "pdf", "fill")) == "E002"
    assert code(run("search", "pdf", "fill AND", "--raw")) == "E100"


def test_a_large_index_is_not_read_whole(
    skill: Skill, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[RFC-0004:C-INDEX] its checksum would take longer than the answer."""
    monkeypatch.setattr(reader, "MAX_SEALED", 1000)
    data = bytearray(database.read_bytes())
    data[-1] ^= 1
    replace(database, bytes(data))
    assert reader.is_as_written(str(database))


def replace(database: Path, data: bytes) -> None:
    """Put a new file in the place of the index, as a build does."""
    new = database.with_suffix(".new")
    new.write_bytes(data)
    new.replace(database)
