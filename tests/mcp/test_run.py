"""`run_tool`: what a skill declares, over MCP, after a person approved it."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from mcp_types import ElicitResult

from tests.conftest import World
from tests.support.cases import each
from tests.support.mcp import ERAS, YES, answering, call_tools, over_stdio
from tests.support.tools import executable

GREET = """### greet

Greet somebody.

#### Parameters

| Name | Type | Required | Description |
| --- | --- | --- | --- |
| who | string | yes | Whom. |
| times | integer | no | How often (default: 1). |

#### Command

```bash
./scripts/greet.sh {{who}} {{times}}
```
"""
NO = ElicitResult(action="decline")
CALL = {"skill": "hello", "tool": "greet", "parameters": {"who": "a; b", "times": 2}}


@pytest.fixture
def hello(world: World) -> Path:
    """A skill of the user's own."""
    return executable(world.global_store, "hello", GREET, greet='echo "hello $1" "$2"')


def call(era: str, arguments: dict[str, Any], **more: Any) -> Any:
    return call_tools(("run_tool", arguments), era=era, **more)[0]


@pytest.mark.parametrize("era", ERAS)
def test_approved(era: str, hello: Path) -> None:
    """[SURFACES: Serving] [D46] the person sees the exact command, and the model gets the envelope."""
    asked: list[str] = []
    result = call(era, CALL, elicitation_callback=answering(YES, asked))
    assert not result.is_error, result.content
    envelope = result.structured_content
    assert (envelope["success"], envelope["exit_code"]) == (True, 0)
    assert envelope["output"] == "hello a; b 2\n"
    assert envelope["sandbox"] in ("bubblewrap", "landlock", "none")
    assert result.content[0].text == "hello a; b 2\n"
    assert len(asked) == 1
    assert '"a; b" "2"' in asked[0]
    assert "this once" in asked[0]


@pytest.mark.parametrize("era", ERAS)
def test_declined_and_nobody_to_ask(era: str, hello: Path) -> None:
    """[SURFACES: Serving] [D46] E063, with how to approve it elsewhere; nothing ran."""
    (hello / "scripts" / "greet.sh").write_text("#!/bin/sh\ntouch ran\n")
    for more in ({"elicitation_callback": answering(NO, [])}, {}):
        result = call(era, CALL, **more)
        assert result.is_error
        assert result.content[0].text.startswith("error[E063]: approval required for 'hello'")
        assert "skc trust allow hello --digest" in result.content[0].text
        envelope = result.structured_content
        assert (envelope["success"], envelope["exit_code"], envelope["code"]) == (False, None, "E063")
        assert "approval required for 'hello'" in envelope["error"]
    assert not (Path.cwd() / "ran").exists()


@pytest.mark.slow
def test_allowed_before_and_failing(world: World, hello: Path) -> None:
    """[D46] [D43] an exit code is a result that is logged; what `skc trust` decided needs no question."""
    digest = world.ok("trust", "show", "hello", "--format", "json").stdout
    world.ok("trust", "allow", "hello", "--digest", json.loads(digest)["digest"])
    assert call("legacy", CALL).structured_content["success"]
    world.ok("trust", "deny", "hello")
    asked: list[str] = []
    assert call("legacy", CALL, elicitation_callback=answering(YES, asked)).is_error
    assert asked == []
    world.ok("trust", "prune", "hello")
    (hello / "scripts" / "greet.sh").write_text("#!/bin/sh\necho no >&2\nexit 3\n")
    result = call("legacy", CALL, elicitation_callback=answering(YES, []))
    assert result.is_error
    assert result.structured_content["exit_code"] == 3
    told = world.json("stats", "hello", "--group-by", "commands")
    assert told["data"] == {"run": 3}


@pytest.mark.slow
def test_a_bundled_tool_that_only_reads(world: World) -> None:
    """[TOOLS §6.2] runs unasked; over stdio nothing but protocol reaches stdout."""
    (world.home / "notes.md").write_text("x\n")  # outside of a git repository, a tool works there

    async def talk() -> Any:
        async with over_stdio(world) as client:
            arguments = {"skill": "files", "tool": "find", "parameters": {"name": "*.md"}}
            return await client.call_tool("run_tool", arguments)

    result = asyncio.run(talk())
    assert not result.is_error, result.content
    assert "notes.md" in result.structured_content["output"]


@each(
    ("change", "code"),
    [
        ({"tool": "nothing"}, "E061"),
        ({"skill": "nothing"}, "E001"),
        ({"parameters": {}}, "E062"),
        ({"parameters": {"who": 7}}, "E062"),
        ({"parameters": {"who": "x", "more": 1}}, "E062"),
        ({"parameters": {"who": "-x"}}, "E062"),
        ({"parameters": "who=x"}, "E100"),
        ({"mode": "Party"}, "E100"),
    ],
)
def test_what_can_not_run(hello: Path, change: dict[str, Any], code: str) -> None:
    """[SURFACES: Serving] [D40] [D55] errors of the operation are results, and no one is asked about them."""
    asked: list[str] = []
    result = call("legacy", CALL | change, elicitation_callback=answering(YES, asked))
    assert result.is_error
    assert result.content[0].text.startswith(f"error[{code}]: ")
    assert asked == []
    if "E060" <= code <= "E066":
        envelope = result.structured_content
        assert envelope == {
            "success": False,
            "exit_code": None,
            "output": "",
            "truncated": False,
            "duration_ms": 0,
            "sandbox": "none",
            "error": envelope["error"],
            "code": code,
        }
        assert envelope["error"] in result.content[0].text
    else:
        assert result.structured_content["error"]["code"] == code
