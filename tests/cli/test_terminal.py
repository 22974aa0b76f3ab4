"""What reaches a terminal: text of skills, servers and file names, without what a terminal acts on."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import product

import pytest

from tests.conftest import World
from tests.support.cases import each
from tests.support.examples import sample
from tests.support.http import Stub, entry, page, stub
from tests.support.terminal import show_on_terminal

__all__ = ["stub"]

# Clears the screen, sets the title, C1's CSI, deletes, overwrites the line, and writes from right to left.
EVIL = "\x1b[2J\x1b]0;pwned\x07\x9b31m\x7f\b\rover\u202etxt"
HEADING = EVIL.replace("\r", "")  # which would end the line
NAME = "a\x1b[2J\x9bb\u202e"  # of a file
SKILL = f"""---
name: evil
description: "What {EVIL.encode("unicode_escape").decode().replace("x9b", "u009b")} it does"
version: 1.0.0
---
# Title {EVIL}

## Head {HEADING}

## Usage

usage {EVIL} here

### say

Says{EVIL}

#### Command

```
printf {EVIL.strip()}
```
"""
COMMANDS = [
    *("show evil --section Usage", "show evil --section Head", "show evil --section nope"),
    *("open evil SKILL.md", "open evil {name}", "open evil binary", "open evil {missing}", "outline evil"),
    *("search evil usage", "sources evil", "find usage", "find {missing}", "browse", "load evil"),
    *("load {missing}", "inventory", "turn /evil --ref {missing}", "list", "list {missing}", "lint evil"),
    *("lint evil --tokens", "tools evil", "run evil say", "run evil say --dry-run", "doctor --library"),
    *("stats evil", "repo list", "build evil --force", "build {missing}", "{missing}", "show --{missing}"),
]


@pytest.fixture
def evil(world: World) -> World:
    folder = world.skill("evil", SKILL)
    (folder / NAME).write_bytes(EVIL.encode())
    (folder / f"{NAME}.md").write_text(f"# {EVIL}\n")
    (folder / "binary").write_bytes(bytes(range(256)))
    world.skill(f"bad{EVIL}".replace("/", ""), "---\nname: x\n---\n")
    world.ok("build", "evil")
    return world


SEQUENCE = re.compile(r"\x1b\[(0|1|2|3[236]|1;3[15])m")  # what cli.style sends, and nothing else


def is_plain(text: str) -> bool:
    """Return whether a terminal would act on nothing in a text but on our own styles."""
    text = SEQUENCE.sub("", text)
    return all(line.isprintable() for line in text.replace("\t", " ").split("\n"))


JSON = product(sample(COMMANDS, 4), [["--format", "json"]])


@pytest.mark.slow
@each(("command", "more"), [*product(COMMANDS, [[]]), *JSON])
def test_commands(evil: World, command: str, more: list[str]) -> None:
    """[SURFACES: Terminal] a terminal gets nothing that it would act on, nor does stderr anywhere."""
    words = [word.format(name=NAME, missing=EVIL) for word in command.split(" ")] + more
    text = show_on_terminal(evil, *words)
    assert text
    assert is_plain(text.replace("\r\x1b[K", "")), text
    assert is_plain(evil.skc(*words).stderr)


def test_pipes_are_exact(evil: World) -> None:
    """[D20] what is piped is the file's bytes, whatever they are."""
    data, shown = (
        subprocess.run(
            [sys.executable, "-m", "skillc", *words],
            cwd=evil.project,
            env=evil.env,
            capture_output=True,
            check=True,
        ).stdout
        for words in (["open", "evil", "binary"], ["show", "evil", "--section", "Usage"])
    )
    assert data == bytes(range(256))
    assert f"usage {EVIL} here" in shown.decode()


def test_plain_text_is_unchanged(world: World) -> None:
    """[SURFACES: Terminal] letters of any script, tabs and joined emoji are themselves, across pieces."""
    folder = world.skill("plain")
    text = "ü\tعربى 日本語 👩\u200d💻\n" * 12_000
    (folder / "notes.txt").write_text(text)
    assert show_on_terminal(world, "open", "plain", "notes.txt") == text


@pytest.mark.slow
@each(
    ("command", "fails"),
    product(
        ["browse", "find usage", "load pdf", "repo list", "doctor --library", "inventory"], [False, True]
    ),
)
def test_servers(world: World, stub: Stub, command: str, fails: bool) -> None:
    """[SURFACES: Terminal] nor does what a server sends reach it, in an answer or in an error."""
    listing = {"skills": [entry("pdf", description=f"usage {EVIL}", body=EVIL), entry("b", name=EVIL)]}
    single = entry("pdf", description=EVIL) | {"body": EVIL}
    stub.answer = lambda request: [
        page({"error": {"code": EVIL, "message": EVIL}}, 500)
        if fails
        else page(single if request.path.endswith("/pdf") else listing)
    ]
    (world.project / ".skillc" / "skills.toml").write_text(
        f'[[repositories]]\nname = "web"\ntype = "http"\nurl = "{stub.url}"\n'
    )
    words = command.split(" ")
    assert is_plain(show_on_terminal(world, *words))
    assert is_plain(world.skc(*words).stderr)
