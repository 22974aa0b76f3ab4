"""What reading costs: searches in one process beside raw SQL, whole commands beside the bare interpreter.

    bench_search(bench)   `gateway.search` and the same SQL on an open connection, on 20,000 sections
    bench_reading(bench)  each command that agents call, log entry included, and `python -c pass`

Both are called from bench.py. `.venv/bin/python scripts/bench_search.py <venv>` runs them alone.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench import Bench, large_skill

EXAMPLE = Path(__file__).parent.parent / "examples" / "release-notes"

# Prints, for each query, its name and the times of ours and of the yardstick, in turn.
SEARCHES = """
import sqlite3, sys
from time import perf_counter
from skillc.gateway import search_sections
from skillc.index.sections import reader
from skillc.library import resolve

times = int(sys.argv[1])
skill = resolve("large", ".")
path = reader.open_index(skill, "ascii").path
raw = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True, isolation_level=None)
sql = '''
SELECT file, section, snippet(sections, 2, '[MATCH]', '[/MATCH]', '...', 32), rank
FROM sections WHERE sections MATCH ? ORDER BY rank LIMIT ?
'''
words = raw.execute("SELECT text FROM headings WHERE id = 15000").fetchone()[0].split()
queries = {
    "one word": words[0],
    "two words": " ".join(words[:2]),
    "four words": " ".join(words),
    "a word that is everywhere": "bold",
    "two that are": "bold code",
    "a rare and a common one": f"{words[1]} bold",
    "nothing": "zzzz#nothing",  # another one each time
    "a word and nothing": f"{words[0]} zzzz#",
    "four times nothing": "zzzz# yyyy# xxxx# wwww#",
}
for name, pattern in queries.items():
    expression = " ".join(f'"{word}"' for word in pattern.split())
    rows = raw.execute(sql, (expression, 10)).fetchall()
    found = search_sections(skill, pattern).results
    assert [(r.file, r.section, r.snippet, -r.score) for r in found] == rows, pattern
    ours, theirs = [], []
    quick = len(rows) < 10 or name == "one word"
    for number in range(times * 10 if not rows else times if quick else times // 5):
        query = pattern.replace("#", str(number))
        expression = " ".join(f'"{word}"' for word in query.split())
        start = perf_counter()
        search_sections(skill, query)
        between = perf_counter()
        raw.execute(sql, (expression, 10)).fetchall()
        theirs.append(perf_counter() - between)
        ours.append(between - start)
    print(name, *ours, sep="\\t")
    print(name, *theirs, sep="\\t")
"""

MORE = 10  # µs that a search without a match may take over raw SQL

COMMANDS = {
    "show": ("--section", "security fixes"),
    "search": ("breaking change",),
    "open": ("SKILL.md",),
    "outline": (),
    "sources": (),
}


def settle(bench: Bench, skill: str) -> None:
    """Build again when the files are old enough for their times to be trusted, as most are."""
    time.sleep(0.2)
    bench.run(bench.skc, "build", skill)


def bench_search(bench: Bench) -> None:
    """Searches that find much, little and nothing; the statement of the yardstick is what FTS5 recommends."""
    home = Path(bench.env["HOME"])
    if not (home / ".skillc" / "skills" / "large").exists():
        large_skill(home / ".skillc" / "skills" / "large")
    shutil.rmtree(home / ".skillc" / "runtime" / "large", ignore_errors=True)
    bench.run(bench.skc, "build", "large")  # once: what is measured is promised from the first build on
    ran = subprocess.run(
        [bench.python, "-c", SEARCHES, "20" if bench.quick else "200"],
        env=bench.env,
        cwd=bench.root,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    rows = [line.split("\t") for line in ran.stdout.splitlines()]
    ratios = []
    for (name, *ours), (_, *theirs) in zip(rows[::2], rows[1::2], strict=True):
        mine, raw = [float(seconds) for seconds in ours], [float(seconds) for seconds in theirs]
        if "nothing" in name:  # 8 µs, of which a ratio says little
            more = (statistics.median(mine) - statistics.median(raw)) * 1e6
            verdict = "" if more <= MORE else "  OVER"
            what = f"search, time over raw SQL: {name}"
            print(f"{what:<44} {more:>6.1f} µs {'':>10} {'':>7} {MORE:>3} µs{verdict}")
            continue
        bench.report(f"search / raw SQL: {name}", mine, raw, 1.3)
        ratios.append(statistics.median(mine) / statistics.median(raw))
    median = statistics.median(ratios)
    print(f"{'search / raw SQL, median of these':<44} {'':>9} {'':>10} {median:>7.2f} {1.3:>6.2f}")
    title = large_skill(home / "copy")[1500][1][5][0]
    words_of = {**COMMANDS, "show": ("--section", title), "search": (title,)}
    for command, words in words_of.items():
        processes, bare = bench.in_turn(
            10 if bench.quick else 60,
            lambda command=command, words=words: bench.run(bench.skc, command, "large", *words),  # type: ignore[misc]
            lambda: bench.run(bench.python, "-c", "pass"),
        )
        bench.report(f"skc {command}, 2,000 files / bare interpreter", processes, bare, 1.8)


def bench_reading(bench: Bench) -> None:
    """Each reading command as a process."""
    bench.run(bench.skc, "build", str(EXAMPLE), "--force")
    settle(bench, EXAMPLE.name)
    for command, words in COMMANDS.items():
        ours, bare = bench.in_turn(
            10 if bench.quick else 60,
            lambda command=command, words=words: bench.run(bench.skc, command, EXAMPLE.name, *words),  # type: ignore[misc]
            lambda: bench.run(bench.python, "-c", "pass"),
        )
        bench.report(f"skc {command} / bare interpreter", ours, bare, 1.5)


def main() -> None:
    bench = Bench(Path(sys.argv[1]), "--quick" in sys.argv)
    try:
        bench_reading(bench)
        bench_search(bench)
    finally:
        shutil.rmtree(bench.root)


if __name__ == "__main__":
    main()
