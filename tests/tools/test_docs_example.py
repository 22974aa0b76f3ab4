"""The skill that docs/tools.md shows: it must be one, and do what the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path

from skillc.tools.arguments import build_command_line, check_values
from skillc.tools.skill import load_executable
from tests.conftest import World

PAGE = Path(__file__).parent.parent.parent / "docs" / "tools.md"


def test_the_example_of_the_page(world: World) -> None:
    """[TOOLS §3.1] [D37] its tool is read without a warning and runs."""
    (text,) = re.findall(r"^````markdown title=.*?\n(.*?)^````$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    folder = world.global_store / "search"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text)
    skill = load_executable(str(folder), "search")
    assert skill.diagnostics == ()
    (tool,) = skill.tools
    made = build_command_line(tool.template, check_values(tool.parameters, {"word": "-x", "exact": True}))
    assert made == ["grep", "-r", "-m", "20", "--word-regexp", "-e", "-x", "--", "notes"]
    (world.home / "notes").mkdir()
    (world.home / "notes" / "today.txt").write_text("buy milk\nsell -x\n")
    result = json.loads(world.ok("run", "search", "find_notes", "--param", "word=milk", "--yes").stdout)
    assert result["output"] == "notes/today.txt:buy milk\n"
