"""`skc repo`: the repositories that skills come from."""

from __future__ import annotations

import sys

from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from skillc.library import Refresh

TYPES = ("filesystem", "git", "http", "mcp", "well-known")

COMMAND = Command(
    "repo",
    "List, add, remove or refresh the repositories that skills come from.",
    arguments=(
        Argument("action", "list, add, remove or sync.", completes="list add remove sync"),
        Argument("name", "The repository; without one, sync does all.", required=False, completes="repos"),
        Argument("place", "What to add: a folder, or the address of a repository.", required=False),
    ),
    options=(
        Option("--type", "What to add; guessed from the address where it is not given.", choices=TYPES),
        Option("--ref", "git: the branch, tag or commit. Otherwise the branch main.", value="<ref>"),
        Option("--ref-type", "git: what --ref is. Otherwise a branch.", choices=("branch", "tag", "commit")),
        Option("--skills-root", "git: the folder in the repository that holds the skills.", value="<folder>"),
        Option("--auth-token-env", "git, http: the variable that holds the token.", value="<VARIABLE>"),
        Option("--strict", "Quarantine skills that break the Agent Skills format."),
        Option("--required", "When this repository fails, everything that needs skills does."),
        Option("--keep-defaults", "Where it is the first one: write down the default folders before it."),
        Option("--global", "In the home directory's skills.toml, for all projects."),
        FORMAT,
    ),
    description=(
        "They are configured in .skillc/skills.toml of the project and of the home directory, which add "
        "and remove edit without touching anything else in it. Where one is configured, the default folders "
        "(.skillc/skills of the project and of the home directory) are no longer searched by themselves."
    ),
    examples=(
        "skc repo list",
        "skc repo add shared ../shared/skills",
        "skc repo add company https://github.com/company/skills --ref v1.2.0 --ref-type tag",
        "skc repo add team https://skills.example.com --auth-token-env TEAM_TOKEN --global",
        "skc repo sync company",
        "skc repo remove company",
    ),
)
_GIT = ("ref", "ref_type", "skills_root", "auth_token_env")
_SWITCHES = ("strict", "required", "keep_defaults")
_WORDS = {"list": "list", "add": "add <name> <path or url>", "remove": "remove <name>", "sync": "sync [name]"}


def run(arguments: Arguments) -> int:
    from skillc.errors import InvalidOption

    action = arguments.text("action")
    actions = {"list": (_list, 0, 0), "add": (_add, 2, 2), "remove": (_remove, 1, 1), "sync": (_sync, 0, 1)}
    if action not in actions:
        raise InvalidOption(f'<action> takes {", ".join(actions)}, not "{action}"')
    function, least, most = actions[action]
    given = [name for name in ("name", "place") if arguments.optional(name) is not None]
    if not least <= len(given) <= most:
        raise InvalidOption(f"usage: skc repo {_WORDS[action]}")
    only_add = [*(name for name in ("type", *_GIT) if arguments.optional(name) is not None)]
    only_add += [name for name in _SWITCHES if arguments.given(name)]
    if only_add and action != "add":
        raise InvalidOption(f"{_option(only_add[0])} goes with 'skc repo add' alone")
    if arguments.given("global") and action not in ("add", "remove"):
        raise InvalidOption("--global goes with 'skc repo add' and 'skc repo remove' alone")
    return function(arguments)


def _option(key: str) -> str:
    return f"--{key.replace('_', '-')}"


def _list(arguments: Arguments) -> int:
    from skillc.cli import prompting
    from skillc.cli.output import print_json, print_table

    source, _ = prompting.library()
    states = prompting.run(source.states())
    if arguments.text("format") == "json":
        fields = ("name", "type", "status", "skills", "quarantined", "shadowed", "error")
        print_json({"repositories": [{field: getattr(state, field) for field in fields} for state in states]})
        return 0
    rows = [
        (s.name, s.type, s.status, str(s.skills), str(s.quarantined), str(s.shadowed), s.error or "")
        for s in states
    ]
    print_table(("REPOSITORY", "TYPE", "STATUS", "SKILLS", "QUARANTINED", "SHADOWED", "ERROR"), rows)
    return 0


def _add(arguments: Arguments) -> int:
    from shlex import quote

    from skillc.cli.output import print_json
    from skillc.library import NewRepository, add_repository
    from skillc.paths import current_directory

    options = {name: value for name in _GIT if (value := arguments.optional(name)) is not None}
    switches = [name for name in ("strict", "required") if arguments.given(name)]
    wanted = NewRepository(
        arguments.text("name"), arguments.text("place"), arguments.optional("type"), options, tuple(switches)
    )
    scope = " --global" if arguments.given("global") else ""
    added = add_repository(
        wanted,
        current_directory(),
        for_all=arguments.given("global"),
        keep_defaults=arguments.given("keep_defaults"),
    )
    if arguments.text("format") == "json":
        left = [path for _, path in added.left]
        fields = {"guessed": added.guessed, "kept": list(added.kept), "left": left}
        print_json({"file": added.file, "repository": dict(added.table), **fields})
    else:
        guess = ", guessed from the address; --type says otherwise" if added.guessed else ""
        print(f"Added '{wanted.name}' ({added.table['type']}{guess}) to {added.file}")
        for path in added.kept:
            print(f"Kept {path}, which is a default folder")
        print(f"Next: skc repo sync {wanted.name}")
    if added.left:
        also = "; ".join(f"skc repo add {name} {quote(path)}{scope}" for name, path in added.left)
        print(
            "note: configured repositories replace the default folders, so these are not searched any more: "
            f"{', '.join(path for _, path in added.left)}. To search them, too: {also}",
            file=sys.stderr,
        )
    return 0


def _remove(arguments: Arguments) -> int:
    from skillc.cli.output import print_json
    from skillc.errors import InvalidOption
    from skillc.library import file_to_edit, names_in, remove_repository
    from skillc.paths import current_directory

    name, for_all = arguments.text("name"), arguments.given("global")
    file = file_to_edit(current_directory(), for_all)
    try:
        left = remove_repository(file, name)
    except InvalidOption:
        if not for_all and name in names_in(file_to_edit(current_directory(), True)):
            raise InvalidOption(f"'{name}' is for all projects: skc repo remove {name} --global") from None
        raise
    if arguments.text("format") == "json":
        print_json({"file": file, "name": name, "left": left})
    else:
        print(f"Removed '{name}' from {file}")
    if not left:
        again = "where no other is configured, the default folders are searched again"
        print(f"note: it was the last one in that file; {again}", file=sys.stderr)
    return 0


def _sync(arguments: Arguments) -> int:
    from skillc.cli import prompting
    from skillc.cli.output import print_json, print_table
    from skillc.errors import InvalidOption
    from skillc.library import refresh_repositories

    name = arguments.optional("name")
    chain = prompting.repositories()
    wanted = [repository for repository in chain if name in (None, repository.name)]
    if name is not None and not wanted:
        known = ", ".join(repository.name for repository in chain)
        raise InvalidOption(f"there is no repository '{name}'; there are {known}")
    done = prompting.run(refresh_repositories(wanted))
    if arguments.text("format") == "json":
        print_json({"repositories": [_fields(one) for one in done]})
    else:
        header = ("REPOSITORY", "TYPE", "STATUS", "BEFORE", "SKILLS", "COMMIT", "ERROR")
        print_table(header, [_row(one) for one in done])
    return _complain(done)


def _fields(one: Refresh) -> dict[str, object]:
    error = one.failure.message if one.failure else None
    fields = ("name", "type", "status", "before", "skills", "commit")
    return {**{field: getattr(one, field) for field in fields}, "error": error}


def _row(one: Refresh) -> Sequence[str]:
    before = "" if one.before is None else str(one.before)
    error = one.failure.message if one.failure else ""
    return one.name, one.type, one.status, before, str(one.skills), (one.commit or "")[:12], error


def _complain(done: Sequence[Refresh]) -> int:
    """Raise what went wrong, the first of it with its code in front."""
    failures = [one.failure for one in done if one.failure]
    if failures:
        failures[0].details = "\n".join(failure.message for failure in failures[1:])
        raise failures[0]
    return 0
