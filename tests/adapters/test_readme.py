"""The examples of docs/adapters.md, run as a reader would: each as a program in a project."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.adapters.conftest import environment
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


def run(example: str, world: World, env: dict[str, str]) -> str:
    script = world.project / "example.py"
    script.write_text(example, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)],
        cwd=world.project,
        env=world.env | env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


FRAMEWORKS = ("openai_agents", "anthropic", "langchain", "pydantic_ai")


def test_there_is_one_for_each_framework() -> None:
    """[RFC-0007] short ones, and nothing else in that section."""
    found = examples("docs/adapters.md", "Examples")
    assert [name for name in FRAMEWORKS for text in found if f"skillc.adapters.{name} " in text] == [
        *FRAMEWORKS
    ]
    assert all(len(text.partition("\n\n")[2].splitlines()) <= 10 for text in found)  # imports aside


@pytest.mark.parametrize("number", range(4))
def test_readme(number: int, world: World, server: Provider) -> None:
    """[LIB: 3. CLI — Explicit skill invocation] the project's skill reaches the model, which answers so."""
    world.skill("release-notes", f"---\nname: release-notes\ndescription: Notes\n---\n{WORD}\n")
    server.mind = reader
    example = examples("docs/adapters.md", "Examples")[number]
    assert run(example, world, environment(server)) == f"{WORD} Asked: What comes first?\n"
    assert '<skill id="release-notes">' in server.seen[0].system
    assert "load_skill" in server.seen[0].tools


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_docstrings(name: str, world: World, server: Provider) -> None:
    """[LIB: 3. CLI — Explicit skill invocation] what a module says of itself is a program that works."""
    world.skill("release-notes", f"---\nname: release-notes\ndescription: Notes\n---\n{WORD}\n")
    server.mind = reader
    source = (ROOT / "src" / "skillc" / "adapters" / f"{name}.py").read_text(encoding="utf-8")
    _, imports, program, *_ = (ast.get_docstring(ast.parse(source)) or "").split("\n\n")
    run(textwrap.dedent(f"{imports}\n{program}\n"), world, environment(server))
    assert WORD in server.seen[0].users[0]


def test_building(world: World) -> None:
    """[LIB: AgentFactory changes] docs/adapters.md: a source of one's own, denied and preloaded skills."""
    skills = world.project / "skills"
    world.skill("release-notes", f"---\nname: release-notes\ndescription: Notes\n---\n{WORD}\n", store=skills)
    world.skill("secret", store=skills / "internal")
    (example,) = examples("docs/adapters.md", "Building")
    prompt = run(example, world, {})
    assert WORD in prompt
    assert "internal" not in prompt
