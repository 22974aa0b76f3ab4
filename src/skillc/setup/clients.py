"""Put this program's MCP server into agents' configurations, and take it out: show the change, then write it.

The files are JSON, perhaps with comments, except Codex's TOML. The entry is put into the text or cut from it,
and every other byte stays. What can't be read is never written; the error says what to add by hand.
"""

from __future__ import annotations

import difflib
import json
import os
import site
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillc import atomic, paths, trash
from skillc.compiler import agents_by_name, unknown_agent
from skillc.errors import InvalidOption, SkillcError
from skillc.jsonc import count_comments, cut_value, parse_jsonc, put_value
from skillc.paths import is_inside, user_home
from skillc.settings import parse_toml
from skillc.shared_files import read_text, replace_file
from skillc.toml import is_comment, split_lines, split_parts

NAME = "skillc"
_OPTIONS = (["-I"], ["-E", "-P"])  # of Python; `command` says which and why
_ON_PATH = ["skc", "mcp"]
_BY_UVX = ["uvx", "--from", NAME, *_ON_PATH]


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


def plan_addition(agent: str, cwd: str, *, project: bool = False) -> ClientChange:
    """Return what adding this server to an agent would change; raises InvalidOption for an unknown one."""
    display, settings = find_client(agent, "--install")
    start = command(project=project)
    if settings is None:
        return ClientChange(display, "", _entry(Agent(""), "", start), None)
    path = place_client(display, settings, cwd, project)
    before = read_text(path)
    after = put_entry(before, settings, path, start)
    if after == before:
        return ClientChange(display, path, _entry(settings, path, start), None)
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
    is_ours = is_our_entry(entry, settings) and not _loses_comments(before, after, entry, path)
    difference = compare(before, after)
    if not (is_ours or force):
        obstacle = "a person changed this entry; --force removes it all the same"
        return ClientChange(display, path, difference, None, obstacle)
    # A file that --install made; never one that a link leads to.
    is_whole = is_ours and not os.path.islink(path) and before == _whole(entry, settings, path)
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
                parts = (_program(entry), is_our_entry(entry, agent), is_project)
                registrations.append(Registration(name, path, *parts))
    return registrations


def put_entry(before: str, agent: Agent, path: str, start: Sequence[str]) -> str:
    """Return the text of an agent's file with our entry in it."""
    return (_toml if path.endswith(".toml") else _json)(before, agent, path, start)


def cut_entry(before: str, agent: Agent, path: str) -> str:
    """Return the text of an agent's file without our entry."""
    return (_cut_toml if path.endswith(".toml") else _cut_json)(before, agent, path)


def find_client(name: str, option: str) -> tuple[str, Agent | None]:
    """Return an agent by any of its names, as people call it, and where its servers are, if that is known."""
    agents = agents_by_name()
    agent = agents.get(name.lower())
    if agent is None and name not in AGENTS:
        raise unknown_agent(name, option, dict.fromkeys(AGENTS) | agents, "one of")
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


def command(*, project: bool = False) -> list[str]:
    """Return the command that starts this server in any directory: an agent may have no shell's PATH.

    A project's file is for everybody's machine, and so has no path of this one. Nor has an entry written from
    uvx, whose environments are a cache.

    With -I, Python takes no module from the directory it is started in, nor from PYTHONPATH. That leaves
    out the user's own packages too, so where skc is one of those, the two other parts of -I are named.
    """
    if any(part.startswith("archive-v") for part in sys.prefix.split(os.sep)):
        return _BY_UVX
    if project:
        return _ON_PATH
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    options = _OPTIONS[is_inside(package, site.getusersitepackages())]
    return [os.path.abspath(sys.executable), *options, "-m", "skillc", "mcp"]


def _server(agent: Agent, start: Sequence[str]) -> dict[str, Any]:
    program, *words = start
    if agent.style == "opencode":
        return {"type": "local", "command": [program, *words], "enabled": True}
    kind = {"type": "stdio"} if agent.style == "typed" else {}
    return kind | {"command": program, "args": words}


def _json(before: str, agent: Agent, path: str, start: Sequence[str]) -> str:
    """Return the file with our entry in it."""
    server = _server(agent, start)
    try:
        if find_entry(before, agent, path) == server:
            return before
        return put_value(before, (agent.key, NAME), server)
    except (SkillcError, ValueError, IndexError):
        raise SkillcError(
            f"'{path}' is not JSON with an object in it; nothing was written",
            f"Add this yourself:\n{_entry(agent, path, start)}",
        ) from None


def _toml(before: str, agent: Agent, path: str, start: Sequence[str]) -> str:
    """Return the file with our table at its end."""
    try:
        settings = parse_toml(before, parse_float=str)
    except (ValueError, RecursionError) as error:
        raise SkillcError(f"'{path}' is not valid TOML ({error}); nothing was written") from None
    servers = settings.get(agent.key, {})
    if isinstance(servers, dict) and NAME in servers:
        if servers[NAME] == _server(agent, start):
            return before
        if is_our_entry(servers[NAME], agent):  # of another place, or for this machine alone
            rest = _cut_toml(before, agent, path)
            if not _loses_comments(before, rest, servers[NAME], path):
                return _toml(rest, agent, path, start)
        raise SkillcError(
            f"'{path}' has another [{agent.key}.{NAME}]; nothing was written",
            f"Put this in its place yourself:\n{_entry(agent, path, start)}",
        )
    return _append_table(before, settings, agent, path, start)


def _append_table(
    before: str, settings: Mapping[str, Any], agent: Agent, path: str, start: Sequence[str]
) -> str:
    """Return the file with our table at its end, if it is one more server then and else as it was."""
    entry, servers = _entry(agent, path, start), settings.get(agent.key, {})
    end = "\r\n" if "\r\n" in before else "\n"
    space = "" if not before else end if before.endswith("\n") else end * 2
    after = f"{before}{space}{end.join(entry.split(chr(10)))}"
    try:
        wanted = {**settings, agent.key: {**servers, NAME: _server(agent, start)}}
        if parse_toml(after, parse_float=str) == wanted:
            return after
    except (ValueError, TypeError):  # the servers are a list, say, or a table on one line
        pass
    raise SkillcError(
        f"'{path}' has '{agent.key}' in a form that skc can't add to; nothing was written",
        f"Add this to it yourself:\n{entry}",
    )


def _entry(agent: Agent, path: str, start: Sequence[str]) -> str:
    """Return our entry alone, as it stands in such a file."""
    return _render(agent, path, _server(agent, start))


def _render(agent: Agent, path: str, server: Mapping[str, Any]) -> str:
    if path.endswith(".toml"):
        return f"[{agent.key}.{NAME}]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in server.items())
    return json.dumps({agent.key: {NAME: server}}, ensure_ascii=False, indent=2)


def find_entry(text: str, agent: Agent, path: str) -> object:
    """Return our entry in a file; None without one."""
    if not text.strip():
        return None
    try:
        settings = parse_toml(text) if path.endswith(".toml") else parse_jsonc(text)
    except (ValueError, RecursionError, IndexError) as error:
        kind = "TOML" if path.endswith(".toml") else "JSON"
        raise SkillcError(f"'{path}' is not valid {kind} ({error}); nothing was written") from None
    servers = settings.get(agent.key) if isinstance(settings, dict) else None
    return servers.get(NAME) if isinstance(servers, dict) else None


def _program(entry: object) -> str:
    """Return the program that an entry starts; empty where it starts none."""
    command = entry.get("command") if isinstance(entry, dict) else None
    first = command[0] if isinstance(command, list) and command else command
    return first if isinstance(first, str) else ""


def is_our_entry(entry: object, agent: Agent) -> bool:
    """Return whether an entry is as --install writes it, perhaps from another place or an older version."""
    program = _program(entry)
    starts = [[program, *options, "-m", "skillc", "mcp"] for options in _OPTIONS if os.path.isabs(program)]
    return entry in [_server(agent, start) for start in (*starts, _ON_PATH, _BY_UVX)]


def _loses_comments(before: str, after: str, entry: object, path: str) -> bool:
    """Return whether there are comments within an entry, which a person wrote."""
    if path.endswith(".toml"):
        return before.count("#") - after.count("#") > str(entry).count("#")
    return count_comments(before) > count_comments(after)


def _whole(entry: object, agent: Agent, path: str) -> str:
    """Return a file with nothing but an entry, as --install makes it."""
    server = entry if isinstance(entry, dict) else {}
    text = _render(agent, path, server)
    return text if path.endswith(".toml") else f"{text}\n"


def _cut_json(before: str, agent: Agent, path: str) -> str:
    try:
        after = cut_value(before, (agent.key, NAME))
        settings = parse_jsonc(before)
        settings[agent.key].pop(NAME)
        if parse_jsonc(after) == settings:
            return after
    except (ValueError, IndexError):
        pass
    raise _by_hand(agent, path)


def _cut_toml(before: str, agent: Agent, path: str) -> str:
    """Cut our table and those below it; comments stay, one of the two gaps around it does not."""
    text = before.removeprefix("\ufeff")
    lines = split_lines(text)
    cut: set[int] = set()
    for part in split_parts(lines):
        servers = part.data.get(agent.key)
        if len(part.data) == 1 and isinstance(servers, dict) and list(servers) == [NAME]:
            cut.update(n for n in range(part.start, part.end) if not is_comment(lines[n]))
            if part.start and not lines[part.start - 1].strip():
                cut.add(part.start - 1)
    kept = "".join(line for number, line in enumerate(lines) if number not in cut)
    after = before[: len(before) - len(text)] + kept
    try:
        settings = parse_toml(before, parse_float=str)
        settings[agent.key].pop(NAME)
        rest = parse_toml(after, parse_float=str)
    except (ValueError, RecursionError):
        raise _by_hand(agent, path) from None
    if rest.get(agent.key, {}) != settings[agent.key] or {**rest, agent.key: 0} != {**settings, agent.key: 0}:
        raise _by_hand(agent, path)
    return after


def _by_hand(agent: Agent, path: str) -> SkillcError:
    return SkillcError(f"'{path}': '{agent.key}.{NAME}' can't be cut safely; remove it by hand")
