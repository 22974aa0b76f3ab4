"""What finding costs: the index of a large folder beside FTS5 and `find`, searches, and whole processes.

    .venv/bin/python scripts/bench_find.py <venv> [--quick] [--folder <skills>] [--count <n>]

Without a folder, skills are made up: 50,000 (or 2,000 with --quick) of realistic length, with words as
common and as rare as in published ones.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from bench import Bench

SETTLED = 1  # second; files that were written more shortly before they were noted are read once more

# Reads every SKILL.md and inserts its text into FTS5, in one transaction, and nothing else.
YARDSTICK = """
import os, sqlite3, sys
root, database = sys.argv[1:]
connection = sqlite3.connect(database, isolation_level=None)
connection.execute("PRAGMA journal_mode=OFF")
connection.execute("PRAGMA synchronous=OFF")
connection.execute("CREATE VIRTUAL TABLE skills USING fts5(path, text, tokenize='porter unicode61')")
connection.execute("BEGIN")
for directory, _, names in os.walk(root):
    if "SKILL.md" in names:
        path = os.path.join(directory, "SKILL.md")
        with open(path, "rb") as file:
            text = file.read().decode("utf-8", "replace")
        connection.execute("INSERT INTO skills VALUES (?, ?)", (path, text))
connection.execute("COMMIT")
"""

# Brings the index up to date with the folder, however shortly ago it was looked at.
INDEX = """
import sys
from skillc.index.skills import skill_index
skill_index().folder(sys.argv[1], False).refresh(force=True)
"""

LISTS = """
import asyncio, resource, sys
from time import perf_counter
from skillc import FilesystemSkillSource
source = FilesystemSkillSource(sys.argv[1])
for _ in range(int(sys.argv[2])):
    start = perf_counter()
    skills = asyncio.run(source.list())
    print(perf_counter() - start)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""

SEARCHES = """
import sys
from time import perf_counter
from skillc.index.skills import Searchable, skill_index
root, times = sys.argv[1], int(sys.argv[2])
shared = skill_index()
parts = [Searchable("bench", shared.folder(root, False))]
tasks = sys.stdin.read().split("\\0")
shared.find(parts, tasks[0], 10)
for task in tasks * times:
    start = perf_counter()
    shared.find(parts, task, 10)
    print(perf_counter() - start)
"""


def make_up(root: Path, count: int) -> None:
    """Write skills that are made up."""
    for number, text in enumerate(make_texts(count)):
        folder = root / f"part{number // 500:03}" / f"skill-{number:05}"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(text)


def make_texts(count: int) -> Iterator[str]:
    """Yield skills with words as in a natural language: few are everywhere, most are rare."""
    rng = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(rng.choices(letters, k=rng.randint(2, 11))) for _ in range(60_000)]
    weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(words))))

    def some(many: int) -> str:
        return " ".join(rng.choices(words, cum_weights=weights, k=many))

    for number in range(count):
        sections = "\n\n".join(
            f"## {some(3)}\n\n{some(rng.randint(20, 110))}" for _ in range(rng.randint(4, 20))
        )
        head = f"name: skill-{number:05}\ndescription: {some(rng.randint(10, 45))}"
        yield f"---\n{head}\n---\n# {some(3)}\n\n{sections}\n"


def bench_find(bench: Bench, folder: Path | None = None, count: int | None = None) -> None:
    root = folder or bench.root / "many"
    if folder is None:
        make_up(root, count or (2000 if bench.quick else 50_000))
    paths = sorted(root.rglob("SKILL.md"))
    size = sum(path.stat().st_size for path in paths)
    index = Path(bench.env["HOME"]) / ".skillc" / "cache" / "library.db"
    database = bench.root / "fts5.db"
    what = f"{len(paths)} skills"

    def yardstick() -> float:
        database.unlink(missing_ok=True)
        return bench.run(bench.python, "-c", YARDSTICK, str(root), str(database))

    def cold() -> float:
        shutil.rmtree(index.parent, ignore_errors=True)
        return bench.run(bench.python, "-c", INDEX, str(root))

    def found() -> float:
        return bench.run("/usr/bin/find", str(root), "-name", "SKILL.md", "-printf", "%s %T@ %C@\n")

    def again() -> float:
        return bench.run(bench.python, "-c", INDEX, str(root))

    def changed() -> float:
        for path in paths[:: max(1, len(paths) // 100)][:100]:
            path.write_text(path.read_text(errors="replace") + "\nmore\n")
        return again()

    found()
    bench.memory = 0
    ours, theirs = bench.in_turn(1 if bench.quick else 2, cold, yardstick)
    peak = bench.memory
    bench.report(f"cold index, {what} / FTS5", ours, theirs, 1.6)
    print(f"{'peak memory of the largest process':<44} {peak / 1024:>6.0f} MB {'':>10} {'':>7} {'600 MB':>6}")
    stored = index.stat().st_size
    print(
        f"{'size of the index / of the text':<44} {stored / 1e6:>6.0f} MB {size / 1e6:>7.0f} MB "
        f"{stored / size:>7.2f} {0.3:>6.2f}"
    )
    again()
    bench.report("index, nothing changed / find", *bench.in_turn(5, again, found), 1.5)
    bench.report("index, 100 files changed / cold", [changed() for _ in range(3)], ours, 0.05)
    home = Path(bench.env["HOME"])
    (home / ".skillc" / "skills.toml").write_text(
        f'[[repositories]]\nname = "many"\ntype = "filesystem"\npath = "{root}"\n'
    )
    bench.run(bench.skc, "inventory")
    for command in ("inventory", "browse"):
        pair = bench.in_turn(5, lambda command=command: bench.run(bench.skc, command), found)  # type: ignore[misc]
        bench.report(f"skc {command}, warm, {what} / find", *pair, 3.0)
    _store(bench, paths)
    _lists(bench, root, found)
    _searches(bench, root, paths)
    bench.run(bench.skc, "find", "index")
    bare = lambda: bench.run(bench.python, "-c", "pass")  # noqa: E731
    pair = bench.in_turn(20, lambda: bench.run(bench.skc, "find", "merge two files"), bare)
    bench.report("skc find, a short task / bare interpreter", *pair, 3.0)
    _hook(bench, paths)


def _hook(bench: Bench, paths: list[Path]) -> None:
    """`skc hook prompt` with a prompt that a skill fits, with one of a page, and with one that none fits."""
    head = paths[0].read_text(errors="replace").partition("description:")[2].partition("\n---")[0]
    fits = " ".join(head.split()[:12])
    prompts = {
        "a skill fits": fits,
        "a long prompt": f"{fits} {'and so on ' * 20_000}",
        "none fits": "thanks, that works",
    }
    command = (bench.skc, "hook", "prompt", "--agent", "claude")
    files = {}
    for name, prompt in prompts.items():
        files[name] = str(bench.root / f"{name}.json")
        Path(files[name]).write_text(json.dumps({"prompt": prompt, "cwd": str(bench.root)}))
    words = ("hook", "update", "--agent", "claude", "--cwd", str(bench.root), "--first", str(paths[0].parent))
    update = subprocess.Popen(
        (bench.skc, *words), env=bench.env
    )  # which would audit all skills: too much here
    end = time.monotonic() + 600
    try:
        while time.monotonic() < end:
            with open(files["a skill fits"], "rb") as request:
                run = subprocess.run(command, env=bench.env, stdin=request, capture_output=True, check=True)
            if run.stdout:
                break
            time.sleep(1)
    finally:
        update.kill()
        update.wait()
    bare = lambda: bench.run(bench.python, "-c", "pass")  # noqa: E731
    for name, file in files.items():
        pair = bench.in_turn(20, lambda file=file: bench.run(*command, stdin=file), bare)  # type: ignore[misc]
        bench.report(f"skc hook prompt, {name} / bare interpreter", *pair, 3.5)


def _store(bench: Bench, paths: list[Path]) -> None:
    """`skc list` of a home with all of the skills in its store, none of them built."""
    store = Path(bench.env["HOME"]) / ".skillc" / "skills"
    for number, path in enumerate(paths):
        folder = store / f"skill-{number:05}"
        folder.mkdir(parents=True)
        shutil.copyfile(path, folder / "SKILL.md")

    def listed() -> float:
        return bench.run(bench.skc, "list")

    def found() -> float:
        return bench.run("/usr/bin/find", str(store), "-name", "SKILL.md", "-printf", "%s %T@ %C@\n")

    first = listed()
    print(f"{'skc list for the first time':<44} {first * 1e3:>6.0f} ms", flush=True)
    time.sleep(SETTLED)
    listed()
    bench.report(f"skc list, warm, {len(paths)} skills / find", *bench.in_turn(5, listed, found), 5.0)
    shutil.rmtree(store)


def _lists(bench: Bench, root: Path, found: object) -> None:
    """Listed again and again in one process: only the first reads anything."""
    assert callable(found)
    shutil.rmtree(Path(bench.env["HOME"]) / ".skillc" / "cache", ignore_errors=True)
    cold, *times, memory = _run(bench, LISTS, [str(root), "6"], "")
    print(f"{'listed for the first time':<44} {cold * 1e3:>6.0f} ms, {memory:.0f} MB in all", flush=True)
    bench.report("listed again in one process / find", times, [found() for _ in range(5)], 3.0)
    shutil.rmtree(Path(bench.env["HOME"]) / ".skillc" / "cache", ignore_errors=True)
    first = bench.run(bench.skc, "browse")
    print(f"{'skc browse for the first time':<44} {first * 1e3:>6.0f} ms", flush=True)


def _searches(bench: Bench, root: Path, paths: list[Path]) -> None:
    rng = random.Random(2)
    pages, short = [], []
    for path in rng.sample(paths, min(50, len(paths))):
        words = path.read_text(errors="replace").partition("\n---\n")[2].split()
        pages.append(" ".join(words[:400]) or "nothing")
        short.append(" ".join(rng.sample(words, min(4, len(words)))) or "nothing")
    for name, tasks, limits in (("pages", pages, (5, 15)), ("short", short, (2, 8))):
        times = sorted(_run(bench, SEARCHES, [str(root), "3"], "\0".join(tasks)))
        median, late = times[len(times) // 2] * 1e3, times[int(len(times) * 0.95)] * 1e3
        print(
            f"{f'find, {name}: median, p95':<44} {median:>6.2f} ms {late:>7.2f} ms"
            f"  limits {limits[0]} and {limits[1]} ms",
            flush=True,
        )


def _run(bench: Bench, code: str, words: list[str], task: str) -> list[float]:
    command = [bench.python, "-c", code, *words]
    ran = subprocess.run(command, input=task, env=bench.env, stdout=subprocess.PIPE, text=True, check=True)
    return [float(line) for line in ran.stdout.split()]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("venv", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--cpu", action="store_true")  # read by `Bench`
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--count", type=int)
    given = parser.parse_args()
    bench = Bench(given.venv, given.quick)
    try:
        bench_find(bench, given.folder and given.folder.absolute(), given.count)
    finally:
        shutil.rmtree(bench.root)


if __name__ == "__main__":
    main()
