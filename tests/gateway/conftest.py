"""A skill to read, and commands run in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from skillc.cli import main
from skillc.compiler.build import build_skill
from skillc.library import Skill, resolve
from tests.conftest import World

SKILL = """\
---
name: pdf
description: d
---
# PDF

## Forms

Fill them.

### Fields

Names.

#### Kinds
##### Deeper
###### Deepest

## Größe — Maße

Metric.

## forms

Again.
"""

API = "# API\r\n\r\n## Forms\r\n\r\nOther file.\r\n"


Files = Mapping[str, str | bytes]


class Ran:
    """What a command printed, and its exit status."""

    def __init__(self, status: int, out: bytes, err: bytes) -> None:
        self.status = status
        self.raw = out
        self.out = out.decode(errors="replace")
        self.err = err.decode()


Run = Callable[..., Ran]


@pytest.fixture
def run(world: World, capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """`skc` with some words, here and not in a process of its own."""

    def call(*words: str) -> Ran:
        capsysbinary.readouterr()
        status = main(words)
        out, err = capsysbinary.readouterr()
        assert b"Traceback" not in err
        return Ran(status, out, err)

    return call


def code(ran: Ran) -> str:
    """The code of a command that must fail, with one coded line on stderr and nothing on stdout."""
    assert (ran.status, ran.out) == (1, ""), ran.err
    [line] = [line for line in ran.err.splitlines() if line.startswith("error[")]
    return line[6:10]


def made(world: World, name: str, files: Files, *, built: bool = True) -> Skill:
    """A skill of these files, with a SKILL.md unless they have one."""
    folder = world.skill(name)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode() if isinstance(text, str) else text)
    skill = resolve(name, str(world.project))
    if built:
        build_skill(skill)
    return skill


@pytest.fixture
def skill(world: World) -> Skill:
    """The skill `pdf` in the project's store, built."""
    return made(world, "pdf", {"SKILL.md": SKILL, "references/api.md": API, "B.md": "# B\n"})


@pytest.fixture
def folder(skill: Skill) -> Path:
    return Path(skill.source)
