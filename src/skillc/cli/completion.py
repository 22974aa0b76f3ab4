"""Complete a command line for a shell: commands, options, and the values that these can have.

`skc __complete <words so far>` reads the same syntax as the parser and the help, and files of this machine
alone. Rooms are loaded when a value of theirs is offered: it runs at each Tab.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from skillc import compiler, errors, gateway, install, library, lint, setup, skills, tools, trash
from skillc.cli import load
from skillc.cli.help import TOPICS
from skillc.cli.summaries import NAMES
from skillc.cli.syntax import SHORT, Command, Option, expand
from skillc.library import records, repositories
from skillc.paths import current_directory, library_roots
from skillc.remotes import http
from skillc.settings import load_settings
from skillc.text import one_line

COMMAS = ("agents", "groups", "rules")  # values that can be lists: what is before the last comma stays
# Options that may stand before the command, and their values; -C takes a directory, which the shell offers.
_NAMES_BEFORE = ("--color", "--no-pager")
_VALUES_BEFORE: dict[str, Sequence[str]] = {"-C": (), "--color": ("auto", "always", "never")}


class CommandLine:
    """The command line so far: the words after the command that are no options, and the values of options."""

    def __init__(self, words: Sequence[str], options: dict[str, Option], current: str) -> None:
        self.current = current  # the word to complete
        self.switches = frozenset(word for word in words if word.startswith("-"))
        self.values: dict[str, str] = {}  # by the options' long names
        self.positional: list[str] = []
        open_option = ""  # whose value is the next word
        for word in words:
            name, equals, value = word.partition("=")
            option = options.get(name)
            if open_option:
                self.values[open_option] = word
                open_option = ""
            elif option is not None and option.value:
                self.values[option.name] = value
                open_option = "" if equals else option.name
            elif not word.startswith("-"):
                self.positional.append(word)

    @property
    def skill(self) -> library.Skill:
        return library.resolve(self.positional[0], current_directory())

    @property
    def executable(self) -> tools.ExecutableSkill:
        return tools.load_executable(self.skill.source, self.positional[0])

    @property
    def locked(self) -> Mapping[str, Any]:
        """The entries of the lock that the command is about."""
        return install.read_locked(current_directory(), is_global="--global" in self.switches)


def candidates(words: Sequence[str]) -> list[str]:
    """Return what the last of `words` can become; nothing where the shell should offer files."""
    *before, current = words or [""]
    while before and before[0].startswith("-") and not (len(before) == 1 and before[0] in _VALUES_BEFORE):
        del before[: 2 if before[0] in _VALUES_BEFORE else 1]  # an option before the command
    if not before:
        return _with_prefix(current, [*NAMES, "help", "version", "--help", "--version", "-C", *_NAMES_BEFORE])
    if before[0] in _VALUES_BEFORE:
        return _with_prefix(current, _VALUES_BEFORE[before[0]])
    if before == ["help"]:
        return _with_prefix(current, [*NAMES, *TOPICS, "all"])
    if before[0] not in NAMES or "--" in before:
        return []  # behind -- all is text
    return _complete(load(before[0])[0], before[1:], current)


def _complete(command: Command, before: Sequence[str], current: str) -> list[str]:
    """Return what a word of a command can become, after the words before it."""
    options = {option.name: option for option in command.options}
    options |= {letter: options[name] for letter in SHORT if (name := expand(letter, options))}
    line = CommandLine(before, options, current)
    previous = options.get(before[-1]) if before else None
    if previous is not None and previous.value:
        return _values(previous, line, current)
    name, equals, value = current.partition("=")
    if equals and name in options and options[name].value:
        return [f"{name}={each}" for each in _values(options[name], line, value)]
    if current.startswith("-"):
        names = [o.name for o in command.options if o.repeat or o.name not in before]
        return _with_prefix(current, names)
    position = len(line.positional)
    if position >= len(command.arguments) and command.arguments and command.arguments[-1].repeat:
        position = len(command.arguments) - 1
    if position < len(command.arguments):
        return _offer(command.arguments[position].completes, line, current)
    return []


def _values(option: Option, line: CommandLine, current: str) -> list[str]:
    if option.choices:
        return _with_prefix(current, option.choices)
    return _offer(option.completes, line, current)


def _with_prefix(prefix: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.startswith(prefix)]


def _offer(what: str, line: CommandLine, current: str) -> list[str]:
    """Return what the current word can become: values of a kind, or the words of `what` themselves."""
    first, comma, last = current.rpartition(",") if what in COMMAS else ("", "", current)
    try:
        values = list(OFFERS[what](line)) if what in OFFERS else what.split()
    except Exception:  # whatever is wrong, the next command says it; a prompt is no place for that
        return []
    matches = dict.fromkeys(value for value in values if value.startswith(last) and one_line(value) == value)
    return [f"{first}{comma}{value}" for value in matches if value]


def _skills(line: CommandLine) -> list[str]:
    """Return what a command takes for a skill: names in stores, IDs, and names of what is deployed."""
    deployments = (record.skill for record in records.read_deployments())
    return sorted({*_stored(line), *_ids(line), *deployments})


def _stored(line: CommandLine) -> list[str]:
    return sorted({skill.name for skill in library.stored_skills(current_directory())})


def _ids(line: CommandLine) -> list[str]:
    try:
        return sorted({skill_id for skill_id, _, _ in library.recall_skills(current_directory())})
    except errors.SkillcError:
        return []  # skills.toml can't be read; the stores have names all the same


def _recall() -> list[tuple[str, Iterable[str], Iterable[str]]]:
    return list(library.recall_skills(current_directory()))


def _parents(paths: Iterable[str]) -> list[str]:
    """Return the directories that paths are in, at every depth."""
    parts = [path.split("/")[:-1] for path in paths]
    return sorted({"/".join(part[: n + 1]) for part in parts for n in range(len(part))})


def _repositories(line: CommandLine) -> list[str]:
    cwd = current_directory()
    config = repositories.SkillsConfig.load(cwd)
    return [one.name for one in repositories.repositories_in_force(config, next(library_roots(cwd), None))]


def _names_for_repo(line: CommandLine) -> list[str]:
    """Return the names that `repo remove` and `repo sync` can be given."""
    if "remove" in line.positional:
        return [each.name for each in repositories.SkillsConfig.load(current_directory()).repositories]
    return _repositories(line) if "sync" in line.positional else []


def _files(line: CommandLine) -> list[str]:
    return [file.name for file in skills.list_files(line.skill.source)]


def _parameters(line: CommandLine) -> list[str]:
    tool = next(tool for tool in line.executable.tools if tool.name == line.positional[1])
    return [f"{parameter.name}=" for parameter in tool.parameters]


def _versions(line: CommandLine) -> Iterator[str]:
    """Yield what `yank` can be given: versions in the lock file that came from its registry."""
    try:
        settings = load_settings(current_directory())
        registries = [http.choose_registry(line.values.get("--to"), settings.registry).registry]
    except errors.SkillcError:
        registries = _logins(line)
    prefixes = [] if "--undo" in line.switches else [f"skillc:{each}/" for each in registries]
    for entry in line.locked.values():
        source, version = entry.text("source"), entry.own_text("version")
        prefix = next((prefix for prefix in prefixes if source.startswith(prefix)), "")
        if prefix and version:
            yield f"{source.removeprefix(prefix)}@{version}"


def _logins(line: CommandLine) -> list[str]:
    return [each.registry for each in http.read_credentials()]


def _trash(line: CommandLine) -> list[str]:
    """Return the items of the trash by their last names, and by ID where a name is there twice."""
    items = trash.items()
    names = [os.path.basename(item.origin) for item in items]
    return [name if names.count(name) == 1 else item.id for name, item in zip(names, items, strict=True)]


def _codes(line: CommandLine) -> list[str]:
    kinds: list[type[errors.SkillcError]] = [errors.SkillcError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    return sorted({*errors.WARNINGS, *(kind.code for kind in kinds)})


def _uses() -> list[repositories.VariableUse]:
    return repositories.variables_used(repositories.SkillsConfig.load(current_directory()))


OFFERS: dict[str, Callable[[CommandLine], Iterable[str]]] = {
    "agents": lambda line: (agent.name for agent in compiler.read_agents()),
    "capabilities": lambda line: sorted({need for _, needs, _ in _recall() for need in needs}),
    "clients": lambda line: setup.client_names(),
    "codes": _codes,
    "collections": lambda line: _parents(_ids(line)),
    "directories": lambda line: _parents(_files(line)),
    "environment": lambda line: sorted(os.environ),
    "groups": lambda line: ("all", "gateway", "library", "authoring", "run"),
    "hosts": lambda line: (use.host for use in _uses()),
    "ids": _ids,
    "locked": lambda line: sorted(line.locked),
    "markdown": lambda line: (name for name in _files(line) if name.lower().endswith(".md")),
    # What does not begin as an address may be a folder, which the shell offers.
    "origins": lambda line: _logins(line) if line.current.startswith("http") else (),
    "parameters": _parameters,
    "registries": _logins,
    "repos": _names_for_repo,
    "repositories": _repositories,
    "restorable": lambda line: _trash(line) if "restore" in line.positional else (),
    "rules": lambda line: (*(rule.id for rule in lint.RULES), *(rule.name for rule in lint.RULES)),
    "sections": lambda line: (entry.heading for entry in gateway.read_outline(line.skill)),
    "skills": _skills,
    "sources": _files,
    "stored": _stored,
    "tags": lambda line: sorted({tag for _, _, tags in _recall() for tag in tags}),
    "tools": lambda line: (tool.name for tool in line.executable.tools),
    "trash": _trash,
    "variables": lambda line: (use.variable for use in _uses()),
    "versions": _versions,
}
