"""Say what an import would do with each skill of agents' directories and of folders, or why it skips it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from skillc import paths
from skillc.compiler import Target, agents_by_name, read_agents, unknown_agent
from skillc.contract import HIDDEN, KEY, hidden
from skillc.errors import Diagnostic, DirectoryNotFound, InvalidOption, InvalidSkill, SkillcError, unexpected
from skillc.install.lock import choose_root
from skillc.library import GLOBAL, PROJECT, is_compiled, is_skill, read_import
from skillc.quotes import shell_quote
from skillc.skills import digest_skill, list_files
from skillc.skills.document import parse, read_main_file, read_metadata

MOVED, COPIED, LINKED = "moved", "copied", "linked"
MAX_DEPTH = 6  # directories between a folder and the skills in it
IGNORED = ("node_modules", "__pycache__")


@dataclass(frozen=True, slots=True)
class Step:
    """A skill to import: moved out of an agent's directory, or copied.

    One that is LINKED is in the store already, with the same files: only its place in the agent's directory
    changes.
    """

    name: str = field(metadata={KEY: "id"})
    source: str = field(metadata={KEY: "from"})
    destination: str = field(metadata={KEY: "to"})
    how: str
    root: str = field(metadata=HIDDEN)  # whose store it goes into
    target: Target | None = hidden(None)


@dataclass(frozen=True, slots=True)
class Skip:
    """A folder that is not imported, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    steps: tuple[Step, ...]
    skips: tuple[Skip, ...]


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What came of an import.

    `failures` are skills that could not be imported; they are where they were, and among the skipped.
    `build_failures` are lines about skills that are in the store, and could not be built or deployed.
    """

    imported: list[Step] = field(default_factory=list)
    skipped: list[Skip] = field(default_factory=list)
    failures: list[tuple[Step, SkillcError]] = field(default_factory=list, metadata=HIDDEN)
    build_failures: list[str] = field(default_factory=list, metadata=HIDDEN)
    diagnostics: list[Diagnostic] = field(default_factory=list, metadata=HIDDEN)

    @property
    def is_success(self) -> bool:
        return not (self.failures or self.build_failures)


@dataclass(frozen=True, slots=True)
class Place:
    """An agent's directory: the target that it is for deployments, and the store for its skills."""

    target: Target
    root: str


def plan_import(folders: Sequence[str], agents: str, cwd: str, scope: str = "") -> Plan:
    """Return what to do with the skills of these folders, and of the directories of these agents.

    `agents` are names with commas between them, or `all`; with neither folders nor agents it is all. `scope`
    is `global` or `project`: whose directories of agents, and the store for copies. Without one, agents'
    directories are the user's, and copies go where `build` puts them.
    """
    planner = _Planner(cwd, scope)
    for place in planner.find_places(agents) if agents or not folders else ():
        planner.add_directory(place)
    for folder in folders:
        planner.add_folder(os.path.abspath(os.path.join(cwd, os.path.expanduser(folder))), folder)
    planner.explain_links()
    return Plan(tuple(planner.steps.values()), tuple(planner.skips))


@dataclass(slots=True)
class _Planner:
    """Goes through folders one by one; `steps` are by the path of the skill."""

    cwd: str
    scope: str
    steps: dict[str, Step] = field(default_factory=dict)
    skips: list[Skip] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)  # the folder for each path in a store

    def find_places(self, names: str) -> list[Place]:
        """Return the directories of agents by name, each once; one that is missing is a skip.

        So is a project's that leads out of it: a clone may have brought that link, to any folder [D63].
        """
        agents = agents_by_name()
        words = [word.strip().lower() for word in names.split(",") if word.strip()]
        for word in words:
            if word not in agents and word != "all":
                raise unknown_agent(word, "--from", agents, "all, or")
        choice = {agents[word].name for word in words if word != "all"}
        places = self._places(choice if words and "all" not in words else set(agents))
        absentees = [place.target for place in places if not os.path.isdir(place.target[1])]
        self.skips += [Skip(path, "there is no such directory") for _, path in absentees if choice]
        return [place for place in places if place.target not in absentees]

    def _places(self, names: set[str]) -> list[Place]:
        store = self._project() if self.scope == PROJECT else paths.require_home()
        root = store if self.scope == PROJECT else paths.user_home() or ""
        places: dict[str, Place] = {}
        for agent in read_agents():
            directory, path = agent.relative(self.scope), agent.folder(self.scope, root)
            # A project's plain `skills` may be anything; it counts as an agent's only if the agent is named.
            is_certain = directory[:1] == "." or self.scope != PROJECT or len(names) == 1
            if agent.name in names and path and is_certain:
                if self.scope == PROJECT and self._leads_out(path, root):
                    continue
                name = directory if path in places else agent.name  # several agents share .agents/skills
                places[path] = Place((name, path), store)
        return list(places.values())

    def _leads_out(self, directory: str, root: str) -> bool:
        """Return whether a directory leads out of a project; note it, once, as a skip."""
        if not paths.leads_out(directory, root):
            return False
        real = os.path.realpath(directory)
        skip = Skip(
            directory, f"it leads out of the project, to '{real}'; a clone may have brought that link"
        )
        self.skips += [skip] if skip not in self.skips else []
        return True

    def _project(self) -> str:
        root = next(paths.project_roots(self.cwd), None)
        if root is None:
            raise InvalidOption("--project needs a project; 'skc init' makes this directory one")
        return root

    def add_directory(self, place: Place) -> None:
        """Add every skill of an agent's directory."""
        directory = place.target[1]
        try:
            names = sorted(name for name in os.listdir(directory) if name[0] != ".")
        except OSError as error:
            self.skips.append(Skip(directory, error.strerror or str(error)))
            return
        for name in names:
            path = os.path.join(directory, name)
            if paths.is_link(path) or os.path.isdir(path):  # a file is no skill
                self.add(path, place)

    def add_folder(self, folder: str, name: str) -> None:
        """Add the skill in a folder, or those below it; one in an agent's directory is the agent's."""
        if not os.path.isdir(folder):
            raise DirectoryNotFound(name)
        places = self._known_places()
        if os.path.realpath(folder) in places:
            self.add_directory(places[os.path.realpath(folder)])
            return
        folders = [folder] if is_skill(folder) else list(_skills_below(folder))
        if not folders:
            raise InvalidSkill(folder, "no SKILL.md in it or below it")
        for path in folders:
            self.add(path, places.get(os.path.realpath(os.path.dirname(path))))

    def _known_places(self) -> dict[str, Place]:
        """Return all directories of agents by their canonical path: the user's, and the project's."""
        names = {agent.name for agent in read_agents()}
        scopes = [GLOBAL, *([PROJECT] if next(paths.project_roots(self.cwd), None) else [])]
        places = [place for scope in scopes for place in _Planner(self.cwd, scope)._places(names)]
        return {os.path.realpath(place.target[1]): place for place in places}

    def add(self, path: str, place: Place | None) -> None:
        """Add one folder or link: as a step, or as a skip with its reason."""
        if path in self.steps:
            return
        if place:
            root = place.root
        else:
            root = self._project() if self.scope == PROJECT else choose_root(self.cwd, self.scope)
        name = os.path.basename(path)
        destination = os.path.join(paths.skills_store(root), name)
        how = MOVED if place else COPIED
        reason = ""
        if place and paths.is_link(path):
            reason = _reason_against_link(path, destination)
        else:
            reason = _reason_against_folder(path, paths.skills_store(root))
            other = self.sources.get(destination) or (destination if _is_taken(destination) else "")
            if other and not reason:
                how, reason = self._compare(path, other, destination, place)
        if reason:
            self.skips.append(Skip(path, reason))
        else:
            self.sources.setdefault(destination, path)
            self.steps[path] = Step(name, path, destination, how, root, place.target if place else None)

    def explain_links(self) -> None:
        """Say of each link whether its folder is imported, too: then it leads to the compiled skill."""
        for number, skip in enumerate(self.skips):
            real = os.path.realpath(skip.path) if paths.is_link(skip.path) else ""
            if real in self.steps and self.steps[real].target:
                reason = f"a link to '{real}', which is imported; it leads to the compiled skill"
                self.skips[number] = Skip(skip.path, reason)

    def _compare(self, path: str, other: str, destination: str, place: Place | None) -> tuple[str, str]:
        """Return what to do with a skill whose name is taken in the store, and the reason to skip it."""
        name = os.path.basename(path)
        if os.path.realpath(other) == os.path.realpath(path):
            return COPIED, f"the same folder as '{other}'"
        if is_same(path, other):
            return (LINKED, "") if place else (COPIED, f"the same as '{destination}'")
        if read_import(os.path.realpath(destination))[0] == os.path.realpath(path):
            advice = f"'skc build {shell_quote(path)}' compares it with its copy '{destination}'"
            return COPIED, f"imported before, and one of the two changed; {advice}"
        advice = f"rename this folder and import it again, or 'skc remove {shell_quote(name)}' first"
        return COPIED, f"another '{name}' is in the store ('{destination}') or on its way; {advice}"


def _skills_below(folder: str) -> Iterator[str]:
    """Yield the folders with SKILL.md below a folder; none inside another skill, none that is hidden."""
    for directory, folders, _ in os.walk(folder):
        depth = os.path.relpath(directory, folder).count(os.sep)
        folders[:] = sorted(name for name in folders if name[0] != "." and name not in IGNORED)
        for name in list(folders):
            path = os.path.join(directory, name)
            if is_skill(path):
                folders.remove(name)
                yield path
        if depth >= MAX_DEPTH:
            folders.clear()


def _reason_against_link(path: str, destination: str) -> str:
    """Return why a link in an agent's directory is not imported; none if an import was interrupted there."""
    real = os.path.realpath(path)
    if not os.path.exists(path):
        return f"a link to '{real}', which does not exist"
    if is_compiled(real):
        return "deployed by skc already"
    if real == os.path.realpath(destination):
        return ""
    return f"a link to '{real}', which stays; 'skc import {shell_quote(real)}' takes that folder"


def _reason_against_folder(path: str, store: str) -> str:
    if paths.is_inside(os.path.realpath(path), os.path.realpath(store)):
        return "in the store already"
    if is_compiled(path):
        return "deployed by skc already"
    if not is_skill(path):
        return "no SKILL.md"
    if os.path.isfile(os.path.join(path, ".git")):
        return "a git submodule or worktree, whose history is elsewhere; 'skc add' takes it from its origin"
    if paths.is_inside(os.path.realpath(store), os.path.realpath(path)):
        return "the store itself is inside"
    try:
        read_metadata(parse(read_main_file(path)), os.path.basename(path))
        list_files(path, hidden=True)
    except Exception as error:
        return unexpected(error).line()
    return ""


def _is_taken(destination: str) -> bool:
    """Return whether a store has something of that name; a link to itself is what a killed import left."""
    is_leftover = os.path.islink(destination) and os.readlink(destination) == destination
    return os.path.lexists(destination) and not is_leftover


def is_same(one: str, other: str) -> bool:
    """Return whether two skills have the same files with the same bytes, hidden ones included."""
    try:
        return digest_skill(one).hashes == digest_skill(other).hashes
    except Exception:  # what can't be compared is not the same
        return False
