"""A framework that is not there is one line that says what to install."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from skillc.errors import install_command

FRAMEWORKS = {
    "openai_agents": ("agents", "the OpenAI Agents SDK", "openai-agents"),
    "anthropic": ("anthropic", "the Anthropic SDK", "anthropic"),
    "langchain": ("langchain", "LangChain", "langchain"),
    "pydantic_ai": ("pydantic_ai", "pydantic-ai", "pydantic-ai"),
}


def failing_imports(adapters: Iterable[str], before: str, cwd: Path) -> list[str]:
    """Import adapters in a process of its own; return the line that each fails with."""
    code = f"""
import importlib, sys, traceback
{before}
for name in {[*adapters]!r}:
    try:
        importlib.import_module("skillc.adapters." + name)
    except Exception:
        traceback.print_exc()
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=True)
    assert "During handling" not in run.stderr
    return [line for line in run.stderr.splitlines() if line.startswith("skillc.errors.")]


HIDE = """
class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] in {}: raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Nothing())
"""


@pytest.mark.slow
def test_not_installed(tmp_path: Path) -> None:
    """[RFC-0005] one line: what is missing, and the command that installs it."""
    packages = [package for package, _, _ in FRAMEWORKS.values()]
    assert failing_imports(FRAMEWORKS, HIDE.format(packages), tmp_path) == [
        f"skillc.errors.MissingExtra: {framework} is not installed: {install_command(extra)}"
        for _, framework, extra in FRAMEWORKS.values()
    ]


def test_hidden_by_another_module(tmp_path: Path) -> None:
    """[RFC-0005] `agents` is a name that programs use themselves; the line says whose file it is."""
    (tmp_path / "agents.py").write_text("mine = True\n")
    (line,) = failing_imports(["openai_agents"], "sys.path.insert(0, '.')", tmp_path)
    assert "the OpenAI Agents SDK can't be used (cannot import name" in line
    assert "agents.py" in line
