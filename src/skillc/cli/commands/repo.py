"""`skc repo`: the repositories that skills come from."""

from __future__ import annotations

import sys

from skillc import library
from skillc.cli import show, workspace
from skillc.cli.output import table
from skillc.cli.syntax import Argument, Arguments, Command, Option
from skillc.cli.usage_errors import check_action
from skillc.errors import InvalidOption
from skillc.paths import current_directory, library_roots
from skillc.quotes import shell_quote
from skillc.spelling import unknown_repository

TYPES = ("clawhub", "filesystem", "git", "http", "mcp", "well-known")

COMMAND = Command(
    "repo",
    arguments=(
        Argument("<action>", "list, add, remove or sync.", "list add remove sync"),
        Argument("[name]", "The repository's name. Without one, sync refreshes all.", "repos"),
        Argument("[place]", "The folder or address to add."),
    ),
    options=(
        Option("--type", "Type of the repository. Guessed from the address by default.", choices=TYPES),
        Option("--ref <ref>", "git: the branch, tag or commit. Default: the branch main."),
        Option(
            "--ref-type",
            "git: whether --ref is a branch, tag or commit. Default: branch.",
            choices=("branch", "tag", "commit"),
        ),
        Option("--skills-root <folder>", "git: the folder in the repository that contains the skills."),
        Option(
            "--auth-token-env <VARIABLE>",
            "git and servers: the environment variable with the token.",
            "environment",
        ),
        Option("--strict", "Quarantine skills that break the Agent Skills format."),
        Option("--required", "Fail if this repository is unavailable, instead of going on with the others."),
        Option("--keep-defaults", "If this is the first repository: add the default folders before it."),
        Option("--global", "Change the home directory's skills.toml, which is for all projects."),
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
        "skc repo add hub https://registry.example.com --type clawhub",
        "skc repo sync company",
        "skc repo remove company",
    ),
)
GIT = ("ref", "ref_type", "skills_root", "auth_token_env")
ONLY = {"add": ("type", *GIT, "strict", "required", "keep_defaults"), "add remove": ("global",)}
USAGES = {"list": "list", "add": "add <name> <place>", "remove": "remove <name>", "sync": "sync [name]"}


def run(arguments: Arguments) -> int:
    action = check_action(COMMAND, arguments, USAGES, ONLY)
    return {"list": _list, "add": _add, "remove": _remove, "sync": _sync}[action](arguments)


def _list(arguments: Arguments) -> int:
    here = workspace(progress=True)
    states = here.wait(here.library().states(), warnings=False)
    fields = ("name", "type", "status", "skills", "quarantined", "shadowed", "error")
    value = [{field: getattr(state, field) for field in fields} for state in states]
    rows = [["" if cell is None else str(cell) for cell in state.values()] for state in value]
    header = ("REPOSITORY", *(field.upper() for field in fields[1:]))
    return show(arguments, {"repositories": value}, table(header, rows))


def _add(arguments: Arguments) -> int:
    options = {name: value for name in GIT if (value := arguments.optional(name)) is not None}
    switches = [name for name in ("strict", "required") if arguments.has(name)]
    repository = library.NewRepository(
        arguments.text("name"), arguments.text("place"), arguments.optional("type"), options, tuple(switches)
    )
    for_all, keep = arguments.has("global"), arguments.has("keep_defaults")
    addition = library.add_repository(repository, current_directory(), for_all=for_all, keep_defaults=keep)
    fields = {
        "file": addition.file,
        "repository": dict(addition.table),
        "guessed": addition.guessed,
        "kept": list(addition.kept),
        "left": [path for _, path in addition.left],
    }
    guess = ", guessed from the address; --type says otherwise" if addition.guessed else ""
    lines = [
        f"Added '{repository.name}' ({addition.table['type']}{guess}) to {addition.file}",
        *(f"Kept {path}, which is a default folder" for path in addition.kept),
        f"Next: skc repo sync {repository.name}",
    ]
    show(arguments, fields, lines)
    if addition.left:
        scope = " --global" if for_all else ""
        also = "; ".join(f"skc repo add {name} {shell_quote(path)}{scope}" for name, path in addition.left)
        print(
            "note: configured repositories replace the default folders, so these are not searched any more: "
            f"{', '.join(path for _, path in addition.left)}. To search them, too: {also}",
            file=sys.stderr,
        )
    return 0


def _remove(arguments: Arguments) -> int:
    name, for_all = arguments.text("name"), arguments.has("global")
    file = library.file_to_edit(current_directory(), for_all)
    try:
        left = library.remove_repository(file, name)
    except InvalidOption:
        if not for_all and name in library.names_in(library.file_to_edit(current_directory(), True)):
            raise InvalidOption(f"'{name}' is for all projects: skc repo remove {name} --global") from None
        raise
    value = {"file": file, "name": name, "left": left}
    show(arguments, value, f"Removed '{name}' from {file}")
    if not left:
        again = "where no other is configured, the default folders are searched again"
        print(f"note: it was the last one in that file; {again}", file=sys.stderr)
    return 0


def _sync(arguments: Arguments) -> int:
    here = workspace(progress=True)
    name = arguments.optional("name")
    repositories = library.repositories_in_force(here.configuration(), next(library_roots(here.cwd), None))
    selection = [repository for repository in repositories if name in (None, repository.name)]
    if name is not None and not selection:
        raise unknown_repository(name, [repository.name for repository in repositories])
    results = here.wait(library.refresh_repositories(selection), warnings=False)
    fields = ("name", "type", "status", "before", "skills", "commit")
    value = [
        {field: getattr(result, field) for field in fields}
        | {"error": result.failure.message if result.failure else None}
        for result in results
    ]
    header = ("REPOSITORY", "TYPE", "STATUS", "BEFORE", "SKILLS", "COMMIT", "ERROR")
    cells = [(state | {"commit": (state["commit"] or "")[:12]}).values() for state in value]
    rows = [["" if cell is None else str(cell) for cell in row] for row in cells]
    show(arguments, {"repositories": value}, table(header, rows))
    failures = [result.failure for result in results if result.failure]
    if failures:  # the first with its code in front
        failures[0].details = "\n".join(failure.message for failure in failures[1:])
        raise failures[0]
    return 0
