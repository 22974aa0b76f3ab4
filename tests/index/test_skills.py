"""The library's index: what it keeps, how it follows its folders, and that nothing can break it."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from skillc.errors import EmptyQuery
from skillc.index import SETTLED_NS, workers
from skillc.index.skills import batch, folder, scan, score as scoring, tokens as terms
from skillc.index.skills.database import IN_MEMORY, Database, read_note, write_note
from skillc.index.skills.explain import FoundSkill
from skillc.index.skills.find import Scope, Searchable, SkillIndex
from skillc.index.skills.folder import MANY, Folder
from skillc.index.skills.invert import encode_list, posting
from skillc.index.skills.postings import MAX_SEGMENTS, decode_list, read_all_rows, store_lists
from skillc.index.skills.segment import Segment
from skillc.index.skills.tokens import Stemmer
from skillc.index.skills.weights import SkillText, weigh_terms
from tests.support.cases import each
from tests.support.skills import skill


def text(description: str, body: str = "", **fields: str) -> str:
    more = "".join(f"{key}: {value}\n" for key, value in fields.items())
    return f"---\ndescription: {description}\n{more}---\n{body}\n"


class Shelf:
    """A folder and an index of it."""

    def __init__(self, root: Path) -> None:
        self.root = root / "skills"
        self.root.mkdir()
        self.path = root / "cache" / "library.db"
        self.library = SkillIndex(str(self.path))

    def find(
        self, task: str, limit: int = 10, library: SkillIndex | None = None, every: bool = False
    ) -> list[FoundSkill]:
        shared = library or self.library
        parts = [Searchable("shelf", shared.folder(str(self.root), False))]
        return shared.find(parts, task, limit, scope=Scope(every=every))

    def ids(self, task: str, limit: int = 10, every: bool = False) -> list[str]:
        return [found.id for found in self.find(task, limit, every=every)]

    def anew(self) -> SkillIndex:
        """The library as another process sees it."""
        return SkillIndex(str(self.path))


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    made = Shelf(tmp_path)
    skill(made.root, "pdf", text("Fill forms in PDF files", "# PDF\n\n## Forms\n\nAcroForm fields.\n"))
    skill(made.root, "data/sheets", text("Spreadsheets with formulas", "# Sheets\n\n## Pivot\n\nTables.\n"))
    skill(
        made.root,
        "data/charts",
        text("Plot numbers", "# Charts\n\n## Axes\n\nUse a pivot before plotting.\n"),
    )
    return made


def test_finds_by_any_word_and_says_why(shelf: Shelf) -> None:
    """[LIB: SkillEngine trait (revised)] any word may match; results tell terms once each, fields and
    section; of text without spaces, what has matched.
    """
    found = shelf.find("please fill the forms that zebras and unicorns sent")
    assert found[0].id == "pdf"
    assert dict(found[0].matched) == {"forms": ("description", "headings", "body"), "fill": ("description",)}
    assert found[0].section == "Forms"
    assert found[0].read == f"skc show {shelf.root}/pdf --section Forms"
    assert shelf.ids("pivot") == ["data/sheets", "data/charts"]
    assert shelf.find("sheets")[0].matched[0] == ("sheets", ("name", "headings", "body"))
    assert shelf.ids("nothing matches whatsoever") == []
    body = "## 步骤\n\n先读取数据库，再生成报表。 Impôt “forms”.\n"
    skill(shelf.root, "zh", text("生成季度财务报表并检查数据一致性", body))

    def matched(task: str) -> dict[str, tuple[str, ...]]:
        return dict(next(found for found in shelf.find(task) if found.id == "zh").matched)

    assert matched("财务报表") == {"财务报表": ("description", "body")}
    assert set(matched("请生成季度的财务报表，谢谢")) == {"财务报表", "生成季度"}
    assert set(matched("MRI检查")) == {"检查"}
    assert set(matched("无" * 100_000 + "检查数据一")) == {"检查数据一"}
    assert matched("L’IMPÔT des “forms”") == {"impôt": ("body",), "forms": ("body",)}


def test_a_section_that_can_be_shown(shelf: Shelf) -> None:
    """[LIB: SkillEngine trait (revised)] of equal headings `show` takes the first, also of several files:
    what is named can be shown.
    """
    parts = [
        f"### {name}\n\nLook at {name}.\n\n#### Command\n\nRun {name} --now.\n" for name in ("log", "diff")
    ]
    body = "# Tools\n\n{}\n#### COMMAND\n\nTangerine peel.\n\n# Tools\n\nQuince jelly.\n"
    skill(shelf.root, "git", text("Look at changes", body.format("\n".join(parts))))
    assert [shelf.find(task)[0].section for task in ("tangerine peel", "look at the log")] == ["diff", "log"]
    (found,) = shelf.find("quince jelly")
    assert (found.section, found.read) == (None, "skc load git")
    command = f"skc show {shelf.root}/pdf --section Forms"
    (shelf.root / "pdf" / "guide.md").write_text("# Forms\n")
    assert shelf.find("acroform")[0].read == command
    for name in ("README.md", "Notes/more.md"):
        path = shelf.root / "pdf" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("# Forms\n\nAbout this folder.\n")
        assert shelf.find("acroform")[0].read == f"{command} --file SKILL.md"
        shutil.rmtree(path.parent) if "/" in name else path.unlink()


def test_where_words_stand_and_how_many(tmp_path: Path) -> None:
    """[LIB: SkillEngine trait (revised)] a word there counts more than further down, and two words once more
    than one word often.
    """
    shelf = Shelf(tmp_path)
    filler = "Some words that say nothing. " * 15
    skill(shelf.root, "a-body", text("Something", f"# One\n\n{filler}\n\nMarmalade.\n"))
    skill(shelf.root, "b-opening", text("Something", f"# One\n\nMarmalade. {filler}\n"))
    skill(shelf.root, "c-heading", text("Something", f"# Marmalade\n\n{filler}\n"))
    skill(shelf.root, "d-tag", text("Something", f"# One\n\n{filler}\n\nMarmalade.\n", tags="[marmalade]"))
    assert shelf.ids("marmalade") == ["d-tag", "c-heading", "b-opening", "a-body"]
    assert [found.matched[0][1] for found in shelf.find("marmalade")] == [
        ("tags", "body"),
        ("headings", "body"),
        ("body",),
        ("body",),
    ]
    skill(shelf.root, "a-often", text("Something", f"# One\n\n{filler}\n\n{'Marmalade. ' * 5}\n"))
    skill(shelf.root, "b-both", text("Something", f"# One\n\n{filler}\n\nMarmalade with ginger.\n"))
    skill(shelf.root, "c-other", text("Something", f"# One\n\n{filler}\n\nGinger. Ginger.\n"))
    assert shelf.ids("marmalade ginger")[0] == "b-both"


def list_terms(text: str) -> list[str]:
    return b" ".join(Stemmer().stem(terms.split_words(text))).decode().split()


def test_words_of_any_form_and_script() -> None:
    """[D17] [D22] words lose endings, accents and case; without spaces, pairs count; the end of the opening
    cuts none.
    """
    assert list_terms("Migrations MIGRATING migrated") == ["migrat"] * 3
    assert list_terms("Café CAFÉ cafe\u0301") == ["cafe"] * 3
    assert list_terms("查看日志") == ["查看", "看日", "日志"]
    assert list_terms("log文件x") == ["log", "x", "文件"]
    assert list_terms("Привет мир") == ["привет", "мир"]
    assert list_terms("ＰＤＦ — “quoted” → 🎉 done") == ["pdf", "quot", "done"]
    assert list_terms("a" * 33 + " ---  _") == []
    for size in range(290, 310):
        body = ("x" * size + "marmalade 查看日志查看日志").encode()
        stemmer = Stemmer()
        weights = weigh_terms(stemmer, [SkillText("a", "b", body, ())])[0]
        others = {n for n in weights.head_terms if stemmer.vocabulary[n] not in (b"a", b"b")}
        assert others <= set(weights.body_terms)


def name_counts(stemmer: Stemmer, counts: list[dict[int, int]]) -> list[dict[bytes, int]]:
    return [{stemmer.vocabulary[number]: count for number, count in text.items()} for text in counts]


def test_more_words_than_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """[LIB: Existing (updated)] what was forgotten meanwhile is counted all the same."""
    texts = [f"alpha running naïve—words 日志分析 own{chr(97 + n)} " * 2 for n in range(9)]
    monkeypatch.setattr(terms, "MAX_CACHE", 5)
    small, large = Stemmer(), Stemmer()
    lists = [terms.split_words(text.encode()) for text in texts]
    one_by_one = []
    for words in lists:
        small.forget()
        one_by_one += name_counts(small, small.count_terms([words]))
    monkeypatch.undo()
    assert name_counts(large, large.count_terms(lists)) == one_by_one
    assert one_by_one[0] == {term.encode(): 2 for term in list_terms(texts[0])}


@given(st.text())
def test_any_text_has_terms(words: str) -> None:
    """[D22] no text raises, and its terms are terms of themselves."""
    assert all(term and " " not in term for term in list_terms(words))


def test_follows_the_folder(shelf: Shelf) -> None:
    """[LIB: Existing (updated)] what came, changed or went is seen at once, by a new process as well."""
    assert shelf.ids("kubernetes") == []
    skill(shelf.root, "k8s", text("Deploy to Kubernetes"))
    assert shelf.ids("kubernetes") == ["k8s"]
    (shelf.root / "k8s" / "SKILL.md").write_text(text("Brew coffee"))
    assert (shelf.ids("kubernetes"), shelf.ids("coffee")) == ([], ["k8s"])
    (shelf.root / "k8s" / "SKILL.md").unlink()
    assert shelf.ids("coffee") == []
    (shelf.root / "k8s").rename(shelf.root / "empty")
    (shelf.root / "data").rename(shelf.root / "numbers")
    assert [found.id for found in shelf.find("pivot", library=shelf.anew())] == [
        "numbers/sheets",
        "numbers/charts",
    ]
    assert shelf.ids("pivot") == ["numbers/sheets", "numbers/charts"]


def test_unchanged_files_are_not_read_again(shelf: Shelf) -> None:
    """[LIB: Existing (updated)] a rescan costs stat calls: what can't be read any more is still found."""
    old = 1_600_000_000
    for path in [*shelf.root.rglob("SKILL.md"), shelf.root, shelf.root / "data"]:
        os.utime(path, (old, old))
    assert shelf.ids("forms") == ["pdf"]
    rows = "SELECT path, segment, slot FROM skills ORDER BY path"
    before = shelf.library.database.read(lambda execute: execute(rows).fetchall())
    other = shelf.anew()
    assert [found.id for found in shelf.find("forms", library=other)] == ["pdf"]
    skill(shelf.root, "new", text("Something new"))
    shelf.find("forms")
    after = {row[0]: row for row in other.database.read(lambda execute: execute(rows).fetchall())}
    # Files that were written a moment ago are read once more; their places are kept once they have settled.
    assert set(after) == {row[0] for row in before} | {"new/SKILL.md"}


def test_quarantined_skills_are_not_found(shelf: Shelf) -> None:
    """[D25] no description, or two directories for one ID: not found until that is over; the index knows
    them.
    """
    skill(shelf.root, "nameless", "---\nname: nameless\n---\nAcroForm\n")
    skill(shelf.root, "Pdf", text("Other forms"))
    assert shelf.ids("forms") == []
    (shelf.root / "Pdf" / "SKILL.md").unlink()
    assert shelf.ids("forms acroform") == ["pdf"]
    skill(shelf.root, "x/pdf-tools", "no frontmatter")
    folder = shelf.library.folder(str(shelf.root), False)
    listed = folder.snapshot().entries
    assert shelf.ids("forms") == ["pdf"]
    noted = shelf.library.database.read(
        lambda execute: {row[0] for row in execute("SELECT path FROM skills").fetchall()}
    )
    assert noted == set(listed)


def test_limit_and_ties(shelf: Shelf) -> None:
    """[LIB: SkillEngine trait (revised)] equals are in the order of their IDs, whatever was added when."""
    for name in ("t9", "t3", "t5"):
        skill(shelf.root, f"ties/{name}", text("Quantum entanglement"))
        shelf.find("quantum")
    skill(shelf.root, "at1", text("Quantum entanglement"))
    assert shelf.ids("quantum entanglement", every=True) == ["at1", "ties/t3", "ties/t5", "ties/t9"]
    assert shelf.ids("quantum entanglement", 2, every=True) == ["at1", "ties/t3"]


@pytest.mark.slow
def test_more_equals_than_are_looked_at(shelf: Shelf) -> None:
    """[LIB: SkillEngine trait (revised)] of four hundred skills that fit alike, the first by ID are named."""
    for number in random.Random(4).sample(range(400), 400):
        skill(shelf.root, f"c{number % 7}/s{number:03}", text("Quantum entanglement"))
    every = sorted(f"c{number % 7}/s{number:03}" for number in range(400))
    assert shelf.ids("quantum entanglement", every=True) == every[:10]
    skill(shelf.root, "c0/a", text("Quantum entanglement"))
    assert shelf.ids("quantum entanglement", 3, every=True) == ["c0/a", *every[:2]]
    skill(shelf.root, "z", text("Quantum zebra"))
    assert shelf.ids("quantum zebra", 3, every=True) == ["z", "c0/a", every[0]]


@pytest.mark.slow
def test_many_changes_are_merged(shelf: Shelf) -> None:
    """[LIB: Existing (updated)] an index of many small changes finds what a new one finds."""
    rng = random.Random(3)
    words = [f"word{n}" for n in range(300)]
    for number in range(60):
        path = shelf.root / f"s{number % 40:02}"
        path.mkdir(exist_ok=True)
        chosen = " ".join(rng.choices(words, k=12))
        (path / "SKILL.md").write_text(
            text(f"About {chosen}", f"# Title\n\n{' '.join(rng.choices(words, k=300))}\n")
        )
        shelf.find("about")
    segments = shelf.library.database.read(
        lambda execute: execute("SELECT count(*) FROM segments").fetchone()
    )
    assert segments[0] <= MAX_SEGMENTS + 1
    fresh = SkillIndex(IN_MEMORY)
    for task in ("word7 word8 word9", "about word100", " ".join(words[:80])):
        found = [(found.id, found.score, found.confidence) for found in shelf.find(task)]
        assert found == [(f.id, f.score, f.confidence) for f in shelf.find(task, library=fresh)]
        assert len(found) == 10


def packed_list(pairs: Iterable[tuple[int, int]], size: int) -> bytes:
    return encode_list([posting(slot, weight) for slot, weight in pairs], size)


@pytest.mark.slow
@given(st.dictionaries(st.integers(0, 99), st.integers(1, 255)))
def test_lists_are_kept_as_they_are(weights: dict[int, int]) -> None:
    """[LIB: Existing (updated)] packed as slots or as a byte for each, a list comes back."""
    for size in (100, 5000):
        assert dict(decode_list(packed_list(weights.items(), size), size)) == weights


@pytest.mark.slow
@each("shares", [(1.0, 1.0, 1.0, 1.0), (1.0, 0.01, 0.9, 0.01), (0.01, 1.0, 0.01, 1.0)])
def test_scores_are_sums(shares: tuple[float, ...]) -> None:
    """[LIB: SkillEngine trait (revised)] scores are what the lists say; the lowest slot comes first."""
    rng = random.Random(6)
    size, sums = 1000, [0] * 1000
    lists = []
    for share, count in zip(shares, (5, 900, 30, 400), strict=True):
        weights = {slot: rng.randint(1, 255) for slot in rng.sample(range(size), count)}
        lists.append((share, packed_list(weights.items(), size)))
        for slot, weight in weights.items():
            sums[slot] += scoring.weight_table(share)[weight]
    found = [(slot, score) for slot, score in enumerate(sums) if score]
    expected = sorted(found, key=lambda pair: (-pair[1], pair[0]))
    for wanted in (0, 1, 3, 7, 35, 200, 2000):
        assert scoring.top_slots(size, lists, wanted) == expected[:wanted]
    # In two steps: some lists choose slots, the others are added to these alone.
    chosen = dict(scoring.top_slots(size, lists[:3], 50))
    scoring.add_scores(size, lists[3:], chosen)
    assert chosen == {slot: sums[slot] for slot in chosen}


def test_empty_and_huge(shelf: Shelf, tmp_path: Path) -> None:
    """[D22] [D25] no words are E004; a megabyte, or words that are everywhere, are answered; no folder has
    nothing.
    """
    for task in ("", "   ", "--- !!", "🎉"):
        with pytest.raises(EmptyQuery):
            shelf.find(task)
    skill(shelf.root, "articles", text("The use of an article"))
    assert shelf.ids("the of and to") == ["articles"]
    assert shelf.ids("forms " * 200_000) == ["pdf"]
    assert shelf.ids("".join(chr(code) for code in range(0x4E00, 0x9000)) + " forms") == ["pdf"]
    assert shelf.ids("\ud800 forms") == ["pdf"]
    library = SkillIndex(str(tmp_path / "library.db"))
    assert library.find([], "anything", 10) == []
    parts = [Searchable("a", library.folder(str(tmp_path / "missing"), False))]
    assert library.find(parts, "anything", 10) == []


@pytest.mark.parametrize("damage", ["garbage", "cut", "zeros", "other", "directory"])
def test_a_damaged_index_is_made_anew(shelf: Shelf, damage: str) -> None:
    """[D11] whatever stands in the file, the answer is right, and the next process has a good index."""
    assert shelf.ids("forms") == ["pdf"]
    shelf.library.database.close()
    data = shelf.path.read_bytes()
    if damage == "directory":
        shelf.path.unlink()
        shelf.path.mkdir()
    elif damage == "other":
        shelf.path.unlink()
        subprocess.run(
            [
                sys.executable,
                "-c",
                "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); "
                "c.execute('CREATE TABLE skills (x)'); c.execute('PRAGMA user_version=1'); c.commit()",
                shelf.path,
            ],
            check=True,
        )
    else:
        made = {
            "garbage": b"\xff" * 5000,
            "cut": data[: len(data) // 2],
            "zeros": data[:4096] + b"\0" * 40000,
        }
        shelf.path.write_bytes(made[damage])
    for _ in range(2):
        assert [found.id for found in shelf.find("forms", library=shelf.anew())] == ["pdf"]


def test_damage_while_it_is_open(shelf: Shelf) -> None:
    """[D11] damage of an index that is open, or no place for it: everything is found."""
    assert shelf.ids("forms") == ["pdf"]
    for ending in ("", "-wal"):
        path = shelf.path.with_name(shelf.path.name + ending)
        if path.exists():
            path.write_bytes(os.urandom(20_000))
    assert shelf.ids("forms") == ["pdf"]
    assert shelf.ids("forms") == ["pdf"]
    library = SkillIndex("/proc/nowhere/library.db")
    assert [found.id for found in shelf.find("forms", library=library)] == ["pdf"]
    assert not library.database.persistent


def test_others_see_nothing_of_the_index(shelf: Shelf, tmp_path: Path) -> None:
    """[D11] it has texts of private skills; one that an older skc left open is closed."""
    path = tmp_path / "own" / "library.db"
    before = os.umask(0o022)
    try:
        for _ in range(2):
            library = SkillIndex(str(path))
            shelf.find("forms", library=library)
            files = [each for each in path.parent.iterdir() if each.name.startswith("library.db")]
            assert path in files
            assert {each.stat().st_mode & 0o777 for each in files if not each.name.endswith("lock")} == {
                0o600
            }
            library.database.close()
            path.chmod(0o644)
    finally:
        os.umask(before)


@pytest.mark.slow
def test_a_writer_that_is_killed(shelf: Shelf) -> None:
    """[D11] written whole or not at all."""
    for number in range(3 * MANY):
        skill(shelf.root, f"many/s{number}", text(f"Number{number} of many", "word " * 50))
    code = (
        "import sys; from skillc.index.skills import Searchable, SkillIndex\n"
        "library = SkillIndex(sys.argv[1])\n"
        "library.find([Searchable('x', library.folder(sys.argv[2], False))], 'many', 1)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(shelf.path), str(shelf.root)])
    try:
        process.wait(0.4)
    except subprocess.TimeoutExpired:
        process.kill()
    process.wait()
    library = shelf.anew()
    counts = library.database.read(
        lambda execute: execute("SELECT count(*), count(segment) FROM skills").fetchone()
    )
    assert counts in ((0, 0), (3 * MANY + 3, 3 * MANY + 3))
    assert [found.id for found in shelf.find("number599", library=library)] == ["many/s599"]


@pytest.mark.slow
def test_readers_and_a_writer_at_once(shelf: Shelf) -> None:
    """[D11] many processes and threads read while one writes, and all get whole answers."""
    shelf.find("forms")
    code = (
        "import sys; from skillc.index.skills import Searchable, SkillIndex\n"
        "library = SkillIndex(sys.argv[1])\n"
        "for _ in range(30):\n"
        "    parts = [Searchable('x', library.folder(sys.argv[2], False))]\n"
        "    assert library.find(parts, 'forms', 1)[0].id == 'pdf'\n"
    )
    readers = [
        subprocess.Popen([sys.executable, "-c", code, str(shelf.path), str(shelf.root)]) for _ in range(3)
    ]
    failed: list[BaseException] = []

    def ask() -> None:
        try:
            for _ in range(30):
                assert shelf.ids("forms", 1) == ["pdf"]
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(30):
        skill(shelf.root, f"more/s{number}", text(f"Skill {number}"))
        shelf.find("skill")
    for thread in threads:
        thread.join()
    assert [reader.wait() for reader in readers] == [0, 0, 0]
    assert not failed
    assert len(shelf.ids("skill", 100)) == 30


@pytest.mark.slow
def test_readers_of_files_are_processes(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D25] many files are read on all cores, with the same result; a reader that fails is replaced."""
    for number in range(3 * batch.GROUP):
        body = " ".join(f"word{n % (number + 2)} weird{number * n}" for n in range(200))
        skill(shelf.root, f"many/s{number}", text(f"Number{number} of many, naïve 日志", body))
    monkeypatch.setattr(batch, "CHUNK", 40)
    paths = sorted(shelf.root.rglob("SKILL.md"))
    jobs = [(n, str(path), path.parent.name, None) for n, path in enumerate(paths)]

    def read() -> list[object]:
        chunks = batch.read_chunks(jobs, False, True)
        return [(rows, sorted(zip(*lists, strict=True))) for rows, lists in chunks]

    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    here = read()
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    assert read() == here
    monkeypatch.setattr(workers, "_START", "raise SystemExit(1)")
    assert read() == here


def test_readers_that_can_not_be_started(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D25] without other processes, everything is read here."""
    for number in range(batch.PARALLEL_FROM):
        skill(shelf.root, f"many/s{number}", text(f"Number{number} of many"))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(sys, "path", [*sys.path, Path("/nowhere")])
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert shelf.ids("number7") == ["many/s7"]


def test_the_first_may_not_be_used(tmp_path: Path) -> None:
    """[D32] however many better ones are hidden, what is named is the best of those that are not."""
    library = SkillIndex(str(tmp_path / "library.db"))
    for number in range(20):
        skill(tmp_path / "a", f"secret{number:02}", text("zebra"))
    skill(tmp_path / "a", "good", text("zebra hunting"))
    skill(tmp_path / "b", "weak", text("boring " * 30 + "zebra"))
    parts = [Searchable(name, library.folder(str(tmp_path / name), False)) for name in "ab"]
    hidden = [Searchable("a", parts[0].folder, {"good": "good"}), parts[1]]
    for limit in (1, 5):
        allowed = library.find(parts, "zebra", limit, lambda skill_id, needs: "secret" not in skill_id)
        assert [found.id for found in allowed] == ["good", "weak"][:limit]
        assert [found.id for found in library.find(hidden, "zebra", limit)] == ["good", "weak"][:limit]


def test_equals_under_other_names(tmp_path: Path) -> None:
    """[LIB: SkillEngine trait (revised)] equals are in the order of the names that they have here."""
    library = SkillIndex(str(tmp_path / "library.db"))
    for number in range(40):
        skill(tmp_path / "a", f"s{number:02}", text("zebra"))
    names = {f"s{number:02}": f"t{39 - number:02}" for number in range(40)}
    part = Searchable("a", library.folder(str(tmp_path / "a"), False), names)
    found = library.find([part], "zebra", 3, scope=Scope(every=True))
    assert [skill.id for skill in found] == ["t00", "t01", "t02"]


@pytest.mark.slow
def test_counts_do_not_grow(shelf: Shelf) -> None:
    """[LIB: Existing (updated)] however often skills change, as many have a term as there are."""
    for round in range(12):
        for number in range(30):
            body = f"pivot {'pivot ' * (number % 5)} round{round}" + f" filler{number}" * (number % 3)
            path = shelf.root / f"s{number:02}" / "SKILL.md"
            path.parent.mkdir(exist_ok=True)
            path.write_text(text(f"Number {number}", body))
        shelf.find("pivot")
    fresh = shelf.find("pivot", library=SkillIndex(IN_MEMORY))
    found = shelf.find("pivot")
    assert [(skill.id, skill.score) for skill in found] == [(skill.id, skill.score) for skill in fresh]
    assert len(found) == 10


def test_two_that_note_what_they_saw(shelf: Shelf) -> None:
    """[D11] who was slower to write does not take away what another has noted meanwhile."""

    class Slow(Database):
        done = False

        def write(self, change: Callable[[object], object], timeout: float = 1.0) -> object:  # type: ignore[override]
            if not self.done:
                Slow.done = True
                skill(shelf.root, "z", text("A zebra"))
                time.sleep(2 * SETTLED_NS / 1e9)
                assert shelf.ids("zebra") == ["z"]
            return super().write(change, timeout)

    shelf.find("forms")
    other = shelf.anew()
    other.database = Slow(str(shelf.path))
    skill(shelf.root, "y", text("Something else"))
    time.sleep(2 * SETTLED_NS / 1e9)
    shelf.find("something", library=other)
    assert shelf.ids("zebra") == ["z"]
    assert [found.id for found in shelf.find("zebra", library=other)] == ["z"]


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE skills SET description = CAST(x'ff' AS TEXT)",
        "UPDATE skills SET capabilities = 7",
        "UPDATE postings SET head = 7, body = 'x'",
    ],
)
def test_values_that_are_none_of_ours(shelf: Shelf, damage: str) -> None:
    """[D11] an index that SQLite can read and nobody else is made anew."""
    shelf.find("forms")
    connection = sqlite3.connect(shelf.path)
    connection.execute(damage)
    connection.commit()
    connection.close()
    other = shelf.anew()
    assert [found.id for found in shelf.find("forms", library=other)] == ["pdf"]
    assert other.database.persistent


def test_a_database_in_memory() -> None:
    """[D11] it lives as long as it is used; a merge that meets a damaged list has the index made anew."""
    database = Database(IN_MEMORY)
    row = "a", 1, 1, b"x", b"y", b"zz"
    database.write(lambda execute: store_lists(execute, 1, [row]))
    assert database.read(lambda execute: list(read_all_rows(execute, 1))) == [row]
    database.write(lambda execute: execute("UPDATE postings SET head = 7"))
    assert database.write(lambda execute: list(read_all_rows(execute, 1))) is None
    database.write(lambda execute: write_note(execute, "a", "b", 1))
    assert database.read(lambda execute: read_note(execute, "a")) == "b"
    assert not database.persistent


def test_a_question_that_is_cut_off(shelf: Shelf) -> None:
    """[D11] what was not answered is not taken for an answer."""
    shelf.find("forms")
    segment = Segment(1, 3)

    def refuse(*words: object) -> object:
        raise KeyboardInterrupt

    for ask in (segment.counts, segment.lists):
        with pytest.raises(KeyboardInterrupt):
            ask(refuse, ["form"])
    counts = shelf.library.database.read(lambda execute: segment.counts(execute, ["form"]))
    assert counts["form"][0] > 0


def test_precedence_and_duplicates(tmp_path: Path) -> None:
    """[D27] an ID is the first folder's; the same file under another ID is no result of its own."""
    library = SkillIndex(str(tmp_path / "library.db"))
    same = text("Prune roses in spring", "# Roses\n")
    skill(tmp_path, "first/roses", text("Only about thorns"))
    skill(tmp_path, "first/garden/pruning", same)
    skill(tmp_path, "second/roses", same)
    skill(tmp_path, "second/vendor/rose-care", same)
    skill(tmp_path, "third/roses", text("Roses once more"))
    parts = [
        Searchable(name, library.folder(str(tmp_path / name), False)) for name in ("first", "second", "third")
    ]
    found = library.find(parts, "prune roses spring", 10)
    assert [(f.id, f.source_name) for f in found] == [("garden/pruning", "first"), ("roses", "first")]
    assert (found[0].also, found[0].copies) == ((), (("second", "vendor/rose-care"),))
    assert found[1].also == (("second", "roses"), ("third", "roses"))
    assert [
        f.id for f in library.find(parts, "prune", 10, lambda skill_id, needs: skill_id == "garden/pruning")
    ] == ["garden/pruning"]


def test_names_that_are_no_utf8(shelf: Shelf) -> None:
    """[D25] a directory with any name is found."""
    odd = os.path.join(os.fsencode(shelf.root), b"caf\xe9 shop")
    try:
        os.mkdir(odd)
    except OSError:
        pytest.skip("this file system wants UTF-8")
    with open(os.path.join(odd, b"SKILL.md"), "w", encoding="utf-8") as file:
        file.write(text("Roast coffee"))
    for _ in range(2):
        found = shelf.find("coffee", library=shelf.anew())
        assert [os.fsencode(f.directory) for f in found] == [odd]


def test_a_folder_that_went_away(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D27] [LIB: Existing (updated)] what a folder held is not found while it is away; when it is back, it
    is, and nothing is read twice.
    """
    assert shelf.ids("forms") == ["pdf"]
    away = shelf.root.rename(shelf.root.with_name("away"))
    assert shelf.ids("forms") == []
    assert shelf.find("forms", library=shelf.anew()) == []
    away.rename(shelf.root)
    assert shelf.ids("forms") == ["pdf"]
    folder = shelf.library.folder(str(shelf.root), False)
    entries = folder.snapshot().entries
    shelf.root.rename(away)
    assert folder.snapshot().entries == {}
    away.rename(shelf.root)
    monkeypatch.setattr(batch, "read_chunks", None)
    assert folder.snapshot().entries.keys() == entries.keys()


def test_folders_of_the_cache_that_went_are_forgotten(tmp_path: Path) -> None:
    """[LIB: Existing (updated)] each commit of a repository is a folder; of the last nothing is left."""
    library = SkillIndex(str(tmp_path / "cache" / "library.db"))
    roots = [tmp_path / "cache" / "git" / commit for commit in ("one", "two")] + [tmp_path / "elsewhere"]
    tables = ("folders", "skills", "segments", "postings", "directories")

    def rows() -> list[int]:
        return library.database.read(
            lambda execute: [execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables]
        )

    skill(roots[2], "mine", text("Quantum entanglement"))
    skill(roots[0], "theirs", text("Quantum entanglement"))
    for root in (roots[2], roots[0]):
        library.find([Searchable("x", library.folder(str(root), False))], "quantum", 3)
    both = rows()
    shutil.rmtree(roots[0])
    shutil.move(roots[2], tmp_path / "for-now")  # a disk that is not there may come back
    skill(roots[1], "theirs", text("Quantum entanglement"))
    library.find([Searchable("x", library.folder(str(roots[1]), False))], "quantum", 3)
    assert rows() == both
    assert both[0] == 2


def test_nothing_is_lost_to_who_knows_less(shelf: Shelf) -> None:
    """[D25] what one process knows and the index does not, is written with what it writes."""
    skill(shelf.root, "silent", "# no description\n")
    quick = shelf.anew().folder(str(shelf.root), False)
    quick.snapshot()  # which is too little to be kept
    settle()
    quick.snapshot()
    everything = {"pdf", "data/sheets", "silent"}
    assert {e.skill_id for e in folder_of(shelf).snapshot().entries.values()} >= everything
    quick.refresh()
    assert {e.skill_id for e in folder_of(shelf).snapshot().entries.values()} >= everything
    moved = (shelf.root / "data").rename(shelf.root.parent / "data")
    folder_of(shelf).snapshot()  # another process, which forgets
    moved.rename(shelf.root / "data")
    quick.snapshot()
    settle()
    quick.snapshot()
    assert {e.skill_id for e in folder_of(shelf).snapshot().entries.values()} >= everything


def folder_of(shelf: Shelf) -> Folder:
    """The folder as another process sees it."""
    return shelf.anew().folder(str(shelf.root), False)


def settle() -> None:
    """Wait until what changed last is trusted; to set a time in the past would be a change itself."""
    time.sleep(2 * SETTLED_NS / 1e9)


def test_the_end_of_links_is_told_by_all(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D25] a look that was cut short says so each time, in each process, and goes on when it can."""
    for name in ("one", "two", "three"):
        skill(shelf.root, f"deep/{name}", text(f"Skill {name}"))
    old = time.time() - 60
    for path in (shelf.root / "deep", shelf.root):
        os.utime(path, (old, old))
    monkeypatch.setattr(scan, "MAX_DIRECTORIES", 4)
    for _ in range(2):
        library = shelf.anew()
        shelf.find("skill", library=library)
        (told,) = library.folder(str(shelf.root), False).snapshot().diagnostics
        assert told == ("", ("E999", "error", "over 4 directories; the rest was not looked at"))
    monkeypatch.setattr(scan, "MAX_DIRECTORIES", 100)
    library = shelf.anew()
    assert len(shelf.find("skill", library=library)) == 3
    assert library.folder(str(shelf.root), False).snapshot().diagnostics == []


def test_a_pipe_in_place_of_a_file(shelf: Shelf) -> None:
    """[D26] what is no file is not opened, which would wait for ever; nor when it was one before."""
    words = shelf.root / "data" / "COLLECTION.md"
    words.write_text("Data\n")
    folder = shelf.library.folder(str(shelf.root), False)
    assert folder.snapshot().directories["data"].collection == "Data"
    words.unlink()
    os.mkfifo(words)
    (shelf.root / "pdf" / "SKILL.md").unlink()
    os.mkfifo(shelf.root / "pdf" / "SKILL.md")
    for snapshot in (folder.snapshot(), shelf.anew().folder(str(shelf.root), False).snapshot()):
        assert snapshot.directories["data"].collection == ""
        assert "pdf" not in snapshot.skills


def test_a_folder_that_hangs(shelf: Shelf) -> None:
    """[D27] while somebody waits for one folder, the others are listed and searched."""
    other = shelf.library.folder(str(shelf.root.parent / "other"), False)
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.extend(shelf.ids("forms")), daemon=True)
    with other._lock:
        thread.start()
        thread.join(60)
    assert found == ["pdf"]


def test_how_far_it_is(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """[LIB: Existing (updated)] who waits for a large folder is told how many files are read."""
    monkeypatch.setattr(folder, "LARGE", 9)
    monkeypatch.setattr(batch, "CHUNK", 10)
    for number in range(25):
        skill(shelf.root, f"many/s{number}", text("One of many"))
    told: list[tuple[str, int, int]] = []
    shelf.library.database.on_progress = lambda *how_far: told.append(how_far)
    shelf.find("forms")
    assert told == [(str(shelf.root), done, 28) for done in (0, 10, 19, 28)]
    shelf.find("forms")
    assert len(told) == 4


@pytest.mark.slow
def test_after_a_fork(shelf: Shelf, tmp_path: Path) -> None:
    """[D33] a process that was forked has a connection of its own."""
    code = (
        "import asyncio, os, sys; from skillc import FilesystemSkillSource, SyncSkillEngine\n"
        "engine = SyncSkillEngine(FilesystemSkillSource(sys.argv[1]))\n"
        "ids = lambda: [found.id for found in engine.find('forms')]\n"
        "assert ids() == ['pdf']\n"
        "from skillc.index.skills import skill_index\n"
        "mine = skill_index()\n"
        "if (child := os.fork()) == 0:\n"
        "    os._exit(0 if ids() == ['pdf'] and skill_index() is not mine else 1)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert ids() == ['pdf'] and skill_index() is mine\n"
    )
    env = os.environ | {"SKILLC_HOME": str(tmp_path / "home")}
    subprocess.run([sys.executable, "-c", code, str(shelf.root)], check=True, env=env)


# Folders that take longer than their time


def test_a_search_ends_with_its_time(shelf: Shelf) -> None:
    """[D27] a search indexes what it can read in time and finds that; each next one gets further."""
    for number in range(40):
        skill(shelf.root, f"extra/skill-{number:02}", text(f"Numbered {number:02}", f"# Zebra {number}\n"))
    counts, found = [], []
    for _ in range(3):
        library = shelf.anew()
        shelf_folder = library.folder(str(shelf.root), False)
        part = Searchable("shelf", shelf_folder, None, 0.0)
        found.append({result.id for result in library.find([part], "zebra", 100)})
        counts.append(len(shelf_folder.snapshot(until=0).skills))
        assert "skills were read in time" in shelf_folder.partial
    assert 0 < counts[0] < counts[1] < counts[2] < 43
    assert found[0] <= found[1] <= found[2]
    library = shelf.anew()
    part = Searchable("shelf", library.folder(str(shelf.root), False), None, 60.0)
    assert len(library.find([part], "zebra", 100)) == 40
    assert part.folder.partial == ""


def test_slots_after_a_search_that_ended(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D27] what was read of many files in time is found under the right names."""
    monkeypatch.setattr(batch, "PARALLEL_FROM", 10)  # every second file, then the others
    monkeypatch.setattr(batch, "can_spawn", lambda: False)
    for number in range(40):
        skill(shelf.root, f"extra/skill-{number:02}", text(f"Only word{number:02}", f"# Body{number:02}\n"))
    clock = iter(range(10_000))
    monkeypatch.setattr(batch, "time", lambda: float(next(clock)))
    shelf_folder = shelf.library.folder(str(shelf.root), False)
    with monkeypatch.context() as patch:
        patch.setattr(folder, "time", lambda: 15.0 - folder.READ_SHARE)  # reading ends at 15
        assert shelf_folder.refresh(time_out=1.0) is not None
    with shelf_folder._lock:
        ids = sorted(shelf_folder.snapshot(until=0).skills)
    read = [skill_id for skill_id in ids if skill_id.startswith("extra/")]
    assert 3 < len(read) < 40
    for skill_id in read[:-1]:
        word = f"word{skill_id[-2:]}"
        assert shelf.library.find([Searchable("shelf", shelf_folder, None, 0.0)], word, 1)[0].id == skill_id


def test_a_changed_file_that_was_not_read_is_told(shelf: Shelf) -> None:
    """[D27] a folder whose changed files were not read in time is served in part, too."""
    shelf_folder = shelf.library.folder(str(shelf.root), False)
    shelf_folder.snapshot()
    for name in ("pdf", "data/sheets", "data/charts"):
        (shelf.root / name / "SKILL.md").write_text(text("Changed, and longer than before"))
    assert shelf_folder.snapshot(until=0).partial == "1 of 3 skills were read in time"
    assert shelf_folder.snapshot().partial == ""


_HOLD = """
import sys
from skillc.atomic import Lock
with Lock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_search_does_not_wait_for_ever(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D27] while another process reads a large folder, a search ends with its time and says so."""
    monkeypatch.setattr(folder, "MANY", 5)  # so few that a busy machine sees them all in half of the time
    for number in range(10):
        skill(shelf.root, f"extra/skill-{number}", text("Zebra"))
    shelf.path.parent.mkdir()
    command = [sys.executable, "-c", _HOLD, f"{shelf.path}.lock"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        part = Searchable("shelf", shelf.library.folder(str(shelf.root), False), None, 0.2)
        assert shelf.library.find([part], "zebra", 1) == []
        assert part.folder.partial == "another process is still reading it"
        other.communicate()
    assert len(shelf.find("zebra", 500, every=True)) == 10
