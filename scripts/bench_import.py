"""What `import` of 1,000 skills costs beside copying them, and of an agent's beside copying and building.

    bench_import(bench)    folders, which are copied, and an agent's directory, which is moved and built

Called from bench.py. `.venv/bin/python scripts/bench_import.py <venv> [--quick]` runs it alone.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from bench import Bench

SKILLS, QUICK_SKILLS = 1000, 200
LIMIT, QUICK_LIMIT, BUILD_LIMIT = 2.0, 3.0, 1.2  # loading the program takes as long as copying 200 folders
# Waits for the disk as an import does, which ends when nothing can be lost any more.
COPY = "import os, shutil, sys; shutil.copytree(sys.argv[1], sys.argv[2]); os.sync()"


def write_skills(root: Path, count: int) -> None:
    """Six files for each skill, of the sizes that public collections have."""
    for number in range(count):
        folder = root / f"skill-{number}"
        for name in ("references", "scripts"):
            (folder / name).mkdir(parents=True)
        head = f"---\nname: skill-{number}\ndescription: What {number} is for\n---\n# Skill {number}\n\n"
        (folder / "SKILL.md").write_text(head + "## Part\n\nsome words to say here\n\n" * 60)
        for name in ("forms", "tables", "usage"):
            (folder / "references" / f"{name}.md").write_text(f"# {name}\n\n" + "more words to read\n" * 100)
        for name in ("fill", "read"):
            (folder / "scripts" / f"{name}.py").write_text("print('done')\n" * 100)


def bench_import(bench: Bench) -> None:
    count, times = (QUICK_SKILLS, 1) if bench.quick else (SKILLS, 3)
    original, home = bench.root / "original", Path(bench.env["HOME"])
    write_skills(original, count)

    def copy() -> float:
        os.sync()
        seconds = bench.run(bench.python, "-c", COPY, str(original), str(bench.root / "copy"))
        shutil.rmtree(bench.root / "copy")
        return seconds

    def import_folders() -> float:
        shutil.rmtree(home / ".skillc", ignore_errors=True)
        os.sync()
        return bench.run(bench.skc, "import", "--global", str(original))

    def import_agent() -> float:
        shutil.rmtree(home / ".skillc", ignore_errors=True)
        shutil.rmtree(home / ".claude", ignore_errors=True)
        shutil.copytree(original, home / ".claude" / "skills")
        os.sync()  # what was just copied is not to be written on our time
        return bench.run(bench.skc, "import", "--from", "claude", "--yes")

    def copy_and_build() -> float:
        shutil.rmtree(home / ".skillc", ignore_errors=True)
        shutil.rmtree(home / ".claude", ignore_errors=True)
        os.sync()
        store = str(home / ".skillc" / "skills")
        return bench.run(bench.python, "-c", COPY, str(original), store) + bench.run(
            bench.skc, "build", "--all"
        )

    limit = QUICK_LIMIT if bench.quick else LIMIT
    bench.report(f"import {count} folders / copying", *bench.in_turn(times, import_folders, copy), limit)
    bench.report(f"import {count} of an agent / copying", *bench.in_turn(times, import_agent, copy), limit)
    agent = bench.in_turn(times, import_agent, copy_and_build)
    bench.report(f"import {count} of an agent / copying and building", *agent, BUILD_LIMIT)
    for name in (".skillc", ".claude"):
        shutil.rmtree(home / name, ignore_errors=True)


if __name__ == "__main__":
    alone = Bench(Path(sys.argv[1]), "--quick" in sys.argv)
    try:
        bench_import(alone)
    finally:
        shutil.rmtree(alone.root)
