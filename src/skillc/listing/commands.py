"""What an agent lists besides the skills of its folders: custom commands, and what plugins bring.

To Claude Code these are skills, too. They take room in its listing, and skc leaves them as they are.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from skillc import paths
from skillc.listing.budget import Candidate
from skillc.listing.rules import Rule
from skillc.skills.document import parse

MAX_COMMANDS = 2000  # of a folder
MAX_DEPTH = 8  # of folders in it: links may lead back
MAX_FILE = 1 << 20  # bytes
COMMAND, SKILL = "Custom command", "Skill"  # what is said of one that says nothing
MAX_LINE = 100  # characters of the text's first line, where that stands for a description

Place = tuple[str, str]  # a folder of skills, and `user` or `project`


def find_commands(rule: Rule, places: Sequence[Place], cwd: str = "") -> Iterator[Candidate]:
    """Yield custom commands beside folders of skills, by their names, and then what enabled plugins have."""
    if not rule.commands:
        return
    folders = [(os.path.join(os.path.dirname(folder), rule.commands), where) for folder, where in places]
    own = (each for folder, where in folders for each in _read_folder(rule, folder, "", where))
    yield from sorted(own, key=lambda each: each.name)
    if any(where == "user" for _, where in places):
        for name, folder in _find_plugins(rule, cwd):
            yield from _read_folder(rule, os.path.join(folder, rule.commands), f"{name}:", "user")
            yield from _read_folder(rule, os.path.join(folder, "skills"), f"{name}:", "user", has_skills=True)


def describe(rule: Rule | None, fields: Mapping[str, Any], body: str, nothing: str = SKILL) -> str:
    """Return what an agent says of a skill: its description, or for some agents the text's first line."""
    description = read_field(fields, "description")
    if rule and not description and rule.without == "heading":
        description = next((line.lstrip("# ").strip() for line in body.splitlines() if line.strip()), nothing)
        is_long = len(description) > MAX_LINE
        description = f"{description[: MAX_LINE - 3]}..." if is_long else description
    if rule and description and rule.when and read_field(fields, rule.when):
        description += f" - {read_field(fields, rule.when)}"
    return description


def read_field(fields: Mapping[str, Any], key: str) -> str:
    value = fields.get(key)
    return "" if value is None else str(value).strip()


def _read_folder(
    rule: Rule, folder: str, start: str, where: str, *, has_skills: bool = False
) -> Iterator[Candidate]:
    for name, path in islice(_find_files(folder), MAX_COMMANDS):
        if has_skills and os.path.basename(path) != paths.SKILL_FILE:
            continue
        try:
            document = parse(paths.read_regular(path, MAX_FILE))
        except Exception:  # noqa: S112 -- the agent can't read it either
            continue
        fields = document.frontmatter.fields if document.frontmatter else {}
        body = document.data[document.body :].decode("utf-8", "replace")
        text = describe(rule, fields, body, SKILL if has_skills else COMMAND)
        is_hidden = fields.get("disable-model-invocation") is True
        yield Candidate(f"{start}{name}", text, path, "", where, is_hidden)


def _find_files(folder: str, start: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the name and path of each text; a folder with a SKILL.md is one command, besides its folders."""
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return
    if start and paths.SKILL_FILE in names:
        yield start[:-1], os.path.join(folder, paths.SKILL_FILE)
    for name in names:
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            yield from _find_files(path, f"{start}{name}:", depth + 1) if depth < MAX_DEPTH else ()
        elif name.endswith(".md") and paths.SKILL_FILE not in names:
            yield f"{start}{name[:-3]}", path


def _find_plugins(rule: Rule, cwd: str) -> Iterator[tuple[str, str]]:
    """Yield the names and folders of plugins that are installed and that settings enable."""
    enabled: dict[str, Any] = {}
    for path in rule.settings_files(cwd):
        enabled = _read_object(path, rule.plugins[0]) | enabled  # a project's count first
    for key, entries in _read_object(rule.place(rule.plugins[1]), "plugins").items():
        for entry in entries if isinstance(entries, list) else [entries]:
            folder = entry.get("installPath") if isinstance(entry, dict) else None
            if enabled.get(key) is True and isinstance(folder, str):
                yield key.partition("@")[0], folder
                break


def _read_object(path: str, key: str) -> dict[str, Any]:
    """Return an object in a JSON file; an empty one where there is none."""
    try:
        value = json.loads(paths.read_regular(path, MAX_FILE).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    inner = value.get(key) if isinstance(value, dict) else None
    return inner if isinstance(inner, dict) else {}
