"""Complete a command line for a shell: commands, options, and the values that these can have.

`skc __complete <words so far>` reads the same syntax as the parser and the help, and files of this machine
alone. Rooms are loaded when a value of theirs is offered: it runs at each Tab.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from skillc import compiler, errors, gateway, install, library, lint, remotes, skills, tools, trash
from skillc.cli import load
from skillc.cli.help import TOPICS
from skillc.cli.summaries import NAMES
from skillc.cli.syntax import SHORT, Command, Option, expand
from skillc.paths import current_directory, library_roots
from skillc.settings import load_settings
from skillc.text import one_line

COMMAS = ("agents", "groups", "rules")  # values that can be lists: what is before the last comma stays


class CommandLine:
    """The command line so far: the words after the command that are no options, and the values of options."""

    def __init__(
        self, positional: Sequence[str], switches: Iterable[str], values: Mapping[str, str], current: str
    ) -> None:
        self.positional = positional
        self.switches = frozenset(switches)
        self.values = values  # by the options' names
        self.current = current  # the word to complete

    @property
    def skill(self) -> library.Skill:
        return library.resolve(self.positional[0], current_directory())


def candidates(words: Sequence[str]) -> list[str]:
    """Return what the last of `words` can become; nothing where the shell should offer files."""
    *before, current = words or [""]
    before = _skip_common(before)
    if not before:
        return _with_prefix(current, [*NAMES, "help", "version", "--help", "--version", "-C", *_NAMES_BEFORE])
    if before[-1] in _VALUES_BEFORE and len(before) == 1:
        return _with_prefix(current, _VALUES_BEFORE[before[-1]])
    if before == ["help"]:
        return _with_prefix(current, [*NAMES, *TOPICS])
    if before[0] not in NAMES:
        return []
    return _of_command(load(before[0]).COMMAND, before[1:], current)


# Options that may stand before the command, and their values; -C takes a directory, which the shell offers.
_NAMES_BEFORE = ("--color", "--no-pager")
_VALUES_BEFORE: dict[str, Sequence[str]] = {"-C": (), "--color": ("auto", "always", "never")}


def _skip_common(words: Sequence[str]) -> list[str]:
    """Return the words from the command on, or from an option before it that still needs its value."""
    rest = list(words)
    while rest and rest[0].startswith("-"):
        if rest[0] in _VALUES_BEFORE and len(rest) == 1:
            return rest
        del rest[: 2 if rest[0] in _VALUES_BEFORE else 1]
    return rest


def _of_command(command: Command, before: Sequence[str], current: str) -> list[str]:
    """Return what a word of a command can become, after the words before it."""
    options = {option.name: option for option in command.options}
    for letter in SHORT:
        if name := expand(letter, options):
            options[letter] = options[name]
    if "--" in before:
        return []  # behind -- all is text
    switches = [word for word in before if word.startswith("-")]
    line = CommandLine(_positional(before, options), switches, _given(before, options), current)
    previous = options.get(before[-1]) if before else None
    if previous is not None and previous.value:
        return _values(previous, line, current)
    name, equals, value = current.partition("=")
    if equals and name in options and options[name].value:
        return [f"{name}={each}" for each in _values(options[name], line, value)]
    if current.startswith("-"):
        given = [option for option in options.values() if not option.repeat and option.name in before]
        names = [name for name in options if name.startswith("--")]
        return _with_prefix(current, [name for name in names if options[name] not in given])
    position = len(line.positional)
    if position >= len(command.arguments) and command.arguments and command.arguments[-1].repeat:
        position = len(command.arguments) - 1
    if position < len(command.arguments):
        return offer_values(command.arguments[position].completes, line, current)
    return []


def _positional(words: Sequence[str], options: dict[str, Option]) -> list[str]:
    """Return the words that are neither options nor their values."""
    positional: list[str] = []
    takes_value = False
    for word in words:
        if takes_value:
            takes_value = False
        elif word.startswith("-"):
            takes_value = word in options and bool(options[word].value)
        else:
            positional.append(word)
    return positional


def _given(words: Sequence[str], options: dict[str, Option]) -> dict[str, str]:
    """Return the values that options were given, by their long names."""
    given: dict[str, str] = {}
    for word, following in zip(words, [*words[1:], ""], strict=False):
        name, equals, value = word.partition("=")
        if name in options and options[name].value:
            given[options[name].name] = value if equals else following
    return given


def _values(option: Option, line: CommandLine, current: str) -> list[str]:
    if option.choices:
        return _with_prefix(current, option.choices)
    return offer_values(option.completes, line, current)


def _with_prefix(prefix: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.startswith(prefix)]


def offer_values(what: str, line: CommandLine, current: str) -> list[str]:
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
    deployments = (record.skill for record in library.read_deployments())
    return sorted({*_stored(line), *_ids(line), *deployments})


def _stored(line: CommandLine) -> list[str]:
    return sorted({skill.name for skill in library.stored_skills(current_directory())})


def _ids(line: CommandLine) -> list[str]:
    try:
        return sorted({skill_id for skill_id, _, _ in library.recall_skills(current_directory())})
    except errors.SkillcError:
        return []  # skills.toml can't be read; the stores have names all the same


def _collections(line: CommandLine) -> list[str]:
    parents = (skill_id.split("/")[:-1] for skill_id in _ids(line))
    return sorted({"/".join(parts[: n + 1]) for parts in parents for n in range(len(parts))})


def _capabilities(line: CommandLine) -> list[str]:
    known = library.recall_skills(current_directory())
    return sorted({each for _, capabilities, _ in known for each in capabilities})


def _tags(line: CommandLine) -> list[str]:
    return sorted({tag for _, _, tags in library.recall_skills(current_directory()) for tag in tags})


def _repositories(line: CommandLine) -> list[str]:
    cwd = current_directory()
    config = library.SkillsConfig.load(cwd)
    return [one.name for one in library.repositories_in_force(config, next(library_roots(cwd), None))]


def _names_for_repo(line: CommandLine) -> list[str]:
    """Return the names that `repo remove` and `repo sync` can be given."""
    if "remove" in line.positional:
        return [each.name for each in library.SkillsConfig.load(current_directory()).repositories]
    return _repositories(line) if "sync" in line.positional else []


def _sections(line: CommandLine) -> Iterator[str]:
    return (entry.heading for entry in gateway.read_outline(line.skill))


def _files(line: CommandLine) -> list[str]:
    return [file.name for file in skills.list_files(line.skill.source)]


def _markdown(line: CommandLine) -> list[str]:
    return [name for name in _files(line) if name.lower().endswith(".md")]


def _directories(line: CommandLine) -> list[str]:
    parents = (name.split("/")[:-1] for name in _files(line))
    return sorted({"/".join(parts[: n + 1]) for parts in parents for n in range(len(parts))})


def _tools(line: CommandLine) -> list[str]:
    return [tool.name for tool in _executable(line).tools]


def _parameters(line: CommandLine) -> list[str]:
    tool = next(tool for tool in _executable(line).tools if tool.name == line.positional[1])
    return [f"{parameter.name}=" for parameter in tool.parameters]


def _executable(line: CommandLine) -> tools.ExecutableSkill:
    return tools.load_executable(line.skill.source, line.positional[0])


def _locked(line: CommandLine) -> list[str]:
    return sorted(install.read_lock(_root(line)))


def _versions(line: CommandLine) -> Iterator[str]:
    """Yield what `yank` can be given: versions in the lock file that came from its registry."""
    prefixes = [] if "--undo" in line.switches else [f"skillc:{each}/" for each in _registries(line)]
    for entry in install.read_lock(_root(line)).values():
        source, version = entry.text("source"), entry.own_text("version")
        prefix = next((prefix for prefix in prefixes if source.startswith(prefix)), "")
        if prefix and version:
            yield f"{source.removeprefix(prefix)}@{version}"


def _registries(line: CommandLine) -> list[str]:
    """Return the registry that the command is about, or all that it may be about."""
    settings = load_settings(current_directory())
    try:
        return [remotes.choose_registry(line.values.get("--to"), settings.registry).registry]
    except errors.SkillcError:
        return [each.registry for each in remotes.read_credentials()]


def _origins(line: CommandLine) -> list[str]:
    """Return addresses of registries; what does not begin as one may be a folder, which the shell offers."""
    is_address = line.current.startswith("http")
    return [each.registry for each in remotes.read_credentials()] if is_address else []


def _root(line: CommandLine) -> str:
    return install.find_root(current_directory(), is_global="--global" in line.switches)


def _trash(line: CommandLine) -> list[str]:
    """Return the items of the trash by their last names, and by ID where a name is there twice."""
    items = trash.items()
    names = [os.path.basename(item.origin) for item in items]
    return [name if names.count(name) == 1 else item.id for name, item in zip(names, items, strict=True)]


def _restorable(line: CommandLine) -> list[str]:
    return _trash(line) if "restore" in line.positional else []


def _rules(line: CommandLine) -> list[str]:
    return [*(rule.id for rule in lint.RULES), *(rule.name for rule in lint.RULES)]


def _codes(line: CommandLine) -> list[str]:
    return sorted({*errors.WARNINGS, *(kind.code for kind in _kinds(errors.SkillcError))})


def _kinds(kind: type[errors.SkillcError]) -> Iterator[type[errors.SkillcError]]:
    yield kind
    for each in kind.__subclasses__():
        yield from _kinds(each)


def _variables(line: CommandLine) -> list[str]:
    return sorted(os.environ)


def _project_variables(line: CommandLine) -> list[str]:
    uses = library.variables_used(library.SkillsConfig.load(current_directory()))
    return [use.variable for use in uses]


def _project_hosts(line: CommandLine) -> list[str]:
    uses = library.variables_used(library.SkillsConfig.load(current_directory()))
    return [use.host for use in uses]


OFFERS: dict[str, Callable[[CommandLine], Iterable[str]]] = {
    "agents": lambda line: (agent.name for agent in compiler.read_agents()),
    "capabilities": _capabilities,
    "clients": lambda line: install.client_names(),
    "codes": _codes,
    "collections": _collections,
    "directories": _directories,
    "groups": lambda line: ("gateway", "library", "run"),
    "hosts": _project_hosts,
    "ids": _ids,
    "locked": _locked,
    "markdown": _markdown,
    "origins": _origins,
    "parameters": _parameters,
    "registries": lambda line: (each.registry for each in remotes.read_credentials()),
    "repos": _names_for_repo,
    "repositories": _repositories,
    "restorable": _restorable,
    "rules": _rules,
    "sections": _sections,
    "skills": _skills,
    "sources": _files,
    "stored": _stored,
    "tags": _tags,
    "tools": _tools,
    "trash": _trash,
    "variables": _project_variables,
    "environment": _variables,
    "versions": _versions,
}
