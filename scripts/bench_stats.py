"""What `stats` costs on a log that has grown for three years, beside counting its rows with raw sqlite3.

    bench_stats(bench)    every grouping, with and without filters, as whole processes

Called from bench.py. `.venv/bin/python scripts/bench_stats.py <venv> [--quick]` runs it alone.
"""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench import Bench

ROWS, QUICK_ROWS = 10_000_000, 200_000
SECTIONS, FILES, PROJECTS, QUERIES = 300, 40, 40, 5000
FIRST, SECONDS = 1_669_852_800, 3 * 365 * 86_400  # from 2022-12-01 on
COMMANDS = {"show": 45, "search": 20, "open": 15, "outline": 12, "sources": 8}
GROUPS = ("summary", "sections", "files", "commands", "projects", "errors", "search")
FILTERS = {
    "": (),
    "a period": ("--since", "2023-06-07T11:12:13Z", "--until", "2025-09-10T08:00:00Z"),
    "a project": ("--project", "/home/user/project-07"),
    "all projects": ("--project", "/home/user", "--since", "2023-06-07T11:12:13Z"),
}

COUNT = (
    "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('SELECT count(*) FROM access_log').fetchone()"
)
ADOPT = "import sys; from skillc.usage import schema; schema.open_log(sys.argv[1]).close()"


def rows(count: int) -> Iterator[tuple[str | None, ...]]:
    """Accesses spread evenly over three years, sections and projects; some queries come often."""
    rng = random.Random(1)
    numbers = range(SECTIONS)
    asked = {
        "show": [json.dumps({"section": f"Section {n}", "file": f"part{n % FILES}.md"}) for n in numbers],
        "search": [json.dumps({"query": f"how to do {n}", "result_count": n % 11}) for n in range(QUERIES)],
        "open": [json.dumps({"path": f"part{n}.md"}) for n in range(FILES)],
        "outline": ['{"level": null}'],
        "sources": ['{"dir": null, "depth": null, "pattern": null}'],
    }
    usual = [1 / (n + 1) for n in range(QUERIES)]
    places = [f"/home/user/project-{n:02}{sub}" for n in range(PROJECTS) for sub in ("", "", "/src", "/docs")]
    for start in range(0, count, 1000):
        commands = rng.choices([*COMMANDS], [*COMMANDS.values()], k=1000)
        queries = rng.choices(asked["search"], usual, k=1000)
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(FIRST + SECONDS * start // count))
        for command, query in zip(commands, queries, strict=True):
            args = query if command == "search" else rng.choice(asked[command])
            error = f"section not found: '{args[:20]}'" if command == "show" and rng.random() < 0.03 else None
            yield (moment, "run", command, "log", "/skills/log", rng.choice(places), args, error)


def grown_log(bench: Bench) -> str:
    """A skill with a log of many rows; the counts beside them are made as for a log of another program."""
    home = Path(bench.env["HOME"]) / ".skillc"
    source = home / "skills" / "log"
    source.mkdir(parents=True)
    (source / "SKILL.md").write_text("---\nname: log\ndescription: d\n---\n# Log\n\n## Section 1\n")
    path = home / "runtime" / "log" / ".skillc-meta" / "logs.db"
    path.parent.mkdir(parents=True)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA page_size=1024")
    connection.execute("PRAGMA journal_mode=OFF")
    connection.execute("PRAGMA synchronous=OFF")
    names = "timestamp, run_id, command, skill, skill_path, cwd, args, error"
    texts = ", ".join(f"{name} TEXT" for name in names.split(", "))
    connection.execute(f"CREATE TABLE access_log (id INTEGER PRIMARY KEY, {texts})")
    connection.execute("BEGIN")
    marks = "?, ?, ?, ?, ?, ?, ?, ?"
    count = QUICK_ROWS if bench.quick else ROWS
    connection.executemany(f"INSERT INTO access_log({names}) VALUES ({marks})", rows(count))
    connection.execute("COMMIT")
    connection.close()
    seconds = bench.run(bench.python, "-c", ADOPT, str(path))
    print(f"{f'counts for {count:,} rows of another program':<44} {seconds:>6.1f} s", flush=True)
    return str(path)


def bench_stats(bench: Bench) -> None:
    """Each answer is promised in a small multiple of the time that counting the rows takes."""
    path = grown_log(bench)
    limit = 6.0 if bench.quick else 3.0

    def measure(what: str, limit: float, *words: str) -> None:
        ours, theirs = bench.in_turn(
            3 if bench.quick else 7,
            lambda: bench.run(bench.skc, "stats", "log", *words),
            lambda: bench.run(bench.python, "-c", COUNT, path),
        )
        bench.report(f"{what} / count(*)", ours, theirs, limit)

    for name, words in FILTERS.items():
        for group in GROUPS:
            what = f"stats by {group}{f', {name}' if name else ''}"
            measure(what, limit, "--group-by", group, "--format", "json", *words)
    # Loading Jinja2 and compiling the page takes 0.15 s, six times as long as counting a small log.
    page_limit = 20.0 if bench.quick else 2 * limit
    measure("stats --html", page_limit, "--html", str(bench.root / "usage.html"))


if __name__ == "__main__":
    alone = Bench(Path(sys.argv[1]), "--quick" in sys.argv)
    try:
        bench_stats(alone)
    finally:
        shutil.rmtree(alone.root)
