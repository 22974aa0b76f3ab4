"""Our entry among an agent's MCP servers, as text: how it is put into a file, found and cut.

The files are JSON, perhaps with comments, except Codex's TOML. Every other byte stays. What can't be read is
never written; the error says what to add by hand.
"""

from __future__ import annotations

import json
import os
import site
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillc.errors import SkillcError
from skillc.jsonc import count_comments, cut_value, parse_jsonc, put_value
from skillc.paths import is_inside
from skillc.settings import parse_toml
from skillc.toml import is_comment, split_lines, split_parts

if TYPE_CHECKING:
    from skillc.setup.clients import Agent

NAME = "skillc"
_OPTIONS = (["-I"], ["-E", "-P"])  # of Python; `command` says which and why
_ON_PATH = ["skc", "mcp"]
_BY_UVX = ["uvx", "--from", NAME, *_ON_PATH]


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


def put_entry(before: str, agent: Agent, path: str, start: Sequence[str]) -> str:
    """Return the text of an agent's file with our entry in it."""
    return (_toml if path.endswith(".toml") else _json)(before, agent, path, start)


def cut_entry(before: str, agent: Agent, path: str) -> str:
    """Return the text of an agent's file without our entry."""
    return (_cut_toml if path.endswith(".toml") else _cut_json)(before, agent, path)


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


def is_our_entry(entry: object, agent: Agent) -> bool:
    """Return whether an entry is as --install writes it, perhaps from another place or an older version."""
    program = program_of(entry)
    starts = [[program, *options, "-m", "skillc", "mcp"] for options in _OPTIONS if os.path.isabs(program)]
    return entry in [_server(agent, start) for start in (*starts, _ON_PATH, _BY_UVX)]


def program_of(entry: object) -> str:
    """Return the program that an entry starts; empty where it starts none."""
    command = entry.get("command") if isinstance(entry, dict) else None
    first = command[0] if isinstance(command, list) and command else command
    return first if isinstance(first, str) else ""


def render_entry(agent: Agent, path: str, start: Sequence[str]) -> str:
    """Return our entry alone, as it stands in such a file."""
    return _render(agent, path, _server(agent, start))


def loses_comments(before: str, after: str, entry: object, path: str) -> bool:
    """Return whether there are comments within an entry, which a person wrote."""
    if path.endswith(".toml"):
        return before.count("#") - after.count("#") > str(entry).count("#")
    return count_comments(before) > count_comments(after)


def render_file(entry: object, agent: Agent, path: str) -> str:
    """Return a file with nothing but an entry, as --install makes it."""
    server = entry if isinstance(entry, dict) else {}
    text = _render(agent, path, server)
    return text if path.endswith(".toml") else f"{text}\n"


def _render(agent: Agent, path: str, server: Mapping[str, Any]) -> str:
    if path.endswith(".toml"):
        return f"[{agent.key}.{NAME}]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in server.items())
    return json.dumps({agent.key: {NAME: server}}, ensure_ascii=False, indent=2)


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
            f"Add this yourself:\n{render_entry(agent, path, start)}",
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
            if not loses_comments(before, rest, servers[NAME], path):
                return _toml(rest, agent, path, start)
        raise SkillcError(
            f"'{path}' has another [{agent.key}.{NAME}]; nothing was written",
            f"Put this in its place yourself:\n{render_entry(agent, path, start)}",
        )
    return _append_table(before, settings, agent, path, start)


def _append_table(
    before: str, settings: Mapping[str, Any], agent: Agent, path: str, start: Sequence[str]
) -> str:
    """Return the file with our table at its end, if it is one more server then and else as it was."""
    entry, servers = render_entry(agent, path, start), settings.get(agent.key, {})
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
