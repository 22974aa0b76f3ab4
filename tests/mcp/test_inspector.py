"""`skc mcp` by the MCP Inspector's command line, where `scripts/mcp-tools` has put it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import World, save
from tests.support.examples import sample

TOOLS = Path(__file__).parent.parent.parent / ".cache" / "mcp-tools" / "node_modules"
NODE = TOOLS / ".bin" / "node"
INSPECTOR = TOOLS / "@modelcontextprotocol" / "inspector" / "clients" / "launcher" / "build" / "index.js"

pytestmark = [
    pytest.mark.slow,  # each call starts Node.js and a server
    pytest.mark.skipif(
        not (NODE.exists() and INSPECTOR.exists()), reason="no Inspector here; run scripts/mcp-tools"
    ),
]


def inspect(world: World, era: str, method: str, *words: str, status: int = 0) -> str:
    """What the Inspector prints for one method."""
    server = [sys.executable, "-m", "skillc", "mcp", "--tools", "all,run"]
    options = ["--method", method, *words, "--cwd", str(world.project), "--protocol-era", era, "-q"]
    options += ["-e", f"HOME={world.home}", "--connect-timeout", "60000"]
    ran = subprocess.run(
        [str(NODE), str(INSPECTOR), "--cli", *server, *options],
        env=world.env,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert ran.returncode == status, (ran.stdout, ran.stderr)
    return ran.stdout


@pytest.fixture
def library(world: World) -> World:
    folder = world.skill("pdf")
    (folder / "references").mkdir()
    save(folder / "references" / "forms.md", "# Forms\n")
    world.ok("build", "pdf")
    return world


def test_tools(library: World) -> None:
    """[SURFACES: Serving] another implementation lists, checks and calls the tools, in both eras.

    At the gate it lists them in one and calls one in the other: each takes a second and a half.
    """
    words = ["--tool-name", "skc_show", "--tool-arg", "skill=pdf", "section=usage"]
    for era in sample(("legacy", "modern"), 2):
        tools = json.loads(inspect(library, era, "tools/list", "--strict"))["tools"]
        assert "skc_show" in [tool["name"] for tool in tools]
    for era in sample(("legacy", "modern"), 2, 1):
        shown: dict[str, Any] = json.loads(inspect(library, era, "tools/call", *words))
        assert shown["structuredContent"]["heading"] == "Usage"


READING = (
    ("skills/list", ("--verify", "--require-digests"), "skill://pdf/SKILL.md"),
    ("resources/directory/read", ("--uri", "skill://pdf/references"), "skill://pdf/references/forms.md"),
    ("resources/read", ("--uri", "skill://pdf/references/forms.md"), "# Forms"),
)


def test_skills(library: World) -> None:
    """[SEP-2640: server] the Inspector verifies every skill: entries, digests, sizes, frontmatter."""
    for method, words, text in sample(READING, 3):
        assert text in inspect(library, "modern", method, *words)
