"""Finding in a registry: an index that follows the log, for each caller what it may read."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from skillc.errors import EmptyQuery
from skillc.index.skills import FoundSkills, Scope
from skillc.library.sources import FilesystemSkillSource, find_in_source
from skillc.registry import SYSTEM, Finder, Policies, Role, make_package
from skillc.registry.blobs import open_blobs
from skillc.registry.documents import DocumentFolder
from skillc.registry.model import Caller, Permission, Version
from skillc.registry.store import open_store
from tests.registry.conftest import Clock, Team

WORKER = Path(__file__).parent / "worker.py"
SOON = 20.0

SKILLS = {
    "payments/refunds": ("Pay money back to a customer", "Open the ledger and reverse the charge."),
    "payments/invoices": ("Write an invoice for a customer", "Number it, add the tax, send the document."),
    "legal/contracts": ("Review a contract before it is signed", "Look for liability and termination."),
    "legal/privacy": ("Answer requests about personal data", "Export or erase what the customer asks for."),
}


def text_of(skill_id: str, description: str, body: str) -> bytes:
    name = skill_id.rpartition("/")[2]
    return f"---\nname: {name}\ndescription: {description}\n---\n# {name}\n\n## Steps\n\n{body}\n".encode()


def publish(registry: Team, skill_id: str, description: str = "", body: str = "", **options: Any) -> Version:
    known = SKILLS.get(skill_id, ("What it is for", "Text."))
    data = text_of(skill_id, description or known[0], body or known[1])
    return registry.publish(SYSTEM, make_package(skill_id, {"SKILL.md": data}), **options)


def ids(results: FoundSkills) -> list[str]:
    return [str(skill.id) for skill in results]


@contextmanager
def finding(registry: Team, folder: Path) -> Iterator[Finder]:
    finder = Finder(registry, str(folder))
    try:
        yield finder
    finally:
        finder.close()


@pytest.fixture
def finder(registry: Team, tmp_path: Path) -> Iterator[Finder]:
    """An index of a registry with four skills, which is brought up to date by hand."""
    for skill_id in SKILLS:
        publish(registry, skill_id)
    with finding(registry, tmp_path / "index") as finder:
        finder.refresh()
        yield finder


def test_found_as_by_find(finder: Finder, tmp_path: Path) -> None:
    """[SURFACES: Registry model] results, scores, reasons and corrections are those of `skc find`."""
    import asyncio

    for skill_id, (description, body) in SKILLS.items():
        folder = tmp_path / "skills" / skill_id
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_bytes(text_of(skill_id, description, body))
    source = FilesystemSkillSource(str(tmp_path / "skills"))
    for task in ("pay a customer back", "contrcat liability", "erase personal data", "tax"):
        expected = asyncio.run(find_in_source(source, task, 10, lambda skill_id, needs: True))
        found = finder.find(SYSTEM, task)
        assert ids(found) == ids(expected) != []
        assert [skill.score for skill in found] == [skill.score for skill in expected]
        assert [(s.matched, s.section) for s in found] == [(s.matched, s.section) for s in expected]
        assert found.corrections == expected.corrections
    assert finder.find(SYSTEM, "contrcat").corrections == {"contrcat": "contract"}
    assert ids(finder.find(SYSTEM, "customer", scope=Scope(collection="legal"))) == ["legal/privacy"]
    with pytest.raises(EmptyQuery):
        finder.find(SYSTEM, " ")


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_others_read_nothing(registry: Team, tmp_path: Path) -> None:
    """[SURFACES: Registry model] the index is in a folder of its owner's alone, also one that was open."""
    registry.release("1.0.0")
    (tmp_path / "open").mkdir(mode=0o755)
    for name in ("open", "new"):
        finder = Finder(registry, str(tmp_path / name))
        finder.refresh()
        finder.close()
        assert (tmp_path / name / "skills.db").exists()
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o700


def test_each_caller_finds_what_it_may_read(finder: Finder, registry: Team) -> None:
    """[SURFACES: Registry model] nothing is told of skills that a caller may not read, nor as copies."""
    publish(registry, "secret/refunds", *SKILLS["payments/refunds"])
    finder.refresh()
    ana = Caller("ana", (Permission(Role.READER, "payments"),))
    assert ids(finder.find(ana, "customer money")) == ["payments/refunds", "payments/invoices"]
    assert all(skill.copies == () for skill in finder.find(ana, "customer money"))
    assert finder.find(SYSTEM, "money back").as_json("money back")["results"][0]["copies"]
    assert ids(finder.find(Caller("none"), "customer")) == []
    assert finder.find(ana, "contrcat").corrections == {}


def test_every_change_is_seen(finder: Finder, registry: Team) -> None:
    """[SURFACES: Registry model] after a yank, rollback, deletion, restoring: the latest is found."""
    publish(registry, "payments/refunds", "Return goods to the warehouse", "Print a label.", version="2.0.0")
    finder.refresh()
    assert ids(finder.find(SYSTEM, "warehouse")) == ["payments/refunds"]
    assert ids(finder.find(SYSTEM, "ledger")) == []
    registry.set_tag(SYSTEM, "payments/refunds", "latest", "0.1.0")
    finder.refresh()
    assert ids(finder.find(SYSTEM, "ledger")) == ["payments/refunds"]
    registry.yank(SYSTEM, "payments/refunds", "0.1.0", "wrong")
    finder.refresh()
    assert ids(finder.find(SYSTEM, "warehouse")) == ["payments/refunds"]
    registry.yank(SYSTEM, "payments/refunds", "2.0.0", "wrong, too")
    finder.refresh()
    assert ids(finder.find(SYSTEM, "warehouse ledger")) == []
    registry.unyank(SYSTEM, "payments/refunds", "0.1.0")
    registry.delete(SYSTEM, "legal/privacy")
    finder.refresh()
    assert ids(finder.find(SYSTEM, "ledger personal")) == ["payments/refunds"]
    registry.restore(SYSTEM, "legal/privacy")
    finder.refresh()
    assert ids(finder.find(SYSTEM, "personal")) == ["legal/privacy"]
    assert finder.sequence == registry.log.find_end().sequence


def test_a_thread_of_its_own(registry: Team, tmp_path: Path) -> None:
    """[SURFACES: Registry model] a publication is found a moment later, without a call."""
    with finding(registry, tmp_path / "index") as finder:
        assert not finder.is_ready
        finder.start()
        assert finder.wait(0, SOON)
        assert finder.is_ready
        publish(registry, "payments/refunds")
        assert finder.wait(1, SOON)
        assert ids(finder.find(SYSTEM, "ledger")) == ["payments/refunds"]


def test_a_publication_elsewhere(registry: Team, store_url: str, tmp_path: Path) -> None:
    """[SURFACES: Registry model] what another process publishes is found, also in a shared folder."""
    with (
        finding(registry, tmp_path / "one") as one,
        finding(registry, tmp_path / "shared") as two,
        finding(registry, tmp_path / "shared") as three,
    ):
        for finder in (one, two, three):
            finder.start()
        words = [sys.executable, str(WORKER), store_url, str(tmp_path / "blobs"), "publish", "other", "2"]
        subprocess.run(words, input="go\n", capture_output=True, text=True, timeout=60, check=True)
        for finder in (one, two, three):
            assert finder.wait(2, SOON)
            assert ids(finder.find(SYSTEM, "text")) == ["team/skill"]


def count_changes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of documents of each change that is written from now on."""
    counts: list[int] = []
    change = DocumentFolder.change

    def count(folder: DocumentFolder, documents: object, removals: object, mark: object) -> bool:
        counts.append(len(documents) + len(removals))  # type: ignore[arg-type]
        return change(folder, documents, removals, mark)  # type: ignore[arg-type]

    monkeypatch.setattr(DocumentFolder, "change", count)
    return counts


def test_only_what_is_new_is_read(
    finder: Finder, registry: Team, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """[SURFACES: Registry model] nothing, where the latest text stays, or in a new process."""
    counts = count_changes(monkeypatch)
    registry.set_tag(SYSTEM, "payments/refunds", "stable", "0.1.0")
    registry.release("0.0.5", "payments/refunds")
    finder.refresh()
    assert counts == [0]
    counts.clear()
    with finding(registry, tmp_path / "index") as second:
        second.refresh()
        assert counts == []
        assert ids(second.find(SYSTEM, "ledger")) == ["payments/refunds"]
        publish(registry, "payments/new", "Count coins")
        second.refresh()
        finder.refresh()
        assert counts == [1]
        assert ids(finder.find(SYSTEM, "coins")) == ["payments/new"]


def test_another_store(finder: Finder, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry model] in another store's log all is compared, and what differs is read."""
    counts = count_changes(monkeypatch)
    with Team(open_store(str(tmp_path / "other.db")), open_blobs(str(tmp_path / "blobs2")), clock) as other:
        publish(other, "payments/refunds")
        publish(other, "payments/only-there", "Count coins")
        with finding(other, tmp_path / "index") as finder_there:
            finder_there.refresh()
            assert sorted(ids(finder_there.find(SYSTEM, "ledger coins contract"))) == [
                "payments/only-there",
                "payments/refunds",
            ]
    assert counts == [4, 0]  # one is new, three are gone, one is the same; then the mark


def test_a_restored_store(tmp_path: Path, clock: Clock) -> None:
    """[SURFACES: Registry model] what a backup does not have is not found any more."""
    path, copy = tmp_path / "registry.db", tmp_path / "copy.db"
    with Team(open_store(str(path)), open_blobs(str(tmp_path / "blobs")), clock) as registry:
        publish(registry, "payments/refunds")
        with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
            source.backup(target)
        publish(registry, "legal/privacy")
        with finding(registry, tmp_path / "index") as finder:
            finder.refresh()
            with closing(sqlite3.connect(copy)) as source, closing(sqlite3.connect(path)) as target:
                source.backup(target)
            clock.move(seconds=1)
            publish(registry, "legal/contracts")
            finder.refresh()
            assert ids(finder.find(SYSTEM, "ledger personal contract")) == [
                "legal/contracts",
                "payments/refunds",
            ]


def test_versions_that_become_old_enough(registry: Team, tmp_path: Path, clock: Clock) -> None:
    """[SURFACES: Registry model] a policy of age hides a version from searches until its time has come."""
    publish(registry, "payments/refunds")
    registry.policies = Policies(timedelta(days=3), clock=clock)
    with finding(registry, tmp_path / "index") as finder:
        finder.refresh()
        assert ids(finder.find(SYSTEM, "ledger")) == []
        clock.move(days=2)
        publish(registry, "payments/refunds", body="Call the bank.", version="1.0.0")
        finder.refresh()
        clock.move(days=1)
        finder.refresh()
        assert ids(finder.find(SYSTEM, "ledger bank")) == ["payments/refunds"]
        assert ids(finder.find(SYSTEM, "bank")) == []
    clock.move(days=2)
    with finding(registry, tmp_path / "index") as finder:
        finder.refresh()
        assert ids(finder.find(SYSTEM, "bank")) == ["payments/refunds"]
    registry.policies = Policies()
    with finding(registry, tmp_path / "index") as finder:  # without the policy: compared anew
        publish(registry, "payments/refunds", body="Send an envoy.", version="2.0.0")
        finder.refresh()
        assert ids(finder.find(SYSTEM, "envoy")) == ["payments/refunds"]


def test_many_skills(registry: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry model] all are compared in pages, and segments are merged on the way."""
    monkeypatch.setattr("skillc.registry.finder.PAGE", 7)
    monkeypatch.setattr("skillc.registry.finder.BULK", 3)
    monkeypatch.setattr("skillc.registry.documents.MAX_WAL", 0)
    for number in range(40):
        publish(registry, f"team/s{number:02}", f"Word{number:02}")
    with finding(registry, tmp_path / "index") as finder:
        finder.refresh()
        with closing(sqlite3.connect(tmp_path / "index" / "skills.db")) as connection:
            assert connection.execute("SELECT size FROM segments").fetchall() == [(40,)]
        for number in (0, 6, 7, 39):
            assert ids(finder.find(SYSTEM, f"word{number:02}")) == [f"team/s{number:02}"]
        registry.delete(SYSTEM, "team/s06")
        registry.delete(SYSTEM, "team/s39")
        os.unlink(tmp_path / "index" / "skills.db")
        finder.refresh()
        assert ids(finder.find(SYSTEM, "word05")) == ["team/s05"]
        assert ids(finder.find(SYSTEM, "word06 word39")) == []


def test_damage(finder: Finder, registry: Team, tmp_path: Path) -> None:
    """[SURFACES: Registry model] an index that is damaged is made anew from the registry."""
    with closing(sqlite3.connect(tmp_path / "index" / "skills.db")) as connection, connection:
        connection.execute("UPDATE skills SET description = 'x'")
        connection.execute("UPDATE documents SET data = x'00'")
    for _ in range(2):
        finder.find(SYSTEM, "ledger")
        finder.refresh()
    assert ids(finder.find(SYSTEM, "ledger")) == ["payments/refunds"]
    assert finder.find(SYSTEM, "ledger")[0].section == "Steps"


def test_a_lost_blob(registry: Team, tmp_path: Path) -> None:
    """[SURFACES: Registry model] a lost text is not found, others are; without a folder the index is in
    memory.
    """
    publish(registry, "payments/refunds")
    for path in (tmp_path / "blobs").rglob("*"):
        if path.is_file():
            path.write_bytes(b"damage")
    publish(registry, "legal/privacy")
    with finding(registry, tmp_path / "index") as finder:
        finder.refresh()
        assert ids(finder.find(SYSTEM, "ledger personal")) == ["legal/privacy"]
    (tmp_path / "file").write_text("no folder")
    with finding(registry, tmp_path / "file" / "index") as finder:
        finder.refresh()
        assert ids(finder.find(SYSTEM, "personal")) == ["legal/privacy"]


@pytest.mark.slow
def test_searches_while_publishing(registry: Team, tmp_path: Path) -> None:
    """[SURFACES: Registry model] threads that search while others publish always find what was there."""
    publish(registry, "payments/refunds")
    with finding(registry, tmp_path / "index") as one, finding(registry, tmp_path / "index") as two:
        for finder in (one, two):
            finder.start()
            assert finder.wait(1, SOON)
        misses: list[list[str]] = []
        is_over = threading.Event()

        def search(finder: Finder) -> None:
            while not is_over.is_set():
                found = ids(finder.find(SYSTEM, "ledger", 3))
                if found != ["payments/refunds"]:
                    misses.append(found)

        threads = [threading.Thread(target=search, args=(finder,)) for finder in (one, two)]
        for thread in threads:
            thread.start()
        for number in range(40):
            publish(registry, f"team/s{number}", f"Word{number}")
        assert one.wait(41, SOON)
        assert two.wait(41, SOON)
        is_over.set()
        for thread in threads:
            thread.join()
        assert misses == []
        assert ids(two.find(SYSTEM, "word39")) == ["team/s39"]
    shutil.rmtree(tmp_path / "index")


def test_prefixes_in_segments(registry: Team, tmp_path: Path) -> None:
    """[SURFACES: Registry model] what a caller of a few prefixes finds equals a filter of all results."""
    names = ["a", "a-b", "a-b/c", "a/b", "a/c/d", "a0", "ab/c", "b/a", "c", "c/a", "c/b", "d/x/y", "e"]
    with finding(registry, tmp_path / "index") as finder:
        for number, skill_id in enumerate(names):
            publish(registry, skill_id, f"Common words and word{number}")
            if number % 3 == 0:
                finder.refresh()
        registry.delete(SYSTEM, "c/a")
        finder.refresh()
        everything = ids(finder.find(SYSTEM, "common words", 100))
        assert len(everything) == len(names) - 1
        for prefixes in (["a"], ["a", "c"], ["a-b"], ["a/c"], ["b", "d/x"], ["e"], ["nothing"], ["c"]):
            caller = Caller("ana", tuple(Permission(Role.READER, prefix) for prefix in prefixes))
            expected = [each for each in everything if caller.allows(Role.READER, each)]
            for limit in (1, 3, 100):
                assert ids(finder.find(caller, "common words", limit)) == expected[:limit]
        for limit in (1, 3, 100):
            inside = ids(finder.find(SYSTEM, "common words", limit, Scope(collection="a")))
            assert inside == [each for each in everything if each.startswith("a/")][:limit]
