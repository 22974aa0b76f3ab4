"""One byte of the skill index is changed: every answer is that of a sound one, which is made anew."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from skillc.index.skills import Searchable, SkillIndex, folder
from tests.conftest import World
from tests.support.examples import sample

WORDS = ["forms", "tables", "charts", "letters", "invoices", "maps", "music", "recipes", "travel", "garden"]
TASKS = (
    *("fill in forms", "draw charts and maps", "how to cook", "garden", "letters to nowhere zzz", "the"),
    *("gardne", "recipies and lettres"),
)
PAGE = 4096  # bytes

Answers = tuple[list[Any], list[Any]]  # to the tasks, and what there is


class Library:
    """Two folders, of which the first hides skills of the second, and their index."""

    def __init__(self, world: World) -> None:
        self.path = world.home / "library.db"
        self.roots = [str(world.store), str(world.global_store)]
        for number, word in enumerate(WORDS):
            text = f"Work with {word} and {WORDS[number - 1]}."
            body = f"# {word}\n\nHow to cook {word}. {' '.join(WORDS[: number + 1])}\n"
            extra = "metadata: {a: b}\n" if number % 3 == 0 else ""
            text = f"---\nname: {word}\ndescription: {text}\n{extra}---\n{body}"
            world.skill(f"kind{number % 2}/{word}", text)
            if number % 2:
                world.skill(f"kind{number % 2}/{word}", text + "Old.\n", store=world.global_store)
            if number % 4 == 0:
                world.skill(f"copies/{word}", text, store=world.global_store)
        world.skill("broken", "no frontmatter")
        (world.store / "kind0" / "COLLECTION.md").write_text("The first kind.\n")
        time.sleep(0.1)  # a file that has just changed is read again, whatever the index says
        self.sound = self.ask()

    def ask(self) -> Answers:
        """Return the answers to everything, by an index that was just opened."""
        index = SkillIndex(str(self.path))
        folders = [index.folder(root, False) for root in self.roots]
        repositories = [Searchable(f"r{n}", one) for n, one in enumerate(folders)]
        found = [
            [
                (f.id, f.description, f.score, f.source_name, f.also, f.copies)
                for f in index.find(repositories, task, 5)
            ]
            for task in TASKS
        ]
        lists = [
            (
                sorted(
                    (e.path, e.skill_id, e.description, e.metadata, e.diagnostics)
                    for e in look.entries.values()
                ),
                [*look.skills],
                {path: (sorted(d.children), d.collection) for path, d in look.directories.items()},
                look.diagnostics,
            )
            for look in (one.snapshot() for one in folders)
        ]
        assert index.database.persistent
        index.database.close()
        return found, lists

    def restore(self, data: bytes) -> None:
        """Put a file in place of the index."""
        self.path.write_bytes(data)
        for ending in ("-wal", "-shm"):
            Path(f"{self.path}{ending}").unlink(missing_ok=True)

    def check(self, data: bytes, updated: Answers, fresh: Answers) -> None:
        """Check that a damaged index answers each task as it did when it was sound, or as one made anew."""
        self.restore(data)
        found, lists = self.ask()
        assert lists == fresh[1]
        assert all(each in pair for each, *pair in zip(found, updated[0], fresh[0], strict=True))

    def damage(self, positions: Iterable[int]) -> list[int]:
        """Return the positions at which a change of the byte changes an answer."""
        data = self.path.read_bytes()
        wrong = []
        for position in positions:
            value = data[position] ^ (1 << position % 8)
            self.restore(data[:position] + bytes([value]) + data[position + 1 :])
            if self.ask() != self.sound:
                wrong.append(position)
        return wrong


def exchanges(data: bytes) -> Iterator[bytes]:
    """Yield a database again and again, each time with two rows of a page in each other's place."""
    for start in range(0, len(data), PAGE):
        header = start or 100
        kind, count = data[header], int.from_bytes(data[header + 3 : header + 5], "big")
        if kind not in (2, 5, 10, 13):
            continue  # no page of rows
        first = header + (12 if kind in (2, 5) else 8)
        for number in range(count - 1):
            one, other = first + 2 * number, first + 2 * min(number + 1 + number % 5, count - 1)
            new = bytearray(data)
            new[one : one + 2], new[other : other + 2] = data[other : other + 2], data[one : one + 2]
            yield bytes(new)


@pytest.fixture
def library(world: World) -> Library:
    return Library(world)


def test_texts(library: Library) -> None:
    """[D11] a changed letter of a description, a term or a path changes no answer."""
    data = library.path.read_bytes()
    texts = (b"Work with charts", b"kind1/maps", b"garden", b"cook", b"The first kind", b"yes")
    assert library.damage(at.start() + 1 for text in texts for at in list(re.finditer(text, data))[-2:]) == []


@pytest.mark.slow
def test_any_byte(library: Library) -> None:
    """[D11] a changed byte changes neither a description, nor a ranking, nor what there is."""
    data = library.path.read_bytes()
    assert library.damage(sample([n for n, byte in enumerate(data) if byte][::61], 5)) == []


@pytest.mark.slow
def test_order_of_rows(world: World, library: Library) -> None:
    """[D11] where the order of a page is damaged, SQLite finds sound rows that were not asked for."""
    for number in range(3):  # segments, each of which is asked for every term
        world.skill(
            f"later/more{number}", f"---\nname: more{number}\ndescription: Garden maps.\n---\nCook.\n"
        )
        time.sleep(0.1)
        library.ask()
    data, updated = library.path.read_bytes(), library.ask()
    library.path.unlink()
    fresh = library.ask()
    for exchanged in sample(exchanges(data), 6):
        library.check(exchanged, updated, fresh)


@pytest.mark.slow
def test_header(library: Library) -> None:
    """[D11] a file whose header is damaged is made anew, and not left for an index in memory."""
    data = library.path.read_bytes()
    places = [(position, bit) for position in range(100) for bit in (0, 3, 6)]
    for position, bit in sample(places, 10):  # so that each bit has its turn
        value = data[position] ^ 1 << bit
        library.restore(data[:position] + bytes([value]) + data[position + 1 :])
        assert library.ask() == library.sound, position


@pytest.mark.slow
def test_after_a_change(world: World, library: Library) -> None:
    """[D11] an index that is brought up to date is as one that was sound, or was made anew."""
    data = library.path.read_bytes()
    (world.store / "kind0" / "forms" / "SKILL.md").write_text(
        "---\nname: forms\ndescription: Maps.\n---\nCook.\n"
    )
    shutil.rmtree(world.store / "kind1" / "tables")
    time.sleep(0.1)
    updated = library.ask()
    library.path.unlink()
    fresh = library.ask()
    for position in sample([n for n, byte in enumerate(data) if byte][::97], 4):
        value = data[position] ^ 1 << position % 8
        library.check(data[:position] + bytes([value]) + data[position + 1 :], updated, fresh)


@pytest.mark.slow
def test_large_folders(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D11] a folder that is too large to be looked at each time is found in the index alone, and so is which
    of its skills another one hides.
    """
    library = Library(world)
    monkeypatch.setattr(folder, "LARGE", 3)
    monkeypatch.setattr(folder, "SCAN_SHARE", 1e9)
    for roots in (library.roots, library.roots[:1]):
        library.roots = roots
        library.path.unlink()
        library.sound = library.ask()
        data = library.path.read_bytes()
        ids = [at.start() + 3 for at in re.finditer(rb"(kind[01]|copies)/[a-z]+", data)]
        places = [position for position, byte in enumerate(data) if byte]
        assert library.damage(sample([*ids[::2], *places[::94]], 4)) == []
    library.restore(data)
    world.skill("later", "---\nname: later\ndescription: Garden.\n---\n")
    assert "later" in library.ask()[1][0][1], "the time of a directory shows that a skill came"
