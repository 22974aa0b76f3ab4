"""One byte of the skill index is changed: every answer is that of a sound one, which is made anew."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from skillc.index.skills import Searchable, SkillIndex, folder
from tests.conftest import World

WORDS = ["forms", "tables", "charts", "letters", "invoices", "maps", "music", "recipes", "travel", "garden"]
TASKS = (
    "fill in forms",
    "draw charts and maps",
    "how to cook",
    "garden",
    "letters to nowhere zzz",
    "the",
    "gardne",
)


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

    def ask(self) -> tuple[Any, ...]:
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

    def damage(self, positions: Iterable[int]) -> list[int]:
        """Return the positions at which a change of the byte changes an answer."""
        data = self.path.read_bytes()
        wrong = []
        for position in positions:
            value = data[position] ^ (1 << position % 8)
            self.path.write_bytes(data[:position] + bytes([value]) + data[position + 1 :])
            for ending in ("-wal", "-shm"):
                Path(f"{self.path}{ending}").unlink(missing_ok=True)
            if self.ask() != self.sound:
                wrong.append(position)
        return wrong


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
    assert library.damage([n for n, byte in enumerate(data) if byte][::61]) == []


@pytest.mark.slow
def test_large_folder(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D11] a folder that is too large to be looked at each time is found in the index alone."""
    library = Library(world)
    library.roots = library.roots[:1]
    monkeypatch.setattr(folder, "LARGE", 3)
    monkeypatch.setattr(folder, "SCAN_SHARE", 1e9)
    library.path.unlink()
    library.sound = library.ask()
    data = library.path.read_bytes()
    assert library.damage([n for n, byte in enumerate(data) if byte][::47]) == []
