"""Copies and near-copies of a skill are one result, however they came to be in the index."""

from __future__ import annotations

import itertools
import random
import shutil
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from skillc.index.skills import FoundSkill, FoundSkills, Scope, Searchable, SkillIndex
from skillc.index.skills.database import IN_MEMORY
from skillc.index.skills.near_duplicates import ALIKE, are_alike, hash_term, make_sketch
from skillc.library import format_results
from skillc.library.sources.virtual import MemoryFolder
from tests.support.skills import skill

WORDS = [f"{a}{b}{c}" for a, b, c in itertools.product("bdfgklmn", "aeiou", "prstvz")]


def page(seed: int, changes: int = 0, description: str = "Prune roses in spring", name: str = "") -> str:
    """A skill of about two hundred words, of which some are changed."""
    rng = random.Random(seed)
    words = rng.sample(WORDS, 200)
    for number in range(changes):
        words[number] = f"changed{number}"
    body = "\n\n".join(
        f"## Part {n}\n\n{' '.join(words[20 * n : 20 * n + 20])} zebra roses." for n in range(10)
    )
    field = f"name: {name}\n" if name else ""
    return f"---\n{field}description: {description}\n---\n# Title\n\n{body}\n"


class Shelves:
    """Three folders in order of precedence, and their index."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / "cache" / "library.db"
        self.index = SkillIndex(str(self.path))
        for name in ("one", "two", "three"):
            (root / name).mkdir()

    def put(self, place: str, text: str) -> None:
        path = self.root / place / "SKILL.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def find(
        self, task: str = "zebra roses", index: SkillIndex | None = None, every: bool = False
    ) -> list[FoundSkill]:
        return (index or self.index).find(self.parts(index), task, 100, scope=Scope(every=every))

    def parts(self, index: SkillIndex | None = None) -> list[Searchable]:
        shared = index or self.index
        return [Searchable(n, shared.folder(str(self.root / n), False)) for n in ("one", "two", "three")]

    def groups(self, index: SkillIndex | None = None) -> list[list[str]]:
        """Each result as the places of the skill and its copies."""
        return sorted(
            [f"{name}/{skill_id}" for name, skill_id in ((found.source_name, found.id), *found.copies)]
            for found in self.find(index=index)
        )


@pytest.fixture
def shelves(tmp_path: Path) -> Shelves:
    return Shelves(tmp_path)


def test_near_copies_are_one_result(shelves: Shelves) -> None:
    """[LIB: SkillEngine trait (revised)] the first by precedence; the others are named, all with `every`."""
    shelves.put("two/garden/roses", page(1))
    shelves.put("one/vendor/roses", page(1, 6, "Roses: how to prune them"))
    shelves.put("three/rose-care", page(1, 3))
    shelves.put("two/copies/rose-care-2", page(1))
    shelves.put("two/lilies", page(2, description="Lilies"))
    roses, lilies = shelves.find("prune roses zebra")
    assert (roses.id, roses.source_name) == ("vendor/roses", "one")
    assert roses.copies == (("two", "copies/rose-care-2"), ("two", "garden/roses"), ("three", "rose-care"))
    assert (lilies.id, lilies.copies) == ("lilies", ())
    assert roses.as_json()["copies"][0] == {"id": "copies/rose-care-2", "source_name": "two"}
    lines = list(format_results(FoundSkills([roses])))
    assert "  and 3 copies in two: copies/rose-care-2, garden/roses; three: rose-care" in lines
    everything = shelves.find("prune roses zebra", every=True)
    assert len(everything) == 5
    assert all(found.copies == () for found in everything)


def test_a_near_copy_without_the_words_of_the_task(shelves: Shelves) -> None:
    """[LIB: SkillEngine trait (revised)] the first by precedence that has some; the others are its copies."""
    shelves.put("one/roses", page(1))
    shelves.put("two/more/roses", page(1) + "\nTangerine peel.\n")
    shelves.put("three/most/roses", page(1) + "\nTangerine, tangerine peel.\n")
    (found,) = shelves.find("tangerine")
    assert (found.id, found.source_name) == ("more/roses", "two")
    assert found.copies == (("one", "roses"), ("three", "most/roses"))
    assert [word for word, _ in found.matched] == ["tangerine"]
    (found,) = shelves.find("zebra roses")
    assert (found.id, found.source_name) == ("roses", "one")


def test_other_skills_that_look_alike(shelves: Shelves) -> None:
    """[LIB: SkillEngine trait (revised)] nearly the same text for another product, the same name, or the same
    description is another skill.
    """
    for product in ("airtable", "asana", "bugsnag"):
        text = page(3, description=f"Automate {product} with zebra").replace("# Title", f"# {product}")
        shelves.put(f"one/{product}-automation", text)
    assert len(shelves.find()) == 3
    shelves.put("one/a/roses", page(4, description="Roses of one kind"))
    shelves.put("one/b/roses", page(5, description="Roses of another kind"))
    shelves.put("two/c", page(6, description="Roses of one kind"))
    assert [found.copies for found in shelves.find()] == [()] * 6


def test_the_same_body_under_another_name(shelves: Shelves) -> None:
    """[LIB: SkillEngine trait (revised)] is a copy, with any description, unless it is a few words."""
    shelves.put("one/roses", page(7, description="Prune roses"))
    shelves.put("two/shrubs", page(7, description="Anything that grows, in tangerine pots").rstrip())
    shelves.put("one/short", "---\ndescription: Zebra\n---\nSee the roses.\n")
    shelves.put("two/brief", "---\ndescription: Roses\n---\nSee the roses.\n")
    assert shelves.groups() == [["one/roses", "two/shrubs"], ["one/short"], ["two/brief"]]
    (found,) = shelves.find("tangerine")  # which only the second one has
    assert (found.id, found.copies) == ("shrubs", (("one", "roses"),))


def test_a_copy_that_is_shadowed(shelves: Shelves) -> None:
    """[D27] a copy under the same ID in another repository is a copy; other text under that ID is not."""
    for name in ("one", "two"):
        shelves.put(f"{name}/roses", page(1))
    shelves.put("three/roses", page(9))
    (found,) = shelves.find()
    assert found.also == (("two", "roses"), ("three", "roses"))
    assert found.copies == (("two", "roses"),)
    lines = list(format_results(FoundSkills([found])))
    assert "  and 1 copy in two: roses" in lines
    assert "  also: roses (three)" in lines


def test_many_copies_do_not_fill_the_list(shelves: Shelves) -> None:
    """[LIB: SkillEngine trait (revised)] five results are five skills, whatever was copied how often."""
    for number in range(100):
        shelves.put(f"one/copies/c{number:03}", page(1))
    for number in range(6):
        shelves.put(f"two/other{number}", page(10 + number, description=f"About {WORDS[number]}"))
    found = shelves.index.find(shelves.parts(), "prune roses zebra", 5)
    assert found[0].id == "copies/c000"
    assert len({f.id for f in found}) == 5
    assert len(found[0].copies) == 99
    text = "\n".join(format_results(FoundSkills(found[:1])))
    assert "and 99 copies in one: copies/c001, " in text
    assert "; 91 more" in text


def test_a_link_between_two_groups_goes(shelves: Shelves) -> None:
    """[LIB: Existing (updated)] skills that were twins of the same third one alone are apart without it."""
    texts = [page(8, changes) for changes in (0, 12, 24)]
    for name, text in zip("abc", texts, strict=True):
        shelves.put(f"one/{name}/roses", text)
    assert shelves.groups() == [["one/a/roses", "one/b/roses", "one/c/roses"]]
    shutil.rmtree(shelves.root / "one" / "b")
    assert shelves.groups() == [["one/a/roses"], ["one/c/roses"]]


@pytest.mark.slow
def test_any_history_gives_the_same_groups(shelves: Shelves) -> None:
    """[LIB: Existing (updated)] after any changes, in any process, groups are those of an index that was made
    at once.
    """
    rng = random.Random(7)
    for number in range(60):
        place = shelves.root / rng.choice(("one", "two", "three")) / rng.choice("abcdefgh")
        if place.exists() and rng.random() < 0.4:
            shutil.rmtree(place)
        else:
            text = page(rng.randrange(3), rng.choice((0, 0, 8, 14)), rng.choice(("Roses", "Zebra")))
            shelves.put(f"{place.parent.name}/{place.name}", text)
        if rng.random() < 0.6:
            shelves.find()
        if number < 9 or number == 59:
            fresh = shelves.groups(SkillIndex(IN_MEMORY))
            for index in (shelves.index, SkillIndex(str(shelves.path))):
                assert sorted(map(sorted, shelves.groups(index))) == sorted(map(sorted, fresh))
    assert len(fresh) == 3


def test_what_may_not_be_used_is_no_copy(shelves: Shelves) -> None:
    """[D32] a copy that an agent may not use is neither shown nor named; the next one is the result."""
    for name in ("one/a", "two/b", "three/c"):
        shelves.put(name, page(1))
    parts = shelves.parts()
    (found,) = shelves.index.find(parts, "roses", 5, lambda skill_id, needs: skill_id != "a")
    assert (found.id, found.copies) == ("b", (("three", "c"),))
    names: list[dict[str, str]] = [{"a": "a"}, {}, {"c": "x/c"}]
    hidden = [part.rename(name) for part, name in zip(parts, names, strict=True)]
    (found,) = shelves.index.find(hidden, "roses", 5)
    assert (found.id, found.copies) == ("a", (("three", "x/c"),))


def test_copies_in_memory(shelves: Shelves) -> None:
    """[LIB: SkillSource trait (revised)] a skill of a program is a copy of one in a folder, too."""
    shelves.put("one/roses", page(1))
    memory = MemoryFolder(shelves.index)
    body = page(1).partition("---\n#")[2]
    roses = "remote/roses", "roses", "Other words", (), (), f"#{body}"
    memory.replace([roses, ("x", "x", "Zebra", (), (), None)])
    found = shelves.index.find([Searchable("program", memory), shelves.parts()[0]], "zebra roses", 5)
    assert {(f.source_name, f.id, f.copies) for f in found} == {
        ("program", "remote/roses", (("one", "roses"),)),
        ("program", "x", ()),
    }


def test_a_repository_of_the_cache_that_went(shelves: Shelves) -> None:
    """[LIB: Existing (updated)] the copies in a commit that is gone are forgotten with it."""
    old, new = (shelves.path.parent / "git" / commit for commit in ("old", "new"))
    skill(old, "b", page(1))
    shelves.put("one/a", page(1))

    def copies(*roots: Path) -> list[tuple[tuple[str, str], ...]]:
        parts = [Searchable(root.name, shelves.index.folder(str(root), False)) for root in roots]
        return [found.copies for found in shelves.index.find(parts, "roses", 5)]

    assert copies(shelves.root / "one", old) == [(("old", "b"),)]
    shutil.rmtree(old)
    skill(new, "c", page(1))
    assert copies(shelves.root / "one", new) == [(("new", "c"),)]


@pytest.mark.parametrize(
    "damage",
    [
        *("UPDATE skills SET twins = 2 WHERE twins = 1", "UPDATE skills SET twins = NULL"),
        *("UPDATE skills SET sketch = zeroblob(64)", "UPDATE twins SET members = '1 3'"),
        *("DELETE FROM twins", "UPDATE kin SET key = key + 1 WHERE key > 0"),
        *("DELETE FROM kin WHERE key > 0", "DELETE FROM kin"),
    ],
)
def test_damage(shelves: Shelves, damage: str) -> None:
    """[D11] whatever is wrong with groups, the answer after the next change is that of a sound index."""
    for name in ("one/a", "two/b", "three/c"):
        shelves.put(name, page(1))
    assert shelves.groups() == [["one/a", "two/b", "three/c"]]
    shelves.index.database.close()
    connection = sqlite3.connect(shelves.path)
    connection.execute(damage)
    connection.commit()
    connection.close()
    shelves.put("three/d", page(1))
    other = SkillIndex(str(shelves.path))
    assert shelves.groups(other) == [["one/a", "two/b", "three/c", "three/d"]]
    assert other.database.persistent


def sketch_of(terms: Iterable[bytes]) -> bytes:
    return make_sketch(map(hash_term, terms))


@given(st.sets(st.binary(min_size=1, max_size=6)), st.sets(st.binary(min_size=1, max_size=6)))
def test_sketches(first: set[bytes], second: set[bytes]) -> None:
    """[LIB: Existing (updated)] the order of words does not matter; few words are never alike."""
    assert sketch_of(sorted(first)) == sketch_of(sorted(first, reverse=True))
    assert are_alike(sketch_of(first), sketch_of(second)) == are_alike(sketch_of(second), sketch_of(first))
    assert not are_alike(sketch_of(sorted(first)[:10]), sketch_of(sorted(first)[:10]))


def test_how_alike_texts_are() -> None:
    """[LIB: Existing (updated)] of texts well above and below the limit, almost all are told apart."""
    rng = random.Random(2)
    right = 0
    for _ in range(200):
        words = [rng.randbytes(5) for _ in range(300)]
        share = rng.choice((ALIKE - 0.15, ALIKE + 0.1))
        common = round(600 * share / (1 + share))  # of two texts with 300 words each
        other = words[:common] + [rng.randbytes(5) for _ in range(300 - common)]
        right += are_alike(sketch_of(words), sketch_of(other)) == (share > ALIKE)
    assert right > 190
