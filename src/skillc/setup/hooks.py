"""The hooks of agents that call skc: where they are, and our entries in them as text.

An agent runs a hook's command with JSON on stdin. Ours are guarded: where the program is gone, they say and
fail nothing.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from skillc.errors import SkillcError
from skillc.jsonc import add_item, cut_value, find_value, parse_settings
from skillc.quotes import shell_quote
from skillc.setup import clients
from skillc.shared_files import read_text

HOOK = re.compile(r"\[ -x (\S+|'[^']*') \] && .* hook (prompt|permission) --agent ")
SECONDS = 10  # after which an agent gives a hook up


@dataclass(frozen=True, slots=True)
class Hooks:
    """Where an agent keeps its hooks: the file below the home, and its names of events."""

    file: str
    prompt: str
    permission: str = ""
    next: str = ""
    is_strict: bool = False  # it reads no file with comments, or a comma too many


HOOKS: Mapping[str, Hooks] = {
    "claude": Hooks(".claude/settings.json", "UserPromptSubmit", "PreToolUse", is_strict=True),
    "codex": Hooks(".codex/hooks.json", "UserPromptSubmit", next="trust the hook when it asks"),
    "gemini": Hooks(
        ".gemini/settings.json", "BeforeAgent", next="its hook follows its documentation, untried"
    ),
}


@dataclass(frozen=True, slots=True)
class Part:
    """An entry of ours in a file. `containers` are the objects and lists around it, the innermost first."""

    what: str
    put: Callable[[str], str]
    cut: Callable[[str], str]
    containers: tuple[tuple[str, ...], ...] = ()


def hook_part(what: str, event: str, kind: str, entries: list[dict[str, Any]]) -> Part:
    """Return the part that has these entries, and no other of its kind, at an event."""
    path = ("hooks", event)

    def cut(text: str) -> str:
        groups = find_value(parse_settings(text), path)
        for number in reversed(range(len(_items(groups)))):
            commands = _items(find_value(groups, (number, "hooks")))
            ours = [n for n, each in enumerate(commands) if _is_our_hook(each, kind)]
            if ours and len(ours) == len(commands):
                text = cut_value(text, (*path, number))
            else:
                for position in reversed(ours):
                    text = cut_value(text, (*path, number, "hooks", position))
        return text

    def put(text: str) -> str:
        groups = _items(find_value(parse_settings(text), path))
        if [
            g for g in groups if any(_is_our_hook(e, kind) for e in _items(find_value(g, ("hooks",))))
        ] == entries:
            return text
        text = cut(text)
        for entry in entries:
            text = add_item(text, path, entry)
        return text

    return Part(what, put, cut, (path, ("hooks",)))


def _is_our_hook(entry: object, kind: str) -> bool:
    command = entry.get("command") if isinstance(entry, dict) else None
    match = HOOK.search(command) if isinstance(command, str) else None
    return match is not None and f" hook {kind} " in match[0]


def hook_entry(program: str, kind: str, agent: str, matcher: str = "", condition: str = "") -> dict[str, Any]:
    """Return an entry that says and fails nothing where the program is gone."""
    quoted = shell_quote(program) if program else "skc"
    command = f"[ -x {quoted} ] && {quoted} hook {kind} --agent {agent} 2>/dev/null; true"
    hook: dict[str, Any] = {"type": "command", "command": command, "timeout": SECONDS}
    if agent == "gemini":  # which counts milliseconds
        hook = {"name": "skc", **hook, "timeout": SECONDS * 1000}
    return ({"matcher": matcher} if matcher else {}) | {
        "hooks": [hook | ({"if": condition} if condition else {})]
    }


def is_ignored(agent: str, text: str) -> bool:
    """Return whether an agent does not read a file with our hooks, though people can."""
    try:
        json.loads(text.removeprefix("\ufeff") or "{}")
    except (ValueError, RecursionError):
        return HOOKS[agent].is_strict
    return False


def find_hooks() -> Iterator[tuple[str, str, str, bool]]:
    """Yield agent, file and program of our hooks, each once, and whether the agent ignores the file.

    Of a file that can't be read there are none.
    """
    for agent, hooks in HOOKS.items():
        try:
            path = clients.agent_file(hooks.file)
            text = read_text(path)
            value = parse_settings(text)
        except (SkillcError, ValueError, IndexError, RecursionError):
            continue
        programs: dict[str, None] = {}
        for event in (hooks.prompt, hooks.permission):
            for group in _items(find_value(value, ("hooks", event))):
                for entry in _items(find_value(group, ("hooks",))):
                    if _is_our_hook(entry, "prompt") or _is_our_hook(entry, "permission"):
                        programs[shlex.split(entry["command"])[2]] = None
        yield from ((agent, path, program, is_ignored(agent, text)) for program in programs)


def _items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
