"""`skc repo`: the repositories that skills come from."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from skillc.cli import workspace
from skillc.cli.output import print_json, print_table
from skillc.cli.syntax import FORMAT, Argument, Arguments, Command, Option
from skillc.errors import InvalidOption
from skillc.library import (
    NewRepository,
    Refresh,
    add_repository,
    file_to_edit,
    names_in,
    refresh_repositories,
    remove_repository,
    repositories_in_force,
)
from skillc.paths import current_directory, library_roots
from skillc.text import shell_quote

TYPES = ("filesystem", "git", "http", "mcp", "well-known")

COMMAND = Command(
    "repo",
    arguments=(
        Argument("action", "list, add, remove or sync.", completes="list add remove sync"),
        Argument(
            "name",
            "The repository's name. Without one, sync refreshes all.",
            required=False,
            completes="repos",
        ),
        Argument("place", "The folder or address to add.", required=False),
    ),
    options=(
        Option("--type", "Type of the repository. Guessed from the address by default.", choices=TYPES),
        Option("--ref", "git: the branch, tag or commit. Default: the branch main.", value="<ref>"),
        Option(
            "--ref-type",
            "git: whether --ref is a branch, tag or commit. Default: branch.",
            choices=("branch", "tag", "commit"),
        ),
        Option(
            "--skills-root", "git: the folder in the repository that contains the skills.", value="<folder>"
        ),
        Option("--auth-token-env", "git, http: the environment variable with the token.", value="<VARIABLE>"),
        Option("--strict", "Quarantine skills that break the Agent Skills format."),
        Option("--required", "Fail if this repository is unavailable, instead of going on with the others."),
        Option("--keep-defaults", "If this is the first repository: add the default folders before it."),
        Option("--global", "Change the home directory's skills.toml, which is for all projects."),
        FORMAT,
    ),
    description=(
        "Repositories are configured in .skillc/skills.toml of the project and of the home directory. "
        "'add' and 'remove' leave everything else in that file unchanged. Once a repository is configured, "
        "the default folders (.skillc/skills of the project and the home directory) are no longer searched."
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
_USAGE = {"list": "list", "add": "add <name> <path or url>", "remove": "remove <name>", "sync": "sync [name]"}


def run(arguments: Arguments) -> int:
    action = arguments.text("action")
    actions = {"list": (_list, 0, 0), "add": (_add, 2, 2), "remove": (_remove, 1, 1), "sync": (_sync, 0, 1)}
    if action not in actions:
        raise InvalidOption(f'<action> takes {", ".join(actions)}, not "{action}"')
    function, least, most = actions[action]
    count = sum(arguments.optional(name) is not None for name in ("name", "place"))
    if not least <= count <= most:
        raise InvalidOption(f"usage: skc repo {_USAGE[action]}")
    only_add = [name for name in ("type", *_GIT) if arguments.optional(name) is not None]
    only_add += [name for name in _SWITCHES if arguments.given(name)]
    if only_add and action != "add":
        raise InvalidOption(f"--{only_add[0].replace('_', '-')} goes with 'skc repo add' alone")
    if arguments.given("global") and action not in ("add", "remove"):
        raise InvalidOption("--global goes with 'skc repo add' and 'skc repo remove' alone")
    return function(arguments)


def _list(arguments: Arguments) -> int:
    here = workspace(progress=True)
    states = here.wait(here.library().source.states(), warnings=False)
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
    options = {name: value for name in _GIT if (value := arguments.optional(name)) is not None}
    switches = [name for name in ("strict", "required") if arguments.given(name)]
    repository = NewRepository(
        arguments.text("name"), arguments.text("place"), arguments.optional("type"), options, tuple(switches)
    )
    addition = add_repository(
        repository,
        current_directory(),
        for_all=arguments.given("global"),
        keep_defaults=arguments.given("keep_defaults"),
    )
    if arguments.text("format") == "json":
        left = [path for _, path in addition.left]
        fields = {"guessed": addition.guessed, "kept": list(addition.kept), "left": left}
        print_json({"file": addition.file, "repository": dict(addition.table), **fields})
    else:
        guess = ", guessed from the address; --type says otherwise" if addition.guessed else ""
        print(f"Added '{repository.name}' ({addition.table['type']}{guess}) to {addition.file}")
        for path in addition.kept:
            print(f"Kept {path}, which is a default folder")
        print(f"Next: skc repo sync {repository.name}")
    if addition.left:
        scope = " --global" if arguments.given("global") else ""
        also = "; ".join(f"skc repo add {name} {shell_quote(path)}{scope}" for name, path in addition.left)
        print(
            "note: configured repositories replace the default folders, so these are not searched any more: "
            f"{', '.join(path for _, path in addition.left)}. To search them, too: {also}",
            file=sys.stderr,
        )
    return 0


def _remove(arguments: Arguments) -> int:
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
    here = workspace(progress=True)
    name = arguments.optional("name")
    repositories = repositories_in_force(here.configuration(), next(library_roots(here.cwd), None))
    chosen = [repository for repository in repositories if name in (None, repository.name)]
    if name is not None and not chosen:
        names = ", ".join(repository.name for repository in repositories)
        raise InvalidOption(f"there is no repository '{name}'; there are {names}")
    results = here.wait(refresh_repositories(chosen), warnings=False)
    if arguments.text("format") == "json":
        print_json({"repositories": [_fields(result) for result in results]})
    else:
        header = ("REPOSITORY", "TYPE", "STATUS", "BEFORE", "SKILLS", "COMMIT", "ERROR")
        print_table(header, [_row(result) for result in results])
    failures = [result.failure for result in results if result.failure]
    if failures:  # the first with its code in front
        failures[0].details = "\n".join(failure.message for failure in failures[1:])
        raise failures[0]
    return 0


def _fields(result: Refresh) -> dict[str, object]:
    error = result.failure.message if result.failure else None
    fields = ("name", "type", "status", "before", "skills", "commit")
    return {**{field: getattr(result, field) for field in fields}, "error": error}


def _row(result: Refresh) -> Sequence[str]:
    before = "" if result.before is None else str(result.before)
    error = result.failure.message if result.failure else ""
    commit = (result.commit or "")[:12]
    return result.name, result.type, result.status, before, str(result.skills), commit, error
