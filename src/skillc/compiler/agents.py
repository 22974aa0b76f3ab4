"""Agents and the directories in which they look for skills: one table, `agents.tsv` [D13]."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from skillc import paths
from skillc.errors import Diagnostic, InvalidOption, SkillcError, warning
from skillc.library.records import is_path_target
from skillc.settings import Settings
from skillc.spelling import MAX_SUGGESTIONS, make_question, near_miss, suggest

USER, PROJECT = "user", "project"
FAR = 0.3  # similarity from which a name may be the second or third nearest
SHARED = (".agents/skills", ".config/agents/skills")
UNIVERSAL = "universal"  # the name of the first of them, which belongs to no single agent

Target = tuple[str, str]  # a directory to deploy into, after its name in reports


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent with its skill directories for the user and for a project; one that it lacks is empty."""

    name: str
    aliases: tuple[str, ...]
    display: str
    user: str
    project: str

    def relative(self, scope: str) -> str:
        return self.project if scope == PROJECT else self.user

    def folder(self, scope: str, root: str | None) -> str:
        """Return its directory below a home or a project; empty without a root, and where it has none."""
        relative = self.relative(scope)
        return os.path.join(root, *relative.split("/")) if root and relative else ""


def name_target(target: str) -> str:
    """Return what people call a target: a folder that several agents share is none of theirs."""
    if target == UNIVERSAL:
        return f"shared ({SHARED[0]})"
    return paths.short_path(target) if os.sep in target else target


@cache
def read_agents() -> tuple[Agent, ...]:
    """Return the table, sorted by name. It is part of the package and does not change."""
    with open(os.path.join(os.path.dirname(__file__), "agents.tsv"), encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file.readlines()[1:]]
    return tuple(
        Agent(name, tuple(filter(None, aliases.split(","))), display, user, project)
        for name, aliases, display, user, project in rows
    )


def agents_by_name() -> dict[str, Agent]:
    """Return the agents by their names and aliases."""
    return {name: agent for agent in read_agents() for name in (agent.name, *agent.aliases)}


def agent_directories(project: str | None) -> dict[str, str]:
    """Return where agents look for skills, of the user and of a project, each with the first such agent."""
    places: dict[str, str] = {}
    for agent in read_agents():
        for folder in (agent.folder(USER, paths.user_home()), agent.folder(PROJECT, project)):
            places.setdefault(folder, agent.name)
    places.pop("", None)
    return places


def existing_directories(cwd: str) -> list[str]:
    """Return the agents' directories that exist: the user's, and those of the project, if there is one.

    One in a project that leads out of it is none: a clone may have brought it, and it leads anywhere.
    """
    project = next(paths.project_roots(cwd), None)
    own = agent_directories(None)
    folders = [place for place in agent_directories(project) if os.path.isdir(place)]
    return [folder for folder in folders if folder in own or not paths.leads_out(folder, project or "")]


def find_targets(
    names: str, scope: str, cwd: str, *, may_be_path: bool = True, root: str = ""
) -> list[Target]:
    """Return the directories that a comma-separated list of agents and, if they may be, paths means.

    Raises ProjectFolderEscapes for a project's directory that leads out of the project [D63]. The project is
    `root`, or else the one around `cwd`.
    """
    root = root or next(paths.project_roots(cwd), cwd)
    agents = agents_by_name()
    targets: dict[str, str] = {}
    for word in filter(None, map(str.strip, names.split(","))):
        if not may_be_path and word.lower() not in agents:
            raise InvalidOption(f"'{word}' is no agent; only these can be targets here: {_listing(agents)}")
        name, directory = _find_target(word, agents, scope, cwd, root)
        targets.setdefault(directory, name)  # several agents share .agents/skills
    if not targets:
        raise InvalidOption("--target needs at least one agent or path")
    return [(name, directory) for directory, name in targets.items()]


def default_targets(settings: Settings, scope: str, cwd: str) -> tuple[list[Target], list[Diagnostic]]:
    """Return the agents of `[agents] default` in config.toml, else those that are installed [D70].

    Return warnings, too. An agent that has no directory of that scope is left out.
    """
    agents = agents_by_name()
    names = {name.lower(): name for name in settings.agents}
    unknown = [name for key, name in names.items() if key not in agents]
    diagnostics = [
        warning("W071", "[agents] default", f"'{name}' is no agent{near_miss(name, agents)}")
        for name in unknown
    ]
    known = [agents[key] for key in names if key in agents]
    if not known:
        return detect_targets(scope, cwd), diagnostics
    usable = [agent.name for agent in known if agent.relative(scope)]
    return (find_targets(",".join(usable), scope, cwd) if usable else []), diagnostics


def detect_targets(scope: str, cwd: str) -> list[Target]:
    """Return the directories of the agents that are installed: their own directory exists.

    For a project, those count whose directory is in the home or in the project.
    """
    root = next(paths.project_roots(cwd), cwd) if scope == PROJECT else paths.user_home()
    targets: dict[str, str] = {}
    for agent in read_agents():
        folder = agent.folder(scope, root)
        if folder and _is_installed(agent, root if scope == PROJECT else None):
            targets.setdefault(folder, UNIVERSAL if agent.relative(scope) == SHARED[0] else agent.name)
    for directory in targets if scope == PROJECT else ():
        paths.require_inside(directory, root or "")
    return [(name, directory) for directory, name in targets.items()]


def agents_here() -> list[Agent]:
    """Return the agents that have a folder of their own in the home."""
    home = paths.user_home()
    return [
        agent
        for agent in read_agents()
        if home and agent.user and agent.user not in SHARED and _has_agent(home, agent.user)
    ]


def check_deploy_folder(directory: str, project: str) -> None:
    """Raise ProjectFolderEscapes for a folder to deploy to that is in a project and leads out of it [D63].

    It may have been an ordinary folder when a person named it, and be a link since the last pull. What is in
    the home is the user's own, also where a project holds the home.
    """
    root, home = (os.path.realpath(each) for each in (project, paths.user_home() or os.sep))
    nearest = (os.path.realpath(each) for each in paths.with_parents(os.path.normpath(directory)))
    if next((each for each in nearest if each in (root, home)), home) == root:
        paths.require_inside(directory, project)


def _is_installed(agent: Agent, project: str | None) -> bool:
    places = [(paths.user_home(), agent.user), (project, agent.project)]
    return any(root and directory and _has_agent(root, directory) for root, directory in places)


def _has_agent(root: str, directory: str) -> bool:
    """Return whether an agent's directory exists; one that many agents share is there for their skills."""
    own = directory if directory in SHARED else os.path.dirname(directory)
    return bool(own) and os.path.isdir(os.path.join(root, *own.split("/")))


def _find_target(name: str, agents: dict[str, Agent], scope: str, cwd: str, project: str) -> Target:
    root = project if scope == PROJECT else paths.user_home()
    if is_path_target(name):
        directory = os.path.abspath(os.path.join(cwd, os.path.expanduser(name)))
        owner = next((a.name for a in agents.values() if a.folder(scope, root) == directory), "")
        if owner and scope == PROJECT:
            paths.require_inside(directory, project)
        return owner or name, directory
    agent = agents.get(name.lower())
    if agent is None:
        raise unknown_agent(name, "--target", agents, "a path, such as ./skills, or")
    if not agent.relative(scope):
        other = PROJECT if scope == USER else USER
        raise InvalidOption(f"{agent.display} has no {scope} directory for skills; use --deploy {other}")
    if root is None:
        raise SkillcError("there is no home directory to deploy into; set HOME or give --target a path")
    directory = agent.folder(scope, root)
    if scope == PROJECT:
        paths.require_inside(directory, root)
    return agent.name, directory


def unknown_agent(word: str, option: str, agents: Mapping[str, Agent | None], others: str) -> InvalidOption:
    """Return the error for a word that is no name of an agent: the nearest, or all where none is near.

    A name without an agent is none of the table's.
    """
    start = f"unknown agent '{word}' for {option}"
    if not suggest(word, agents, 1):
        return InvalidOption(start, f"hint: {option} takes {others}: {_listing(agents)}")
    near: dict[Agent | str, str] = {}
    for name in suggest(word, agents, len(agents), FAR):
        near.setdefault(agents[name] or name, name)
    return InvalidOption(f"{start}; {make_question([*near.values()][:MAX_SUGGESTIONS])}")


def _listing(agents: Mapping[str, Agent | None]) -> str:
    return ", ".join(sorted({agent.name if agent else name for name, agent in agents.items()}))
