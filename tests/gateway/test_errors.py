"""What every reading command refuses, and how it says so."""

from __future__ import annotations

import pytest

from tests.conftest import World
from tests.gateway.conftest import Run, code
from tests.support.cases import each

# What each command needs beside a skill.
CALLS: dict[str, list[str]] = {
    "outline": [],
    "show": ["--section", "x"],
    "open": ["x"],
    "sources": [],
    "search": ["x"],
}


@pytest.mark.parametrize("command", CALLS)
def test_codes(world: World, run: Run, command: str) -> None:
    """[RFC-0002:C-ERRORS] [RFC-0004:C-ERRORS] E001, E010, E100: status 1, a line on stderr, no output."""
    (world.store / "empty").mkdir()
    words = CALLS[command]
    assert code(run(command, "nowhere", *words)) == "E001"
    assert code(run(command, "empty", *words)) == "E010"
    assert code(run(command)) == "E100"
    for wrong in (["--nope"], ["--format", "xml"], ["--format"], ["more"]):
        assert code(run(command, "nowhere", *words, *wrong)) == "E100"


@each(
    ("command", "option", "more"),
    [
        ("outline", "--level", ["7", "99999999999"]),
        ("show", "--max-lines", []),
        ("open", "--max-lines", ["1e3"]),
        ("sources", "--depth", []),
        ("sources", "--limit", []),
        ("search", "--limit", []),
    ],
)
def test_bad_numbers(run: Run, command: str, option: str, more: list[str]) -> None:
    """[D21] positive integers, and levels up to 6; anything else is E100, before anything is read."""
    for bad in ("0", "-1", "x", "", "2.5", "٣", *more):
        assert code(run(command, "nowhere", *CALLS[command], f"{option}={bad}")) == "E100"
