"""Run the real agents in homes of their own against a scripted model."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.agents.model import Answer, ScriptedModel

PROGRAMS = Path(__file__).parents[2] / ".cache" / "agents" / "node_modules" / ".bin"
FOLDERS = {
    "claude": ".claude/skills",
    "codex": ".codex/skills",
    "github-copilot": ".copilot/skills",
    "opencode": ".config/opencode/skills",
}
COMMANDS = {
    "claude": "claude -p {prompt} --output-format stream-json --verbose --model {model}",
    "codex": "codex exec --json --skip-git-repo-check {prompt}",
    "github-copilot": "copilot -p {prompt} --allow-all-tools",
    "opencode": "opencode run --format json {prompt}",
}
MODELS = {"claude": "claude-sonnet-4-5", "codex": "unknown", "github-copilot": "gpt-5.4", "opencode": "x/m"}


@contextmanager
def new_home(agent: str) -> Iterator[Path]:
    """Make a home that is neither temporary, where Codex refuses to work, nor below the user's.

    The test is skipped before it does anything if the agent is not here.
    """
    program = COMMANDS[agent].split()[0]
    if not (PROGRAMS / program).exists():
        pytest.skip(f"{program} is not here; scripts/agents fetches it")
    parent = Path("/var/tmp" if os.geteuid() else "/var/lib")
    home = Path(tempfile.mkdtemp(prefix="skillc-agents-", dir=parent))
    (home / "work").mkdir()
    try:
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


def ask(
    agent: str,
    home: Path,
    prompt: str = "Say hello.",
    model: str = "",
    server: Sequence[str] = (),
    more: Sequence[str] = (),
    answers: Sequence[Answer] = ("Hello.",) * 5,
) -> list[dict[str, Any]]:
    """Run an agent once, with the command of an MCP server if one is given; return what its model got.

    `more` are further options of the agent, and `answers` what the model says.
    """
    with ScriptedModel(answers) as scripted:
        env = _configure(agent, home, scripted.url, model or MODELS[agent])
        if server:
            _add_server(agent, home, server)
        words = [w.format(prompt=prompt, model=model or MODELS[agent]) for w in COMMANDS[agent].split()]
        subprocess.run(
            [str(PROGRAMS / words[0]), *words[1:], *more],
            cwd=home / "work",
            env={
                "HOME": str(home),
                "PATH": f"{home}/.local/bin:{os.environ['PATH']}",
                "LANG": "C.UTF-8",
                **env,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )
        return scripted.requests


def _configure(agent: str, home: Path, url: str, model: str) -> Mapping[str, str]:
    """Point an agent to the scripted model; return the variables that it needs besides."""
    if agent == "claude":
        quiet = {"DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
        return {
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "x",
            "CLAUDE_CONFIG_DIR": f"{home}/.claude",
        } | quiet
    if agent == "github-copilot":
        return {
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_API_KEY": "x",
            "COPILOT_MODEL": model,
        }
    if agent == "codex":
        table = f'base_url = "{url}/v1"\nname = "x"\nwire_api = "responses"\nenv_key = "KEY"\n'
        text = f'model = "{model}"\nmodel_provider = "x"\n[model_providers.x]\n{table}'
        _write(home / ".codex" / "config.toml", text)
        return {"KEY": "x", "CODEX_HOME": f"{home}/.codex"}
    options = {"baseURL": f"{url}/v1", "apiKey": "x"}
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "x", "options": options, "models": {"m": {}}}
    config = {"provider": {"x": provider}, "model": model}
    _write(home / ".config" / "opencode" / "opencode.json", json.dumps(config))
    return {}


def _add_server(agent: str, home: Path, command: Sequence[str]) -> None:
    """Add an MCP server to the configuration of Claude Code or Codex."""
    entry = {"command": command[0], "args": list(command[1:])}
    if agent == "codex":
        lines = [f"{key} = {json.dumps(value)}" for key, value in entry.items()]
        with (home / ".codex" / "config.toml").open("a") as file:
            file.write("\n".join(["[mcp_servers.skillc]", *lines, ""]))
        return
    path = home / ".claude" / ".claude.json"
    config = json.loads(path.read_text()) if path.exists() else {}
    _write(path, json.dumps(config | {"mcpServers": {"skillc": {"type": "stdio", **entry}}}))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def read_listing(agent: str, requests: list[dict[str, Any]]) -> dict[str, str]:
    """Return what an agent told its model: the description of each skill, empty where there is none."""
    text = next(text for text in _texts(requests[0]) if "kills" in text and _LISTINGS[agent].search(text))
    if agent in ("claude", "codex"):
        pattern = r"(?ms)^- ([^\n]+?)(?:: (.*?)|:)?(?= \(file: |\n- |\n</|\Z)"
        return {name: (text or "") for name, text in re.findall(pattern, text)}
    blocks = re.findall(
        r"(?s)<skill>.*?<name>(.*?)</name>.*?<description>(.*?)</description>.*?</skill>", text
    )
    rest = re.search(r"\(invoke by name\): (.*)", text)
    names = dict.fromkeys(rest.group(1).split(", "), "") if rest else {}
    return names | {name: unescape(description) for name, description in blocks}


_LISTINGS = {
    "claude": re.compile("skills are available for use"),
    "codex": re.compile("### Available skills"),
    "github-copilot": re.compile("<available_skills>\n"),
    "opencode": re.compile("<available_skills>\n"),
}


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
