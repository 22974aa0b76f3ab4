"""Add this server to an agent's configuration: keep what is there, show the change, then write it.

The files are JSON, except Codex's TOML. One that is neither (it may have comments) is never written; the
error says what to add by hand.
"""

from __future__ import annotations

import difflib
import json
import os
import site
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillc import atomic
from skillc.errors import InvalidOption, SkillcError
from skillc.paths import is_inside, user_home
from skillc.settings import parse_toml

NAME = "skillc"


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent's configuration of MCP servers: files below the home and the project, and the key in them."""

    user: str
    project: str = ""
    key: str = "mcpServers"
    style: str = "plain"  # plain, typed (with "type": "stdio"), or opencode


_CONFIG = {"darwin": "Library/Application Support", "win32": "AppData/Roaming"}.get(sys.platform, ".config")
AGENTS: Mapping[str, Agent] = {
    "claude": Agent(".claude.json", ".mcp.json", style="typed"),
    "claude-desktop": Agent(f"{_CONFIG}/Claude/claude_desktop_config.json"),
    "codex": Agent(".codex/config.toml", ".codex/config.toml", key="mcp_servers"),
    "cursor": Agent(".cursor/mcp.json", ".cursor/mcp.json"),
    "gemini": Agent(".gemini/settings.json", ".gemini/settings.json"),
    "opencode": Agent(".config/opencode/opencode.json", "opencode.json", key="mcp", style="opencode"),
    "vscode": Agent(f"{_CONFIG}/Code/User/mcp.json", ".vscode/mcp.json", key="servers", style="typed"),
    "windsurf": Agent(".codeium/windsurf/mcp_config.json"),
}


@dataclass(frozen=True, slots=True)
class Change:
    """A change to a file: `difference` is for people, `text` is None where nothing has to change."""

    path: str
    difference: str
    text: str | None

    def write(self) -> None:
        """Write the file, whole or not at all."""
        target = os.path.realpath(self.path)  # the file may be a link into a folder of settings
        os.makedirs(os.path.dirname(target), exist_ok=True)
        mode = os.stat(target).st_mode & 0o777 if os.path.exists(target) else None
        atomic.write(target, (self.text or "").encode(), durable=True)
        if mode is not None:
            os.chmod(target, mode)


def agents() -> list[str]:
    """Return the agents whose configuration is known."""
    return sorted(AGENTS)


def plan(agent: str, cwd: str, *, project: bool = False) -> Change:
    """Return what adding this server to an agent would change; raises InvalidOption for an unknown one."""
    settings = AGENTS.get(agent)
    if settings is None:
        raise InvalidOption(f'unknown agent "{agent}"; --install takes {", ".join(agents())}')
    if project and not settings.project:
        raise InvalidOption(f"{agent} has no configuration of a project; leave --project out")
    home = user_home()
    if home is None and not project:
        raise SkillcError("there is no home directory; set HOME")
    path = os.path.join(cwd, settings.project) if project else os.path.join(home or "", settings.user)
    before = _read(path)
    after = (_toml if path.endswith(".toml") else _json)(before, settings, path)
    if after is None:
        return Change(path, _entry(settings, path), None)
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "now", "then", lineterm="", n=2)
    return Change(path, "\n".join(lines), after)


def command() -> list[str]:
    """Return the command that starts this server in any directory: an agent may have no shell's PATH.

    With -I, Python takes no module from the directory it is started in, nor from PYTHONPATH. That leaves
    out the user's own packages too, so where skc is one of those, the two other parts of -I are named.
    """
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    options = ["-E", "-P"] if is_inside(package, site.getusersitepackages()) else ["-I"]
    return [os.path.abspath(sys.executable), *options, "-m", "skillc", "mcp"]


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise SkillcError(f"cannot read '{path}': {getattr(error, 'strerror', None) or error}") from None


def _server(agent: Agent) -> dict[str, Any]:
    program, *words = command()
    if agent.style == "opencode":
        return {"type": "local", "command": [program, *words], "enabled": True}
    kind = {"type": "stdio"} if agent.style == "typed" else {}
    return kind | {"command": program, "args": words}


def _json(before: str, agent: Agent, path: str) -> str | None:
    """Return the file with our entry in it; None where it is there already."""
    try:
        settings = json.loads(before) if before.strip() else {}
    except ValueError:
        settings = None
    servers = settings.setdefault(agent.key, {}) if isinstance(settings, dict) else None
    if not isinstance(servers, dict):
        raise SkillcError(
            f"'{path}' is not plain JSON with an object in it; nothing was written",
            f"Add this yourself:\n{_entry(agent, path)}",
        )
    if servers.get(NAME) == _server(agent):
        return None
    servers[NAME] = _server(agent)
    line = next((line for line in before.splitlines() if line[:1] in (" ", "\t") and line.strip()), "  ")
    space = line[: len(line) - len(line.lstrip())]
    indent = "\t" if space.startswith("\t") else len(space)
    return json.dumps(settings, ensure_ascii=False, indent=indent) + "\n"


def _toml(before: str, agent: Agent, path: str) -> str | None:
    """Return the file with our table at its end; None where it is there already."""
    try:
        servers = parse_toml(before).get(agent.key, {})
    except ValueError as error:
        raise SkillcError(f"'{path}' is not valid TOML ({error}); nothing was written") from None
    if isinstance(servers, dict) and NAME in servers:
        if servers[NAME] == _server(agent):
            return None
        raise SkillcError(
            f"'{path}' has another [{agent.key}.{NAME}]; nothing was written",
            f"Put this in its place yourself:\n{_entry(agent, path)}",
        )
    space = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    return f"{before}{space}{_entry(agent, path)}"


def _entry(agent: Agent, path: str) -> str:
    """Return our entry alone, as it stands in such a file."""
    server = _server(agent)
    if path.endswith(".toml"):
        return f"[{agent.key}.{NAME}]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in server.items())
    return json.dumps({agent.key: {NAME: server}}, ensure_ascii=False, indent=2)
