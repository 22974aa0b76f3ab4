"""Two commands at once: what is left is what one order of the two gives, and nothing in between."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from skillc import cli
from skillc.library.records import read_deployments, read_switches
from skillc.skills import digest_skill
from tests.conftest import World
from tests.support.examples import sample
from tests.support.skills import skill

pytestmark = pytest.mark.slow

RACES = 4  # of each pair; one at the gate
LATEST_START = 0.06  # seconds by which one of the two may be late

COMMANDS = {
    "add": ["add", "{root}/work/zip", "--yes"],
    "add again": ["add", "{root}/work/doc", "--yes", "--target", "claude,cursor"],
    "update": ["update", "pdf"],
    "update all": ["update"],
    "remove": ["remove", "pdf", "--yes"],
    "pin": ["pin", "pdf"],
    "disable": ["disable", "pdf"],
    "enable": ["enable", "off"],
    "build": ["build", "pdf"],
    "build all": ["build", "--all"],
    "install": ["install"],
    "restore": ["restore", "old"],
    "import": ["import", "--from", "claude", "--yes"],
}


@pytest.fixture
def start(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A home with skills in every state that the commands change, and a copy of it beside."""
    monkeypatch.setenv("HOME", str(world.home))
    work, here = world.root / "work", world.root / "here"
    here.mkdir()
    for agent in (".claude", ".cursor"):
        (world.home / agent).mkdir()
    for name in ("pdf", "doc", "off", "old", "zip", "lost"):
        skill(work, name)
        if name != "zip":
            world.ok("add", str(work / name), "--yes", cwd=here)
    world.ok("disable", "off", cwd=here)
    world.ok("remove", "old", "--yes", cwd=here)
    shutil.rmtree(world.global_store / "lost")
    skill(world.home / ".claude/skills", "mine")
    (work / "pdf/new.md").write_text("# New\n")
    shutil.copytree(world.home, world.root / "start", symlinks=True)
    with chdir(here):
        yield world


def reset(world: World) -> None:
    shutil.rmtree(world.home)
    shutil.copytree(world.root / "start", world.home, symlinks=True)


def spawn(world: World, words: Sequence[str], delay: float = 0.0) -> int:
    """Run a command in a process of its own, which has all modules loaded."""
    child = os.fork()
    if child:
        return child
    status = 99
    try:
        sys.stdin = sys.stdout = sys.stderr = open(os.devnull, "r+", encoding="utf-8")  # noqa: SIM115
        time.sleep(delay)
        status = cli.main([word.format(root=world.root) for word in words])
    finally:
        os._exit(status)


def wait(child: int) -> None:
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, 1), status


def run_in_order(world: World, *names: str) -> dict[str, Any]:
    reset(world)
    for name in names:
        wait(spawn(world, COMMANDS[name]))
    return describe(world)


def race(world: World, one: str, other: str, chance: random.Random) -> dict[str, Any]:
    reset(world)
    delays = [0.0, chance.random() * LATEST_START]
    chance.shuffle(delays)
    children = [spawn(world, COMMANDS[name], delay) for name, delay in zip((one, other), delays, strict=True)]
    for child in children:
        wait(child)
    return describe(world)


def describe(world: World) -> dict[str, Any]:
    """Return what a user has: the lock, the store, what agents see, the records and the trash."""
    own = world.home / ".skillc"
    lock = json.loads((own / "skills-lock.json").read_text())["skills"]
    keys = ("contentDigest", "pinned", "targets")
    trash = [json.loads(note.read_text())["from"] for note in (own / "trash").glob("*/note.json")]
    runtime = own / "runtime"
    return {
        "lock": {name: [entry["skillc"].get(key) for key in keys] for name, entry in lock.items()},
        "store": {path.name: digest_skill(str(path)).digest for path in visible(own / "skills")},
        "agents": {
            f"{agent}/{path.name}": see(path)
            for agent in (".claude", ".cursor")
            for path in visible(world.home / agent / "skills")
        },
        "runtime": sorted(p.name for p in visible(runtime) if (p / ".skillc/manifest.json").exists()),
        "records": sorted(record.path for record in read_deployments()),
        "switches": sorted(read_switches()),
        "trash": sorted(trash),
    }


def visible(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if not path.name.startswith("."))


def see(path: Path) -> str:
    """Return what an agent sees: the stub, or a link that leads nowhere."""
    return (path / "SKILL.md").read_text() if (path / "SKILL.md").exists() else "nothing"


PAIRS = list(itertools.combinations_with_replacement(COMMANDS, 2))
STEP = 3  # of the pairs that are tried at the gate


@pytest.mark.parametrize("part", range(4))
def test_any_two_commands(start: World, part: int) -> None:
    """[D11] [D52] every pair of commands that write, at once: the result is that of one order."""
    chance = random.Random(part)
    mistakes = []
    for one, other in sample(PAIRS[part::4], STEP):
        races = [race(start, one, other, chance) for _ in sample(range(RACES), RACES)]
        expected = [run_in_order(start, one, other)]
        if any(result not in expected for result in races):  # mostly both orders give the same
            expected.append(run_in_order(start, other, one))
        for result in races:
            if result not in expected:
                changes = [{k: (result[k], e[k]) for k in result if result[k] != e[k]} for e in expected]
                mistakes.append((one, other, min(changes, key=lambda c: len(str(c)))))
    assert not mistakes, f"{len(mistakes)}: {json.dumps(mistakes[:6], indent=1)}"
