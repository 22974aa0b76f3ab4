"""A framework that is not there is one line that says what to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from skillc.errors import install_command

FRAMEWORKS = {
    "openai_agents": ("agents", "the OpenAI Agents SDK", "openai-agents"),
    "anthropic": ("anthropic", "the Anthropic SDK", "anthropic"),
    "langchain": ("langchain", "LangChain", "langchain"),
    "pydantic_ai": ("pydantic_ai", "pydantic-ai", "pydantic-ai"),
}


def failing_import(adapter: str, before: str, cwd: Path) -> str:
    code = f"import sys\n{before}\nimport skillc.adapters.{adapter}"
    run = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "During handling" not in run.stderr
    return run.stderr.splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("adapter", FRAMEWORKS)
def test_not_installed(adapter: str, tmp_path: Path) -> None:
    """[RFC-0005] one line: what is missing, and the command that installs it."""
    package, framework, extra = FRAMEWORKS[adapter]
    hide = (
        "class Nothing:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name.partition('.')[0] == {package!r}: raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Nothing())"
    )
    line = failing_import(adapter, hide, tmp_path)
    needs = f"{framework} is not installed"
    assert line == f"skillc.errors.MissingExtra: {needs}: {install_command(extra)}"


def test_hidden_by_another_module(tmp_path: Path) -> None:
    """[RFC-0005] `agents` is a name that programs use themselves; the line says whose file it is."""
    (tmp_path / "agents.py").write_text("mine = True\n")
    line = failing_import("openai_agents", "sys.path.insert(0, '.')", tmp_path)
    assert "the OpenAI Agents SDK can't be used (cannot import name" in line
    assert "agents.py" in line
