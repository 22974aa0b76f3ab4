"""Errors as JSON, of every command [D62]."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from skillc.cli import main
from skillc.cli.summaries import NAMES
from skillc.results import ERROR
from tests.conftest import World
from tests.support.cases import each
from tests.support.shapes import find_faults

# For each command: words with which it fails at its work, and the code of that.
FAILURES = {
    "add": (["./nowhere"], "E080"),
    "audit": (["nowhere"], "E001"),
    "browse": ([], "E071"),
    "build": (["nowhere"], "E001"),
    "clean": ([], "E100"),
    "completion": (["tcsh"], "E100"),
    "disable": (["nowhere"], "E001"),
    "doctor": (["here"], "E100"),
    "enable": (["nowhere"], "E001"),
    "find": (["task"], "E071"),
    "grant": (["list"], "E100"),
    "import": (["nowhere"], "E022"),
    "info": (["nowhere"], "E001"),
    "init": (["pdf"], "E050"),
    "install": (["--frozen"], "E071"),
    "inventory": ([], "E071"),
    "listing": (["--agent", "cluade"], "E100"),
    "lint": (["nowhere"], "E001"),
    "list": (["--limit", "0"], "E100"),
    "load": (["pdf"], "E071"),
    "lock": ([], "E071"),
    "login": (["https://127.0.0.1:9", "--token-env", "NO_SUCH_VARIABLE"], "E100"),
    "logout": (["no address"], "E100"),
    "mcp": ([], "E100"),
    "open": (["pdf", "none.md"], "E021"),
    "outdated": ([], "E071"),
    "outline": (["nowhere"], "E001"),
    "pin": (["pdf"], "E071"),
    "publish": (["pdf"], "E100"),
    "publisher": (["list"], "E100"),
    "remove": (["nowhere"], "E001"),
    "repo": (["list"], "E071"),
    "restore": (["nowhere"], "E051"),
    "run": (["nowhere", "x"], "E001"),
    "search": (["pdf", " "], "E004"),
    "serve": (["--port", "x"], "E100"),
    "setup": (["cluade"], "E100"),
    "hook": (["cluade"], "E100"),
    "show": (["pdf", "--section", "none"], "E020"),
    "sources": (["pdf", "--dir", "none"], "E022"),
    "digest": (["nowhere"], "E001"),
    "eval": (["pdf"], "E110"),
    "sign": (["pdf", "--key", "nowhere"], "E100"),
    "stats": (["pdf", "--since", "yesterday"], "E031"),
    "sync": (["pdf"], "E040"),
    "token": (["list"], "E100"),
    "tools": (["nowhere"], "E001"),
    "trash": (["restore", "nowhere"], "E051"),
    "trust": (["show", "nowhere"], "E001"),
    "turn": (["hello"], "E071"),
    "ui": (["--port", "x"], "E100"),
    "unpin": (["pdf"], "E071"),
    "update": ([], "E071"),
    "verify": ([], "E071"),
    "why": (["nowhere"], "E001"),
    "yank": (["pdf@1.0.0", "--reason", "x"], "E100"),
}


@pytest.fixture
def used(world: World) -> World:
    """A world with a skill, and with what is left of one that is gone."""
    for name in ("pdf", "gone"):
        world.skill(name)
        world.ok("build", name)
    shutil.rmtree(world.store / "gone")
    return world


def damage(world: World) -> None:
    """Make the files that commands read first unreadable."""
    for name in (".skillc/skills.toml", "skills-lock.json"):
        (world.project / name).write_text("nonsense =")


def fail(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """Run a command that fails, and return its error, which is JSON on stdout and a line on stderr."""
    assert main(words) == 1, words
    out, err = capsys.readouterr()
    value = json.loads(out)
    assert find_faults(value, ERROR) == [], words
    error: dict[str, Any] = value["error"]
    assert f"error[{error['code']}]: {error['message']}" in err, words
    assert "Traceback" not in err
    return error


@pytest.mark.slow
def test_errors_of_work(used: World, capsys: pytest.CaptureFixture[str]) -> None:
    """[D62] each command that fails says so as JSON, too, with status 1."""
    assert FAILURES.keys() == set(NAMES)
    for name, (words, code) in sorted(FAILURES.items(), key=lambda failure: failure[1][1] == "E071"):
        if code == "E071":
            damage(used)
        assert fail(capsys, name, *words, "--format", "json")["code"] == code


@each("name", NAMES)
def test_usage_errors(world: World, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """[D62] so does one whose words can't be parsed, wherever --format stands."""
    for words in (
        ("--no-such-option", "--format", "json"),
        ("--format=json", "--no-such-option"),
        ("--format", "json", "--color", "red"),
        ("--format", "json", "--color"),
    ):
        assert fail(capsys, name, *words)["code"] == "E100"


@each(
    "words",
    [
        ("instal", "--format", "json"),
        ("--format", "json", "list"),
        ("--format=json",),
        ("-C", "nowhere", "list", "--format", "json"),
        ("help", "nothing", "--format", "json"),
        ("outline", "nowhere", "-f", "json"),
        ("outline", "nowhere", "--format", "object"),
    ],
)
def test_errors_around_commands(
    world: World, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    """[D62] also of an unknown command, of an option before it, and with the letter for --format."""
    assert fail(capsys, *words)["code"] in ("E100", "E001")


def test_no_json_asked_for(world: World, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """[D62] where JSON was not asked for, stdout stays empty: -f can be --force, and after -- is text."""
    for words in (
        ("build", "-f", "json"),
        ("search", "nowhere", "--", "--format=json"),
        ("outline", "nowhere", "--format", "text"),
    ):
        assert main(words) == 1
        out, err = capsys.readouterr()
        assert out == ""
        assert err.startswith("error[E")
