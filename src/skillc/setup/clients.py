"""Where agents keep their files, and `skc mcp --install`: show the change of one, then write it."""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from skillc import atomic, paths, trash
from skillc.compiler import agents_by_name, unknown_agent
from skillc.contract import Result, hidden
from skillc.errors import InvalidOption, SkillcError
from skillc.paths import user_home
from skillc.setup.mcp_entry import (
    NAME,
    command,
    cut_entry,
    find_entry,
    is_our_entry,
    loses_comments,
    program_of,
    put_entry,
    render_entry,
    render_file,
)
from skillc.shared_files import read_text, replace_file
from skillc.surface import Here


@dataclass(frozen=True, slots=True)
class Agent:
    """Where an agent keeps its MCP servers: files below the home and the project, and the key in them.

    `display` is the name of one that is not in the table of agents.
    """

    user: str
    project: str = ""
    key: str = "mcpServers"
    style: str = "plain"  # plain, typed (with "type": "stdio"), or opencode
    display: str = ""


_CONFIG = {"darwin": "Library/Application Support", "win32": "AppData/Roaming"}.get(sys.platform, ".config")
AGENTS: Mapping[str, Agent] = {
    "claude": Agent(".claude.json", ".mcp.json", style="typed"),
    "claude-desktop": Agent(f"{_CONFIG}/Claude/claude_desktop_config.json", display="Claude Desktop"),
    "codex": Agent(".codex/config.toml", ".codex/config.toml", key="mcp_servers"),
    "cursor": Agent(".cursor/mcp.json", ".cursor/mcp.json"),
    "gemini": Agent(".gemini/settings.json", ".gemini/settings.json"),
    "opencode": Agent(".config/opencode/opencode.json", "opencode.json", key="mcp", style="opencode"),
    "vscode": Agent(
        f"{_CONFIG}/Code/User/mcp.json",
        ".vscode/mcp.json",
        key="servers",
        style="typed",
        display="Visual Studio Code",
    ),
    "windsurf": Agent(".codeium/windsurf/mcp_config.json"),
}


# The folders of agents that a variable moves; Claude Code keeps the file of its servers in its folder then.
_MOVES = {
    ".claude": "CLAUDE_CONFIG_DIR",
    ".claude.json": "CLAUDE_CONFIG_DIR",
    ".codex": "CODEX_HOME",
    ".config": "XDG_CONFIG_HOME",
}


def agent_file(path: str) -> str:
    """Return where a file of an agent's is that is at `path` in the home, unless a variable moves it."""
    top, _, rest = path.partition("/")
    moved = os.environ.get(_MOVES.get(top, ""), "")
    if moved:
        return os.path.join(os.path.abspath(moved), rest or top)
    home = user_home()
    if home is None:
        raise SkillcError("there is no home directory; set HOME")
    return os.path.join(home, path)


@dataclass(frozen=True, slots=True)
class ClientChange:
    """A change to a file: `difference` is for people, `text` is None where nothing has to change.

    Of an agent whose file is not known there is no `path`, and `difference` is the entry to add by hand. An
    `obstacle` says why nothing may change. A file that `is_whole` has nothing else in it, and goes. One
    `is_edited` if a person wrote something that goes: a copy of the file goes to the trash.
    """

    agent: str
    path: str
    difference: str
    text: str | None
    obstacle: str = ""
    is_whole: bool = False
    is_edited: bool = False

    def write(self) -> str:
        """Write the file, whole or not at all, and return what was done."""
        target = os.path.realpath(self.path)  # the file may be a link into a folder of settings
        if self.is_edited:
            copy = atomic.temporary_path(target)
            atomic.write(copy, read_text(target).encode(), private=True)
            item = trash.put(copy, f"{NAME}'s entry was removed from it", origin=self.path)
        if self.is_whole:
            os.unlink(self.path)
            return f"Removed {self.path}, which had nothing else in it"
        replace_file(self.path, self.text or "")
        note = f"; as it was, it is in the trash as {item.id}" if self.is_edited else ""
        return f"Written to {self.path}{note}; restart {self.agent}, which reads it when it starts"


@dataclass(frozen=True, slots=True)
class ClientOutcome(Result):
    """What became of a change: `note` says it to people, and an `obstacle` why nothing was written."""

    agent: str
    path: str
    changed: bool
    written: bool
    difference: str
    note: str = hidden("")
    obstacle: str = hidden("")


@dataclass(frozen=True, slots=True)
class Registration:
    """Our entry in an agent's configuration: the program that it starts, and whether we wrote all of it."""

    agent: str
    path: str
    program: str
    is_ours: bool
    is_project: bool


def client_names() -> list[str]:
    """Return the agents whose configuration is known."""
    return sorted(AGENTS)


def change_client(
    here: Here,
    agent: str,
    *,
    remove: bool = False,
    project: bool = False,
    force: bool = False,
    dry_run: bool = False,
) -> ClientOutcome:
    """Put this server into an agent's configuration, the project's or the user's, or take it out of that.

    Raises InvalidOption for an agent that is not known. With `force`, what a person changed goes, too.
    """
    if remove:
        change = plan_removal(agent, here.cwd, project=project, force=force)
        reason = f"{change.path} has no entry of skillc"
    else:
        change, reason = plan_addition(agent, here.cwd, project=project), "it is there already"
    is_new = change.text is not None
    is_written = is_new and not dry_run and not change.obstacle
    if not change.path:
        note = f"skc does not know where {change.agent} keeps its MCP servers: add this to them yourself."
    elif not is_new:
        note = f"Nothing to do: {reason}."
    else:
        note = change.write() if is_written else "Nothing was written."
    obstacle = f"'{change.path}': {change.obstacle}; nothing was written" if change.obstacle else ""
    return ClientOutcome(agent, change.path, is_new, is_written, change.difference, note, obstacle)


def plan_addition(agent: str, cwd: str, *, project: bool = False) -> ClientChange:
    """Return what adding this server to an agent would change; raises InvalidOption for an unknown one."""
    display, settings = find_client(agent, "--install")
    start = command(project=project)
    if settings is None:
        return ClientChange(display, "", render_entry(Agent(""), "", start), None)
    path = place_client(display, settings, cwd, project)
    before = read_text(path)
    after = put_entry(before, settings, path, start)
    if after == before:
        return ClientChange(display, path, render_entry(settings, path, start), None)
    return ClientChange(display, path, compare(before, after), after)


def plan_removal(agent: str, cwd: str, *, project: bool = False, force: bool = False) -> ClientChange:
    """Return what removing this server from an agent would change; raises InvalidOption for an unknown one.

    An entry that a person changed is an obstacle, unless with `force`.
    """
    display, settings = find_client(agent, "--uninstall")
    if settings is None:
        advice = f"take the entry '{NAME}' out of them by hand"
        raise InvalidOption(f"skc does not know where {display} keeps its MCP servers; {advice}")
    path = place_client(display, settings, cwd, project)
    before = read_text(path)
    entry = find_entry(before, settings, path)
    if entry is None:
        return ClientChange(display, path, "", None)
    after = cut_entry(before, settings, path)
    is_ours = is_our_entry(entry, settings) and not loses_comments(before, after, entry, path)
    difference = compare(before, after)
    if not (is_ours or force):
        obstacle = "a person changed this entry; --force removes it all the same"
        return ClientChange(display, path, difference, None, obstacle)
    # A file that --install made; never one that a link leads to.
    is_whole = is_ours and not os.path.islink(path) and before == render_file(entry, settings, path)
    return ClientChange(display, path, difference, after, is_whole=is_whole, is_edited=not is_ours)


def find_registrations(cwd: str) -> list[Registration]:
    """Return our entries in the configurations of all agents, of the user and of the project in `cwd`.

    A file that can't be read has none: adding and removing say what is wrong with it.
    """
    registrations = []
    for name, agent in AGENTS.items():
        places = {os.path.join(cwd, agent.project): True} if agent.project else {}
        places |= {agent_file(agent.user): False} if user_home() else {}
        for path, is_project in places.items():
            try:
                entry = find_entry(read_text(path), agent, path)
            except SkillcError:
                continue
            if entry is not None:
                parts = (program_of(entry), is_our_entry(entry, agent), is_project)
                registrations.append(Registration(name, path, *parts))
    return registrations


def find_client(name: str, option: str, *, needs_files: bool = False) -> tuple[str, Agent | None]:
    """Return an agent by any of its names, as people call it, and where its servers are, if that is known.

    The error for an unknown name lists all agents, or with `needs_files` those whose files are known.
    """
    agents = agents_by_name()
    agent = agents.get(name.lower())
    if agent is None and name not in AGENTS:
        choices = dict.fromkeys(AGENTS) | ({} if needs_files else agents)
        raise unknown_agent(name, option, choices, "one of")
    names = (name, agent.name, *agent.aliases) if agent else (name,)
    settings = next(filter(None, map(AGENTS.get, names)), None)
    return (agent.display if agent else settings.display if settings else "") or name, settings


def place_client(name: str, agent: Agent, cwd: str, project: bool) -> str:
    """Return the file of an agent's servers, of the project or of the user.

    Raises ProjectFolderEscapes for a project's that leads out of it.
    """
    if project:
        if not agent.project:
            raise InvalidOption(f"{name} has no configuration of a project; leave --project out")
        path = os.path.join(cwd, agent.project)
        paths.require_inside(path, cwd)
        return path
    return agent_file(agent.user)


def compare(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "now", "then", lineterm="", n=2)
    return "\n".join(lines)
