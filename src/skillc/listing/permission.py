"""Answer the hook that an agent calls before it uses a tool: may it read an installed skill unasked?

Only by a skill's name, and only those that are in the user's own store, not behind a link out of it. A path,
a file whose name starts with a dot, or that leads to one, another command or option, a pipe, a variable:
about all that nothing is said, and the agent asks as usual. So `skc open . .env` is no way around its rules.
What would ask a network, or read what a project's skills.toml names, is left to the agent, too.

A name can mean a folder of the working directory, which may be another one when the tool runs. So the tool
gets the path of the skill in the store in place of its name, and its words as they were understood.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from skillc import paths
from skillc.errors import SkillcError
from skillc.library import list_folders, resolve
from skillc.library.repositories import find_skills_file
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
        values = permit(request, directory_of(request))
        if values is not None:
            answer: dict[str, Any] = {"hookEventName": "PreToolUse", "permissionDecision": "allow"}
            answer |= {"permissionDecisionReason": REASON, "updatedInput": values}
            sys.stdout.write(json.dumps({"hookSpecificOutput": answer}))
            sys.stdout.flush()
    except Exception as error:
        log_fault(agent, error)


def permit(request: Mapping[str, Any], cwd: str) -> dict[str, Any] | None:
    """Return what a tool is to get that only reads an installed skill, or finds one; else None."""
    name, values = request.get("tool_name"), request.get("tool_input")
    if not isinstance(name, str) or not isinstance(values, dict):
        return None
    if name.startswith(MCP):
        return _permit_tool(name.removeprefix(MCP), values, cwd)
    command = values.get("command")
    if name != "Bash" or not isinstance(command, str):
        return None
    words = _permit_command(split_command(command), cwd)
    return {**values, "command": shlex.join(words)} if words else None


def split_command(text: str) -> list[str]:
    """Return the words of a plain command; none of one with anything in it that a shell acts on.

    >>> split_command('skc show pdf --section "Filling forms"')
    ['skc', 'show', 'pdf', '--section', 'Filling forms']
    >>> split_command("skc show pdf; rm x"), split_command('skc find "$(id)"')
    ([], [])
    """
    text = text.strip(" ").removesuffix(" 2>&1")
    return shlex.split(text) if len(text) <= MAX_COMMAND and _COMMAND.fullmatch(text) else []


def _permit_tool(tool: str, values: dict[str, Any], cwd: str) -> dict[str, Any] | None:
    if tool in ("skc_find", "browse_skills"):
        return values if _is_local(cwd) else None
    if tool == "load_skill":
        return values if find_installed(values.get("id"), cwd) and _is_local(cwd) else None
    if tool.removeprefix("skc_") not in COMMANDS or not tool.startswith("skc_"):
        return None
    source = find_installed(values.get("skill"), cwd)
    files = [values[name] for name in PATHS if values.get(name) is not None]
    if not source or not all(_is_inner(file, source) for file in files):
        return None
    return {**values, "skill": source}


def _permit_command(words: Sequence[str], cwd: str) -> list[str]:
    """Return the words of a command that is permitted, with a path for the skill; none for any other."""
    if len(words) < 3 or words[0] != "skc":
        return []
    if words[1] == "find":
        texts, _ = _parse(words, FIND)
        return list(words) if len(texts) == 1 and _is_local(cwd) else []
    if words[1] not in COMMANDS:
        return []
    options, kinds = COMMANDS[words[1]]
    texts, files = _parse(words, options)
    if len(texts) != 1 + len(kinds):
        return []
    source = find_installed(words[texts[0]], cwd)
    files += [words[number] for number, kind in zip(texts[1:], kinds, strict=True) if kind == PATH]
    if not source or not all(_is_inner(file, source) for file in files):
        return []
    return [source if number == texts[0] else word for number, word in enumerate(words)]


def _parse(words: Sequence[str], options: Mapping[str, str]) -> tuple[list[int], list[str]]:
    """Return where the words are that are no options, and the files that options name.

    Both are empty where an option is not allowed.
    """
    texts: list[int] = []
    files: list[str] = []
    numbers = iter(range(2, len(words)))
    for number in numbers:
        if not words[number].startswith("-"):
            texts.append(number)
            continue
        name, equals, value = words[number].partition("=")
        kind = options.get(name)
        if kind is None or (kind == SWITCH and equals):
            return [], []
        if kind != SWITCH and not equals:
            following = next(numbers, None)
            if following is None:
                return [], []
            value = words[following]
        files += [value] if kind == PATH else []
    return texts, files


def _is_inner(file: object, source: str) -> bool:
    """Return whether a file is one of a skill with nothing hidden on the way, also where links lead."""
    if not isinstance(file, str) or not file or not file.isprintable():
        return False
    if os.path.isabs(file) or {*"~:\\"} & {*file}:  # other names that Windows has for files
        return False
    return not (_is_hidden(file) or _is_hidden(_find_target(file, source)))


def _find_target(file: str, source: str) -> str:
    """Return the path of what a file of a skill is, from the skill on, where links lead."""
    return os.path.relpath(os.path.realpath(os.path.join(source, file)), os.path.realpath(source))


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") or not part for part in path.split("/"))


def _shows_hidden(source: str) -> bool:
    """Return whether a link in a skill has a hidden file read as one of the others."""
    for folder, folders, files in os.walk(source):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (os.path.join(folder, name) for name in (*folders, *files) if not name.startswith(".")):
            if os.path.islink(path) and _is_hidden(_find_target(os.path.relpath(path, source), source)):
                return True
    return False


def find_installed(name: object, cwd: str) -> str:
    """Return the folder in the home's store of the skill that a name means; empty where it may be another."""
    home = paths.home()
    if home is None or not isinstance(name, str) or not all(map(is_segment, name.split("/"))):
        return ""
    try:
        by_name, meant = resolve(name, cwd, may_be_path=False), resolve(name, cwd)
    except SkillcError:
        return ""
    store = paths.skills_store(home)
    source = os.path.join(store, *by_name.name.split("/"))
    real = os.path.realpath(source)
    is_here = real == by_name.source == meant.source and paths.is_inside(real, os.path.realpath(store))
    return source if is_here and not _shows_hidden(source) else ""


def _is_local(cwd: str) -> bool:
    """Return whether all repositories are folders that the user named, so that finding asks no network."""
    is_of_project = any(find_skills_file(root) for root in paths.library_roots(cwd))
    return not is_of_project and list_folders(cwd) is not None
