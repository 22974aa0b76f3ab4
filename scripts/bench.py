"""The benchmarks: whole processes from an installed wheel beside a yardstick, as a table of ratios.

    scripts/bench [--quick] [--cpu]

A ratio is the median time of ours over the median of the yardstick, both run in turn, so that a
noisy machine disturbs them alike. `limit` is what is promised.

With `--cpu`, a process counts by its processor time, with that of the processes it waited for: a busy
machine disturbs it less. Work on several cores counts whole, and waiting for the disk does not, so that
limits of builds and imports do not hold for it.
"""

from __future__ import annotations

import marshal
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

FILES = 2000
SECTIONS = 10  # a file

# Reads, hashes and inserts the same text that the index holds, in one transaction, and nothing else.
YARDSTICK = """
import hashlib, marshal, os, sqlite3, sys
rows, root, database = sys.argv[1:]
connection = sqlite3.connect(database, isolation_level=None)
connection.execute("PRAGMA journal_mode=OFF")
connection.execute("PRAGMA synchronous=OFF")
options = "file, section, content, tokenize='porter unicode61'"
connection.execute(f"CREATE VIRTUAL TABLE sections USING fts5({options})")
connection.execute("BEGIN")
with open(rows, "rb") as file:
    plan = marshal.load(file)
for name, sections in plan:
    with open(os.path.join(root, name), "rb") as file:
        data = file.read()
    hashlib.sha256(data).hexdigest()
    connection.executemany(
        "INSERT INTO sections VALUES (?, ?, ?)",
        [(name, title, data[start:end].decode()) for title, start, end in sections],
    )
connection.execute("COMMIT")
"""


class Bench:
    """A place to measure in, and the rows of the table."""

    def __init__(self, venv: Path, quick: bool) -> None:
        self.python = str((venv / "bin" / "python").absolute())
        self.skc = str((venv / "bin" / "skc").absolute())
        self.quick = quick
        self.by_processor = "--cpu" in sys.argv
        self.root = Path(tempfile.mkdtemp(prefix="skillc-bench-"))
        self.env = {"HOME": str(self.root / "home"), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        self.memory = 0
        (self.root / "home").mkdir()
        print(f"{'what':<44} {'ours':>9} {'yardstick':>10} {'ratio':>7} {'limit':>6}")

    def run(self, *command: str, stdin: str = os.devnull) -> float:
        """Seconds that a process takes; its peak memory is kept if it is the highest."""
        start = time.perf_counter()
        child = os.posix_spawn(
            command[0],
            command,
            self.env,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
            ],
        )
        _, status, usage = os.wait4(child, 0)
        seconds = time.perf_counter() - start
        if status:
            sys.exit(f"failed: {' '.join(command)}")
        self.memory = max(self.memory, usage.ru_maxrss)
        return usage.ru_utime + usage.ru_stime if self.by_processor else seconds

    def read(self, *command: str) -> str:
        """Return what a process prints."""
        return subprocess.run(command, env=self.env, capture_output=True, text=True, check=True).stdout

    def report(self, what: str, ours: Sequence[float], yardstick: Sequence[float], limit: float) -> None:
        ratio = statistics.median(ours) / statistics.median(yardstick)
        verdict = "" if ratio <= limit else "  OVER"
        mine, theirs = statistics.median(ours) * 1e3, statistics.median(yardstick) * 1e3
        digits = 1 if theirs >= 1 else 3
        times = f"{mine:>6.{digits}f} ms {theirs:>7.{digits}f} ms"
        print(f"{what:<44} {times} {ratio:>7.2f} {limit:>6.2f}{verdict}", flush=True)

    def in_turn(
        self, times: int, ours: Callable[[], float], yardstick: Callable[[], float]
    ) -> tuple[list[float], list[float]]:
        pairs = [(ours(), yardstick()) for _ in range(times)]
        return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def large_skill(root: Path) -> list[tuple[str, list[tuple[str, int, int]]]]:
    """2,000 files with 20,000 sections, and the rows that an index of them holds."""
    rng = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(rng.choices(letters, k=rng.randint(2, 10))) for _ in range(8000)]
    plan = []
    for number in range(FILES):
        name = "SKILL.md" if not number else f"references/part{number // 50:02}/document{number:04}.md"
        front = "---\nname: large\ndescription: A large skill\n---\n" if not number else ""
        text, starts = front, []
        for section in range(SECTIONS):
            level = 1 if not section else rng.choice((2, 2, 3))
            title = " ".join(rng.choices(words, k=4))
            starts.append((level, title, len(text)))
            prose = "\n\n".join(" ".join(rng.choices(words, k=40)) + ", **bold**, `code`." for _ in range(2))
            items = "\n".join("- " + " ".join(rng.choices(words, k=8)) for _ in range(2))
            text += f"{'#' * level} {title}\n\n{prose}\n\n{items}\n\n"
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        plan.append(
            (name, [(title, start, _end(starts, n, len(text))) for n, (_, title, start) in enumerate(starts)])
        )
    return plan


def _end(starts: list[tuple[int, str, int]], number: int, length: int) -> int:
    """Where a section ends: at the next heading of its level or a higher one."""
    level = starts[number][0]
    return next((start for other, _, start in starts[number + 1 :] if other <= level), length)


def bench_start(bench: Bench) -> None:
    times = 10 if bench.quick else 60
    bare = lambda: bench.run(bench.python, "-c", "pass")  # noqa: E731
    bench.report(
        "skc --version / bare interpreter",
        *bench.in_turn(times, lambda: bench.run(bench.skc, "--version"), bare),
        1.3,
    )
    names = bench.read(bench.python, "-c", "from skillc.cli.summaries import NAMES; print(*NAMES)").split()
    slowest = max(names, key=lambda name: min(bench.run(bench.skc, name, "--help") for _ in range(3)))
    for words in (("--help",), (slowest, "--help")):  # of the commands, the one whose help takes longest
        bench.report(
            f"skc {' '.join(words)} / bare interpreter",
            *bench.in_turn(times, lambda words=words: bench.run(bench.skc, *words), bare),  # type: ignore[misc]
            3.0,
        )
    skill = bench.root / "pdf"
    write_skill(skill)
    bench.report(
        "skc lint of a small skill / bare interpreter",
        *bench.in_turn(times, lambda: bench.run(bench.skc, "lint", str(skill)), bare),
        5.0,
    )


def write_skill(root: Path) -> None:
    """Write a small skill as people write them: a few sections, a link, a script, metadata, a dash."""
    (root / "references").mkdir(parents=True)
    (root / "scripts").mkdir()
    (root / "scripts" / "fill.py").write_text("print('filled')\n")
    (root / "references" / "forms.md").write_text("# Forms\n\n## Fields\n\nText fields come first.\n")
    (root / "SKILL.md").write_text(
        "---\nname: pdf\ndescription: >-\n  Fill in, merge and split PDF files.\n"
        "  Use when the user works with PDF files.\nmetadata:\n  author: me\n---\n\n# PDF\n\n## Forms\n\n"
        "Run `python scripts/fill.py` \N{EM DASH} see [the reference](references/forms.md#fields).\n\n"
        "## Merge\n\nUse `pdfunite` for two files.\n"
    )


def bench_build(bench: Bench) -> None:
    source = Path(bench.env["HOME"]) / ".skillc" / "skills" / "large"
    plan = bench.root / "plan"
    plan.write_bytes(marshal.dumps(large_skill(source)))
    database = bench.root / "yardstick.db"

    def yardstick() -> float:
        database.unlink(missing_ok=True)
        return bench.run(bench.python, "-c", YARDSTICK, str(plan), str(source), str(database))

    def full() -> float:
        shutil.rmtree(Path(bench.env["HOME"]) / ".skillc" / "runtime", ignore_errors=True)
        return bench.run(bench.skc, "build", "large")

    def touched() -> float:
        path = source / "references" / "part07" / "document0377.md"
        path.write_text(path.read_text() + f"\n## Added\n\nmore text {time.time_ns()}\n")
        return bench.run(bench.skc, "build", "large")

    yardstick()
    bench.memory = 0
    ours, theirs = bench.in_turn(2 if bench.quick else 5, full, yardstick)
    peak = bench.memory
    bench.report("full build, 2,000 files, 20,000 sections", ours, theirs, 2.0)
    bench.run(bench.skc, "build", "large")
    bench.report("one file touched", [touched() for _ in range(3 if bench.quick else 9)], theirs, 0.10)
    unchanged = [bench.run(bench.skc, "build", "large") for _ in range(5 if bench.quick else 15)]
    bench.report("nothing changed", unchanged, theirs, 0.05)
    print(f"{'peak memory of the full build':<44} {peak / 1024:>6.1f} MB {'':>10} {'':>7} {'300 MB':>6}")


def main() -> None:
    from bench_find import bench_find  # here: they import this module
    from bench_import import bench_import
    from bench_run import bench_run
    from bench_search import bench_reading, bench_search
    from bench_stats import bench_stats

    bench = Bench(Path(sys.argv[1]), "--quick" in sys.argv)
    try:
        bench_start(bench)
        bench_reading(bench)
        bench_build(bench)
        bench_import(bench)
        bench_search(bench)
        bench_stats(bench)
        bench_run(bench)
        bench_find(bench, count=20_000)
    finally:
        shutil.rmtree(bench.root, ignore_errors=True)  # what hooks started may still write there


if __name__ == "__main__":
    main()
