"""Repositories from skills.toml, as a user has them: git and http beside folders."""

from __future__ import annotations

import pytest

from tests.cli.calls import as_json, ok
from tests.conftest import World


def configure(world: World, text: str) -> None:
    (world.project / ".skillc" / "skills.toml").write_text(text)


def states(world: World) -> dict[str, dict[str, object]]:
    found = as_json("repo", "list")["repositories"]
    return {state["name"]: state for state in found}


@pytest.mark.slow
def test_what_can_not_be_set_up(world: World) -> None:
    """[D57] [D27] bad addresses, refs and paths, and a server that is away: no other is unavailable."""
    world.skill("pdf")
    bad = {
        "address": 'type = "git"\nurl = "ext::sh -c id"',
        "ref": 'type = "git"\nurl = "https://h/x.git"\ngit_ref = "-x"',
        "depth": 'type = "git"\nurl = "https://h/x.git"\ndepth = -1',
        "key": 'type = "git"\nurl = "https://h/x.git"\nssh_key = "k"',
        "refresh": 'type = "http"\nurl = "http://h"\nrefresh_seconds = -1',
        "server": 'type = "mcp"\nurl = "nothing"',
        "path": 'type = "filesystem"\npath = "a\\u0000b"',
        "missing": 'type = "filesystem"\npath = "not/there"',
        "away": 'type = "http"\nurl = "http://127.0.0.1:9"',
    }
    tables = [f'[[repositories]]\nname = "{name}"\n{lines}\n' for name, lines in bad.items()]
    own = '[[repositories]]\nname = "own"\ntype = "filesystem"\npath = ".skillc/skills"\n'
    configure(world, "".join(tables) + own)
    seen = states(world)
    assert {seen[name]["status"] for name in bad} == {"unavailable"}
    assert seen["own"]["status"] == "ok"
    for command in (("browse",), ("find", "pdf"), ("load", "pdf")):
        assert "pdf" in ok(*command).stdout
