"""Agents and the directories they look for skills in: one table, `agents.tsv` [D13]."""

from __future__ import annotations

import os

from skillc import paths
from skillc.errors import InvalidOption, SkillcError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

USER = "user"
PROJECT = "project"
SCOPES = (USER, PROJECT)


class Agent:
    """An agent; a directory is empty where it has none of that kind."""

    __slots__ = ("aliases", "display", "name", "project", "user")

    def __init__(self, name: str, aliases: str, display: str, user: str, project: str) -> None:
        self.name = name
        self.aliases = tuple(filter(None, aliases.split(",")))
        self.display = display
        self.user = user
        self.project = project


class Target:
    """A directory to deploy into, and what it is called in reports."""

    __slots__ = ("directory", "name")

    def __init__(self, name: str, directory: str) -> None:
        self.name = name
        self.directory = directory


def known_agents() -> list[Agent]:
    """The table, sorted by name."""
    table = os.path.join(os.path.dirname(__file__), "agents.tsv")
    with open(table, encoding="utf-8") as file:
        return [Agent(*line.rstrip("\n").split("\t")) for line in file.readlines()[1:]]


def targets(names: str, scope: str, cwd: str) -> list[Target]:
    """The directories that a comma-separated list of agents and paths means."""
    known: dict[str, Agent] = {}
    for agent in known_agents():
        known.update(dict.fromkeys((agent.name, *agent.aliases), agent))
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    if not wanted:
        raise InvalidOption("--target needs at least one agent or path")
    found: dict[str, Target] = {}
    for name in wanted:
        target = _target(name, known, scope, cwd)
        found.setdefault(target.directory, target)  # several agents share .agents/skills
    return list(found.values())


def _target(name: str, known: dict[str, Agent], scope: str, cwd: str) -> Target:
    if os.sep in name or "/" in name or name in (".", "..") or name.startswith("~"):
        return Target(name, os.path.abspath(os.path.join(cwd, os.path.expanduser(name))))
    agent = known.get(name.lower())
    if agent is None:
        raise InvalidOption(f'unknown agent "{name}" for --target; {_known_names(name, list(known))}')
    directory = agent.user if scope == USER else agent.project
    if not directory:
        other = PROJECT if scope == USER else USER
        raise InvalidOption(f"{agent.display} has no {scope} directory for skills; use --deploy {other}")
    return Target(agent.name, os.path.join(_base(scope, cwd), *directory.split("/")))


def _base(scope: str, cwd: str) -> str:
    if scope == PROJECT:
        return next(paths.project_roots(cwd), cwd)
    home = paths.user_home()
    if home is None:
        raise SkillcError("there is no home directory to deploy into; set HOME or give --target a path")
    return home


def _known_names(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name.lower(), known, n=3)
    guess = f"did you mean {' or '.join(close)}? " if close else ""
    return f"{guess}it takes a path, such as ./skills, or: {', '.join(sorted(known))}"
