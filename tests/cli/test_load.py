"""Loading commands: help and completion load all that a command's page needs, and nothing that it runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from skillc.cli import AHEAD
from skillc.cli.help import TOPICS
from skillc.cli.summaries import NAMES

# What takes long to load, and is needed to do something, not to say what can be done.
SLOW = "argparse asyncio email httpx2 mcp pydantic rich sqlite3 ssl starlette tarfile uvicorn zipfile"

# Prints the statuses of command lines, one on each line of stdin, and then what they loaded.
PROGRAM = """
import sys
before = {*sys.modules}
from skillc.cli import main
lines = sys.stdin.read().splitlines()
out, sys.stdout = sys.stdout, sys.stderr
statuses = [main(line.split()) for line in lines]
print(statuses, *{*sys.modules} - before, sep="\\n", file=out)
"""


def run_program(lines: list[str], home: Path) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run command lines in one process, each of which succeeds, and return what they loaded."""
    run = subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM],  # without what the environment loads first
        input="\n".join(lines),
        env={"HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path), "LANG": "C.UTF-8"},
        cwd=home,
        capture_output=True,
        text=True,
        check=True,
    )
    statuses, *modules = run.stdout.splitlines()
    assert statuses == str([0] * len(lines)), run.stderr
    return run, modules


def test_pages(tmp_path: Path) -> None:
    """[RFC-0005] [SURFACES: Terminal] help answers soon, whatever the command does."""
    lines = ["--help", "help", *(f"help {name}" for name in (*TOPICS, *NAMES))]
    lines += [f"{name} --help" for name in NAMES]
    run, modules = run_program(lines, tmp_path)
    assert run.stderr.count("Usage: skc ") == 2 + 2 * len(NAMES)
    assert [name for name in SLOW.split() if name in modules] == []


def test_lint_and_import(tmp_path: Path) -> None:
    """[D72] lint without a terminal loads nothing that asks or draws, an import of folders no audit."""
    skill = tmp_path / "work" / "pdf"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: pdf\ndescription: Forms\n---\n# Forms\n\nText.\n")
    _, modules = run_program(["lint work/pdf"], tmp_path)
    asking = "signal threading pickle skillc.cli.approval skillc.cli.progress skillc.cli.terminal"
    assert [name for name in asking.split() if name in modules] == []
    _, modules = run_program(["import work"], tmp_path)
    assert (tmp_path / ".skillc" / "skills" / "pdf" / "SKILL.md").exists()
    slow = [name for name in modules if name.startswith(("skillc.audit.", "skillc.remotes.http."))]
    assert slow == []


def test_install_with_nothing_to_do(tmp_path: Path) -> None:
    """[SURFACES: Getting skills] hooks run 'skc install' each time, also the first after 'skc add'."""
    skill = tmp_path / "work" / "pdf"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: pdf\ndescription: Forms\n---\n# Forms\n\nText.\n")
    run_program(["add work/pdf --yes"], tmp_path)
    run, modules = run_program(["install", "lock"], tmp_path)
    assert "1 skill unchanged" in run.stderr
    slow = "skillc.install.apply skillc.audit. skillc.compiler. skillc.origins. dulwich httpx2"
    assert [name for name in modules if name.startswith(tuple(slow.split()))] == []


READERS = {
    "open": ["open", "pdf", "SKILL.md"],
    "outline": ["outline", "pdf"],
    "search": ["search", "pdf", "text"],
    "show": ["show", "pdf", "--section", "Forms"],
    "sources": ["sources", "pdf"],
}
# Runs a command, and prints on stderr which modules were looked for: with their parents all, in order.
RECORD = """
import sys
from skillc import startup
names, find_spec = [], startup._find_spec
startup._find_spec = lambda name, path, target=None: names.append(name) or find_spec(name, path, target)
startup.start()
from skillc.cli import main
names.clear()
status = main(sys.argv[1:])
print(*[name for name in names if name.startswith("skillc.")], file=sys.stderr)
sys.exit(status)
"""


@pytest.mark.slow
def test_modules_that_load_ahead(tmp_path: Path) -> None:
    """[RFC-0007] A reading command loads ahead just what it needs, each module behind those that it imports.

    A module that another one imports first is looked for earlier than its turn, and one that is missing in
    the list later than all.
    """
    skill = tmp_path / ".skillc" / "skills" / "pdf"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: pdf\ndescription: Forms\n---\n# Forms\n\nText.\n")
    env = {"HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path), "LANG": "C.UTF-8"}
    python = [sys.executable, "-S"]
    subprocess.run([*python, "-m", "skillc", "build", "pdf"], env=env, cwd=tmp_path, check=True)
    for command in AHEAD:
        words = [*python, "-c", RECORD, *READERS[command]]
        for _ in range(2):  # the first may compile modules and create the log
            run = subprocess.run(words, env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert run.stdout
        assert run.stderr.splitlines()[-1].split() == AHEAD[command].format(command).split(), command
