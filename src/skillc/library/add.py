"""Adding a repository as somebody asks for it: its type guessed, its address checked, and what that ends.

Nothing is asked of the repository itself; that is what `refreshing` is for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from skillc import paths
from skillc.errors import InvalidOption
from skillc.library import addresses, config, edit
from skillc.library.config import SkillRepositoryConfig, SkillsConfig
from skillc.library.git import GitRef, GitSkillConfig, HttpsToken
from skillc.library.repositories import EMBEDDED

# What a type has beside its address: our words, and the keys of skills.toml.
OPTIONS: dict[str, dict[str, str]] = {
    "filesystem": {},
    "git": {"ref": "git_ref", "ref_type": "ref_type", "skills_root": "skills_root", "auth_token_env": ""},
    "http": {"auth_token_env": ""},
    "mcp": {"auth_token_env": ""},
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A repository as it was asked for; `type` None is to be guessed, `switches` are strict and required."""

    name: str
    place: str
    type: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    switches: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Added:
    """What was written, and where.

    Of the default folders, `kept` still are searched; `left`, by name and path, are not any more.
    """

    file: str
    table: edit.Table
    guessed: bool
    kept: tuple[str, ...] = ()
    left: tuple[tuple[str, str], ...] = ()


def add(wanted: Wanted, cwd: str, *, for_all: bool = False, keep_defaults: bool = False) -> Added:
    """Write a repository into the project's skills.toml, or `for_all` projects into the home's."""
    file = edit.file_to_edit(cwd, for_all)
    base = os.path.dirname(os.path.dirname(file))
    table = _table(wanted, cwd, base)
    known = edit.names_in(file) if for_all else SkillsConfig.load(cwd).repositories
    ending = [] if known else _defaults(cwd, os.path.join(base, os.path.expanduser(str(table.get("path")))))
    kept = [repository for repository in ending if keep_defaults and _can_keep(repository, base, wanted.name)]
    edit.add(file, [*(_kept(repository, base) for repository in kept), table])
    left = tuple((gone.name, gone.path) for gone in ending if gone not in kept)
    return Added(file, table, wanted.type is None, tuple(repository.path for repository in kept), left)


def _table(wanted: Wanted, cwd: str, base: str) -> edit.Table:
    name, kind = wanted.name, wanted.type or addresses.guess_type(wanted.place)
    if not name.isprintable() or name != name.strip() or name in ("", EMBEDDED) or len(name) > 64:
        raise InvalidOption(f"a repository's name is 1 to 64 printable characters and not '{EMBEDDED}'")
    if kind not in config.TYPES:
        usable = ", ".join(config.TYPES)
        raise InvalidOption(f"repositories of type '{kind}' can't be used yet; {usable} can")
    table: dict[str, str | bool] = {"name": name, "type": kind}
    if kind == "filesystem":
        table["path"] = addresses.resolve_path(wanted.place, cwd, base)
    else:
        table["url"] = addresses.resolve_url(wanted.place, kind, cwd)
    table |= _options(kind, wanted.options)
    if kind == "http" and "strict" in wanted.switches:
        raise InvalidOption("--strict is not for repositories of type http: the server sends no SKILL.md")
    if kind == "git":
        _check_git(table)
    return table | dict.fromkeys(wanted.switches, True)


def _options(kind: str, given: Mapping[str, str]) -> dict[str, str]:
    """The settings that options ask for; raises InvalidOption for those of other types."""
    keys = OPTIONS[kind]
    settings = {}
    for option, value in given.items():
        if option not in keys:
            raise InvalidOption(f"--{option.replace('_', '-')} is not for repositories of type {kind}")
        if option == "auth_token_env":
            settings["auth_token"] = f"${{{_variable(value)}}}"
        else:
            settings[keys[option]] = value
    if "ref_type" in settings and "git_ref" not in settings:
        raise InvalidOption("--ref-type needs --ref")
    return settings


def _variable(name: str) -> str:
    """A variable's name. Upper case, so that no token is taken for one; the error does not repeat it."""
    if not re.fullmatch("[A-Z_][A-Z0-9_]*", name):
        raise InvalidOption("--auth-token-env takes the name of a variable (A-Z, 0-9 and _), not a token")
    return name


def _check_git(table: edit.Table) -> None:
    """Raise InvalidConfiguration for what would be refused when it is used."""
    ref = GitRef(str(table.get("ref_type", "branch")), str(table.get("git_ref", "main")))
    auth = HttpsToken("-") if "auth_token" in table else None
    url = str(table["url"]) if "${" not in str(table["url"]) else "https://localhost"
    GitSkillConfig(url, ref, skills_root=str(table.get("skills_root", "")), auth=auth)


def _defaults(cwd: str, added: str) -> list[SkillRepositoryConfig]:
    """The folders of the default chain that hold something, without the one that is being added."""
    chain = config.default_repositories(paths.library_roots(cwd), paths.home())
    return [repository for repository in chain if _holds_something(repository.path, added)]


def _holds_something(folder: str, other: str) -> bool:
    same = os.path.realpath(folder) == os.path.realpath(other)
    return not same and os.path.isdir(folder) and bool(os.listdir(folder))


def _can_keep(repository: SkillRepositoryConfig, base: str, name: str) -> bool:
    """Whether a default folder can be written down: the home's file can't name every project's."""
    home = paths.home()
    return repository.name != name and (repository.base == home or base != home)


def _kept(repository: SkillRepositoryConfig, base: str) -> edit.Table:
    path = repository.path
    if repository.base == base:
        path = os.path.relpath(path, base).replace(os.sep, "/")
    elif repository.base == paths.user_home():
        path = "~/" + os.path.relpath(path, repository.base).replace(os.sep, "/")  # also for others
    return {"name": repository.name, "type": "filesystem", "path": path}
