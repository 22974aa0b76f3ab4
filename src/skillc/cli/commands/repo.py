"""`skc repo`: the repositories that skills come from."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace

from skillc.cli import show, workspace
from skillc.cli.lines import Table
from skillc.cli.syntax import Arguments, Command
from skillc.cli.usage_errors import check_action
from skillc.library import repositories

COMMAND = Command("""
skc repo list
skc repo add <name> <place>
skc repo remove <name>
skc repo sync [name]

Repositories are configured in .skillc/skills.toml of the project and of the home directory. 'add' and
'remove' leave everything else in that file unchanged. Once a repository is configured, the default folders
(.skillc/skills of the project and the home directory) are no longer searched.

[action]  list, add, remove or sync. Default: list.
[name] :repos  The repository's name. Without one, sync refreshes all.
[place]  The folder or address to add.
--type clawhub|filesystem|git|http|mcp|well-known @add  the type. Guessed from the address by default.
--ref <ref> @add  the branch, tag or commit of a git repository. Default: the branch main.
--ref-type branch|tag|commit @add  whether --ref is a branch, tag or commit. Default: branch.
--skills-root <folder> @add  the folder of a git repository that contains the skills.
--auth-token-env <VARIABLE> :environment @add  the environment variable with the token for git or a server.
--strict @add  quarantine skills that break the Agent Skills format.
--required @add  fail if this repository is unavailable, instead of going on with the others.
--keep-defaults @add  if this is the first repository: add the default folders before it.
--global @add,remove  change the home directory's skills.toml, which is for all projects.

$ skc repo list
$ skc repo add shared ../shared/skills
$ skc repo add company https://github.com/company/skills --ref v1.2.0 --ref-type tag
$ skc repo add team https://skills.example.com --auth-token-env TEAM_TOKEN --global
$ skc repo add hub https://registry.example.com --type clawhub
$ skc repo sync company
$ skc repo remove company
""")
GIT = ("ref", "ref_type", "skills_root", "auth_token_env")


def run(arguments: Arguments) -> int:
    action = check_action(arguments)
    return {"list": _list, "add": _add, "remove": _remove, "sync": _sync}[action](arguments)


def _list(arguments: Arguments) -> int:
    states = workspace(progress=True).repositories()
    fields = ("type", "status", "skills", "quarantined", "shadowed", "error")
    return show(arguments, {"repositories": states}, _tabulate(states, fields))


def _tabulate(results: Sequence[object], fields: Sequence[str]) -> list[str]:
    """Return a row for each repository: its name, and other fields of a result."""
    cells = [[getattr(each, field) for field in ("name", *fields)] for each in results]
    rows = [["" if cell is None else str(cell) for cell in row] for row in cells]
    return [Table(("REPOSITORY", *map(str.upper, fields)), rows)]


def _add(arguments: Arguments) -> int:
    options = {name: value for name in GIT if (value := arguments.optional(name)) is not None}
    switches = tuple(name for name in ("strict", "required") if arguments.has(name))
    name, place = arguments.text("name"), arguments.text("place")
    new = repositories.NewRepository(name, place, arguments.optional("type"), options, switches)
    for_all, keep = arguments.has("global"), arguments.has("keep_defaults")
    addition = workspace().add_repository(new, for_all=for_all, keep_defaults=keep)
    show(arguments, addition, addition.lines())
    if addition.left:
        print(f"note: {addition.advice()}", file=sys.stderr)
    return 0


def _remove(arguments: Arguments) -> int:
    removal = workspace().remove_repository(arguments.text("name"), for_all=arguments.has("global"))
    show(arguments, removal, f"Removed '{removal.name}' from {removal.file}")
    if not removal.left:
        again = "where no other is configured, the default folders are searched again"
        print(f"note: it was the last one in that file; {again}", file=sys.stderr)
    return 0


def _sync(arguments: Arguments) -> int:
    here = workspace(progress=True)
    results = here.sync_repositories(arguments.optional("name"))
    rows = [replace(each, commit=(each.commit or "")[:12]) for each in results]
    fields = ("type", "status", "before", "skills", "commit", "error")
    show(arguments, {"repositories": results}, _tabulate(rows, fields))
    failures = [result.failure for result in results if result.failure]
    here.tell((), failures)
    return 1 if failures else 0
