"""Answer the hook that an agent calls before it uses a tool: may it read an installed skill unasked?

Only by a skill's name, and only those in the user's own stores or deployed from there. A path, a file whose
name starts with a dot, another command or option, a pipe, a variable: about all that nothing is said, and the
agent asks as usual. So `skc open . .env` is no way around the agent's own rules. What would ask a network is
left to the agent, too.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from skillc.errors import SkillcError
from skillc.library import GLOBAL, list_folders, resolve
from skillc.listing.hook import directory_of, log_fault, read_request
from skillc.skills import is_segment

TEXT, PATH, SWITCH = "text", "path", "switch"
_FORMAT = {"--format": TEXT}
# Commands that read, with their options, and what follows the skill.
COMMANDS: Mapping[str, tuple[Mapping[str, str], tuple[str, ...]]] = {
    "outline": ({"--level": TEXT, **_FORMAT}, ()),
    "show": ({"--section": TEXT, "--file": PATH, "--max-lines": TEXT, **_FORMAT}, ()),
    "search": (
        {"--limit": TEXT, "--any": SWITCH, "--phrase": SWITCH, "--raw": SWITCH, **_FORMAT},
        (TEXT,),
    ),
    "open": ({"--max-lines": TEXT, **_FORMAT}, (PATH,)),
    "sources": ({"--depth": TEXT, "--dir": PATH, "--limit": TEXT, "--pattern": TEXT, **_FORMAT}, ()),
}
_SCOPE = ("--repository", "--collection", "--capability", "--tag", "--limit", "--format")
FIND: Mapping[str, str] = {"--all": SWITCH, **dict.fromkeys(_SCOPE, TEXT)}
PATHS = ("file", "path", "dir")  # arguments of our tools over MCP
MCP = "mcp__skillc__"
MAX_COMMAND = 10_000
# A word without anything that a shell acts on, but for quotes around plain text.
_WORD = r"""(?:[\w./:@,+=-]|'[^'\n]*'|"[^"$`\\!\n]*")+"""
_COMMAND = re.compile(rf"{_WORD}(?: +{_WORD})*")
REASON = "skc reads a skill that you installed"


def answer_permission(agent: str) -> None:
    """Read an agent's JSON on stdin, and write an answer on stdout if the tool may be used. Never fails."""
    try:
        request = read_request()
        if is_allowed(request, directory_of(request)):
            event = '"hookEventName": "PreToolUse", "permissionDecision": "allow"'
            sys.stdout.write(f'{{"hookSpecificOutput": {{{event}, "permissionDecisionReason": "{REASON}"}}}}')
            sys.stdout.flush()
    except Exception as error:
        log_fault(agent, error)


def is_allowed(request: Mapping[str, Any], cwd: str) -> bool:
    """Return whether a use of a tool only reads an installed skill, or finds one."""
    name, values = request.get("tool_name"), request.get("tool_input")
    if not isinstance(name, str) or not isinstance(values, dict):
        return False
    if name.startswith(MCP):
        return _allows_tool(name.removeprefix(MCP), values, cwd)
    command = values.get("command")
    return name == "Bash" and isinstance(command, str) and _allows_command(split_command(command), cwd)


def split_command(text: str) -> list[str]:
    """Return the words of a plain command; none of one with anything in it that a shell acts on.

    >>> split_command('skc show pdf --section "Filling forms"')
    ['skc', 'show', 'pdf', '--section', 'Filling forms']
    >>> split_command("skc show pdf; rm x"), split_command('skc find "$(id)"')
    ([], [])
    """
    text = text.strip(" ")
    return shlex.split(text) if len(text) <= MAX_COMMAND and _COMMAND.fullmatch(text) else []


def _allows_tool(tool: str, values: Mapping[str, Any], cwd: str) -> bool:
    if tool in ("skc_find", "browse_skills"):
        return _is_local(cwd)
    if tool == "load_skill":
        return _is_installed(values.get("id"), cwd) and _is_local(cwd)
    if tool.removeprefix("skc_") not in COMMANDS or not tool.startswith("skc_"):
        return False
    paths = [values[name] for name in PATHS if values.get(name) is not None]
    return all(map(_is_inner, paths)) and _is_installed(values.get("skill"), cwd)


def _allows_command(words: Sequence[str], cwd: str) -> bool:
    if len(words) < 3 or words[0] != "skc":
        return False
    if words[1] == "find":
        return len(_parse(words[2:], FIND) or ()) == 1 and _is_local(cwd)
    if words[1] not in COMMANDS:
        return False
    options, kinds = COMMANDS[words[1]]
    rest = _parse(words[2:], options)
    if not rest or len(rest) != 1 + len(kinds):
        return False
    are_inner = all(kind != PATH or _is_inner(word) for word, kind in zip(rest[1:], kinds, strict=True))
    return are_inner and _is_installed(rest[0], cwd)


def _parse(words: Sequence[str], options: Mapping[str, str]) -> list[str] | None:
    """Return the words that are no options; None for an option or a path that is not allowed."""
    rest: list[str] = []
    todo = list(reversed(words))
    while todo:
        word = todo.pop()
        if not word.startswith("-"):
            rest.append(word)
            continue
        name, equals, value = word.partition("=")
        kind = options.get(name)
        if kind is None or (kind == SWITCH and equals):
            return None
        if kind != SWITCH and not equals:
            if not todo:
                return None
            value = todo.pop()
        if kind == PATH and not _is_inner(value):
            return None
    return rest


def _is_inner(path: object) -> bool:
    """Return whether a path leads to a file of a skill that has nothing hidden on the way."""
    if not isinstance(path, str) or not path or "\0" in path:
        return False
    parts = path.replace("\\", "/").split("/")
    return ":" not in parts[0] and all(part and not part.startswith((".", "~")) for part in parts)


def _is_installed(name: object, cwd: str) -> bool:
    """Return whether a name means a skill of the user's own, and nothing else in this directory."""
    if not isinstance(name, str) or not all(map(is_segment, name.split("/"))):
        return False
    try:
        by_name, meant = resolve(name, cwd, may_be_path=False), resolve(name, cwd)
    except SkillcError:
        return False
    return by_name.scope == GLOBAL and by_name.source == meant.source


def _is_local(cwd: str) -> bool:
    """Return whether all repositories are folders, so that finding asks no network."""
    return list_folders(cwd) is not None
