"""What adding one skill of a large repository costs beside the git fetch alone.

Run it by hand, on a quiet machine: `.venv/bin/python scripts/bench_add.py`. The yardstick is
`git clone --depth 1 --bare` from the same server, which fetches everything and checks nothing out.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

from bench import Bench
from tests.support.git import GIT_ENV, Server, serving

SKILLS = 3000
LIMIT = 1.5
WANTED = "skill-0042"


def make_repository(root: Path) -> Path:
    """A repository with many skills of three files each, as a server has it."""
    work, bare = root / "work", root / "served" / "skills.git"
    for number in range(SKILLS):
        folder = work / "skills" / f"group-{number % 30}" / f"skill-{number:04}"
        (folder / "scripts").mkdir(parents=True)
        head = f"---\nname: skill-{number:04}\ndescription: Skill number {number}\n---\n"
        (folder / "SKILL.md").write_text(head + f"text {number} lorem ipsum\n" * 100)
        (folder / "scripts" / "run.py").write_text(f"print({number})\n" * 20)
        (folder / "reference.md").write_text(f"# {number}\n" + "body\n" * 50 * (number % 7))
    git(work, "init", "-q", "-b", "main")
    git(work, "add", "-A")
    git(work, "commit", "-q", "-m", "all")
    git(root, "clone", "-q", "--bare", str(work), str(bare))
    return bare


def git(cwd: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=cwd, env=GIT_ENV, check=True)


def bench_add(bench: Bench) -> None:
    bare = make_repository(bench.root)
    program, clone = shutil.which("git") or "git", bench.root / "clone"
    home = Path(bench.env["HOME"])
    times = 3 if bench.quick else 7
    with serving(Server(bare.parent)) as server:
        for what, address, can_filter in (
            ("add 1 of 3,000, server that filters / git", server.url, "true"),
            ("add 1 of 3,000, server that can't / git", server.url, "false"),
            ("add 1 of 3,000, file:// / git", f"file://{bare}", "true"),
        ):
            git(bare, "config", "uploadpack.allowFilter", can_filter)

            def add(address: str = address) -> float:
                shutil.rmtree(home)
                (home / ".claude").mkdir(parents=True)
                return bench.run(bench.skc, "add", address, "--skill", WANTED, "--global", "--format", "json")

            def fetch(address: str = address) -> float:
                shutil.rmtree(clone, ignore_errors=True)
                return bench.run(program, "clone", "-q", "--depth", "1", "--bare", address, str(clone))

            bench.report(what, *bench.in_turn(times, add, fetch), LIMIT)


def main() -> None:
    bench = Bench(ROOT / ".venv", "--quick" in sys.argv)
    try:
        bench_add(bench)
    finally:
        shutil.rmtree(bench.root)


if __name__ == "__main__":
    main()
