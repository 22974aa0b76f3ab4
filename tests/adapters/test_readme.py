"""Examples of adapters: those of docs/adapters.md, which tests/test_docs.py runs, and those of docstrings."""

from __future__ import annotations

import ast
import re
import textwrap
from pathlib import Path

import pytest

from tests.adapters.model import reader
from tests.adapters.providers import Provider
from tests.conftest import World

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
WORD = "The word is README."


def examples(document: str, heading: str) -> list[str]:
    """The Python blocks of a section."""
    _, _, section = (ROOT / document).read_text(encoding="utf-8").partition(f"## {heading}\n")
    return re.findall(r"```python\n(.*?)```", section.partition("\n## ")[0], re.DOTALL)


FRAMEWORKS = ("openai_agents", "anthropic", "langchain", "pydantic_ai")


def test_there_is_one_for_each_framework() -> None:
    """[RFC-0007] short ones, and nothing else in that section."""
    found = examples("docs/adapters.md", "Examples")
    assert [name for name in FRAMEWORKS for text in found if f"skillc.adapters.{name} " in text] == [
        *FRAMEWORKS
    ]
    assert all(len(text.partition("\n\n")[2].splitlines()) <= 10 for text in found)  # imports aside


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_docstrings(name: str, world: World, server: Provider) -> None:
    """[LIB: 3. CLI — Explicit skill invocation] what a module says of itself is a program that works."""
    world.skill("release-notes", f"---\nname: release-notes\ndescription: Notes\n---\n{WORD}\n")
    server.mind = reader
    source = (ROOT / "src" / "skillc" / "adapters" / f"{name}.py").read_text(encoding="utf-8")
    _, imports, program, *_ = (ast.get_docstring(ast.parse(source)) or "").split("\n\n")
    exec(textwrap.dedent(f"{imports}\n{program}\n"), {"__name__": "__main__"})
    assert WORD in server.seen[0].users[0]
