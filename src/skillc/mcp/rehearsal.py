"""Rehearse the first session of an agent, so that its openings are known before it starts.

An agent that starts `skc mcp` for the first time would send its first prompt without our tools, and one that
works for a moment at a time, such as `codex exec`, all of them. What agents ask first was measured with the
real programs. The server is run once with it; the SDK answers, as in any session.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from threading import Timer
from typing import Any

from skillc import paths
from skillc.errors import SkillcError

SECONDS = 20.0  # for all answers
Message = Mapping[str, Any]


def _hello(version: str, capabilities: Message, client: Message) -> Message:
    params = {"protocolVersion": version, "capabilities": capabilities, "clientInfo": client}
    return {"method": "initialize", "params": params, "id": 0}


_CLAUDE = {
    "name": "claude-code",
    "title": "Claude Code",
    "version": "2.1.197",
    "description": "Anthropic's agentic coding tool",
    "websiteUrl": "https://claude.com/claude-code",
}
_CODEX = {"name": "codex-mcp-client", "title": "Codex", "version": "0.166.0"}
_CODEX_CAPABILITIES: Message = {
    "experimental": {"codex/auth-change": {}},
    "elicitation": {"form": {}, "url": {}},
}
_INITIALIZED = {"method": "notifications/initialized"}
SESSIONS: Mapping[str, Sequence[Message]] = {
    "claude": (
        _hello("2025-11-25", {"roots": {}, "elicitation": {}}, _CLAUDE),
        _INITIALIZED,
        {"method": "tools/list", "id": 1},
        {"method": "prompts/list", "id": 2},
        {"method": "resources/list", "id": 3},
    ),
    "codex": (
        _hello("2025-06-18", _CODEX_CAPABILITIES, _CODEX),
        _INITIALIZED,
        {"method": "tools/list", "id": 1, "params": {"_meta": {"progressToken": 0}}},
    ),
}


def rehearse(agents: Iterable[str]) -> None:
    """Run the server once for each of these agents that is known; what fails is left to its first session."""
    for agent in agents:
        with suppress(OSError, ValueError, SkillcError):
            _run(SESSIONS.get(agent, ()), paths.require_home())


def _run(messages: Sequence[Message], home: str) -> None:
    """Send messages in the home, whose resources every project starts with, and wait for each answer."""
    if not messages:
        return
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "skillc", "mcp"],
        cwd=home,
        env={**os.environ, "PWD": home},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    timer = Timer(SECONDS, process.kill)
    timer.start()
    with process, suppress(BrokenPipeError):
        assert process.stdin is not None
        assert process.stdout is not None
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            process.stdin.flush()
            if "id" in message and not process.stdout.readline():
                break  # it ended
        process.kill()
    timer.cancel()
