"""docs/python.md and docs/start/builders.md run as they stand, and print what they say they print."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import re
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import World
from tests.scenarios.conftest import Elephant, Origin, Server

ROOT = Path(__file__).parent.parent.parent
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def shelf(world: World, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder `skills` that the examples start from."""

    def skill(path: str, description: str, body: str) -> None:
        folder = world.project / "skills" / path
        folder.mkdir(parents=True)
        name = path.rpartition("/")[2]
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {description}\n---\n{body}")

    skill(
        "documents/pdf",
        "Fill in forms, extract tables",
        "# PDF\n\nUse scripts/tables.py to extract tables.",
    )
    skill("documents/word", "Write letters", "# Word")
    skill(
        "release-notes", "Write release notes from commits", "# Release notes\n\nOne line for each change.\n"
    )
    (world.project / "skills/documents/COLLECTION.md").write_text("Letters, forms and tables\n")
    (world.project / "skills/documents/pdf/scripts").mkdir()
    (world.project / "skills/documents/pdf/scripts/tables.py").write_text('print("tables")')
    return world.project


def execute(code: str, names: dict[str, Any]) -> str:
    """Run a block, awaiting where it does; what it printed."""
    compiled = compile(code, "docs/python.md", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        result = eval(compiled, names)
        if inspect.iscoroutine(result):
            asyncio.run(result)
    return printed.getvalue()


def test_the_page(
    shelf: Path, elephant: Elephant, origin: Origin, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """[D33] every block in order, in one program; what follows it is what it prints."""
    origin.git("rm", "-rq", ".")
    origin.push("pdf", tag="v1.2.0")
    server.token = "git-token"
    del elephant.rows["extraction/fiction-extractor"]
    monkeypatch.setenv("TEAM_TOKEN", elephant.token)
    monkeypatch.setenv("GITHUB_TOKEN", server.token)
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for address, real in (
        ("https://skills.example.com/api", elephant.url),
        ("https://github.com/company/skills.git", server.url),
    ):
        assert address in text
        text = text.replace(address, real)
    names: dict[str, Any] = {}
    printed, blocks = "", BLOCK.findall(text)
    assert len(blocks) > 20
    for kind, block in blocks:
        if kind == "python":
            printed = execute(block, names)
        else:
            assert printed == block


def test_the_readme(shelf: Path) -> None:
    """[D33] the example that most people see first."""
    text = (ROOT / "docs/start/builders.md").read_text(encoding="utf-8")
    code = [block for kind, block in BLOCK.findall(text) if kind == "python" and "adapters" not in block]
    assert len(code) == 1  # the others are run with the frameworks they are for
    printed = execute(code[0], {})
    assert 'id="release-notes"' in printed
    assert printed.endswith("</skill>\n\nwhat changed?\n")
