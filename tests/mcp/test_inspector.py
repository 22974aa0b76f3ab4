"""`skc mcp` by the MCP Inspector's command line, where `scripts/mcp-tools` has put it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import World, save

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


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_tools(library: World, era: str) -> None:
    """[SURFACES: Serving] another implementation lists, checks and calls the tools, in both eras."""
    tools = json.loads(inspect(library, era, "tools/list", "--strict"))["tools"]
    assert "skc_show" in [tool["name"] for tool in tools]
    words = ["--tool-name", "skc_show", "--tool-arg", "skill=pdf", "section=usage"]
    shown: dict[str, Any] = json.loads(inspect(library, era, "tools/call", *words))
    assert shown["structuredContent"]["heading"] == "Usage"


def test_skills(library: World) -> None:
    """[SEP-2640: server] the Inspector verifies every skill: entries, digests, sizes, frontmatter."""
    reports = inspect(library, "modern", "skills/list", "--verify", "--require-digests")
    assert "skill://pdf/SKILL.md" in reports
    uri = ["--uri", "skill://pdf/references"]
    assert "skill://pdf/references/forms.md" in inspect(library, "modern", "resources/directory/read", *uri)
    uri = ["--uri", "skill://pdf/references/forms.md"]
    assert "# Forms" in inspect(library, "modern", "resources/read", *uri)
