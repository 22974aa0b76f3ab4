"""Change skills.toml as text: add or remove a repository, and leave everything else as it was written.

A table is appended, or its lines are cut. The result is parsed and compared with what was intended
before it replaces the file, whole, while no other `skc` changes it. Nothing is asked of the repository.

A table's lines are its own, those of tables below it, the comments directly above its header, and the
comments directly below its last line if a blank line separates them from what follows.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from skillc import atomic, paths
from skillc.contract import KEY, hidden
from skillc.errors import InvalidConfiguration, InvalidOption, SkillcError
from skillc.library.repositories import config, variables
from skillc.library.repositories.config import REPOSITORIES, SkillRepositoryConfig, SkillsConfig
from skillc.library.sources import EMBEDDED
from skillc.quotes import shell_quote
from skillc.remotes.git import GitRef, GitSkillConfig, HttpsToken
from skillc.remotes.http import guess_type, resolve_address
from skillc.spelling import unknown_repository
from skillc.toml import Part, is_comment, split_lines, split_parts

# The options beside the address, with their keys in skills.toml.
OPTIONS = {"ref": "git_ref", "auth_token_env": "auth_token"} | {k: k for k in ("ref_type", "skills_root")}

Table = Mapping[str, str | bool]


@dataclass(frozen=True, slots=True)
class NewRepository:
    """A repository to add; without a `type` it is guessed, `switches` are strict and required."""

    name: str
    place: str
    type: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    switches: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class RepositoryAddition:
    """A repository that was added to a file.

    Of the default folders, those in `kept` are still searched; those in `left`, with their names, are not.
    """

    file: str
    table: Table = field(metadata={KEY: "repository"})
    guessed: bool
    kept: tuple[str, ...]
    left: tuple[str, ...]
    left_names: tuple[str, ...] = hidden(())
    for_all: bool = hidden(False)

    def lines(self) -> Iterator[str]:
        """Yield what was done, and what comes next."""
        name = self.table["name"]
        guess = ", guessed from the address; --type says otherwise" if self.guessed else ""
        yield f"Added '{name}' ({self.table['type']}{guess}) to {self.file}"
        for path in self.kept:
            yield f"Kept {path}, which is a default folder"
        yield f"Next: skc repo sync {name}"

    def advice(self) -> str:
        """Return how default folders that are left can be searched, too."""
        end, left = " --global" if self.for_all else "", zip(self.left_names, self.left, strict=True)
        also = "; ".join(f"skc repo add {name} {shell_quote(path)}{end}" for name, path in left)
        return (
            "configured repositories replace the default folders, so these are not searched any more: "
            f"{', '.join(self.left)}. To search them, too: {also}"
        )


@dataclass(frozen=True, slots=True)
class RepositoryRemoval:
    """A repository that was cut from a file, and those that are left in it."""

    file: str
    name: str
    left: tuple[str, ...]


def file_to_edit(cwd: str, for_all: bool = False) -> str:
    """Return the project's file in force, else a new one in the nearest project; or that of the home.

    Raises ProjectFolderEscapes for a project's that is, or lies behind, a link out of it.
    """
    roots = [paths.require_home()] if for_all else list(paths.library_roots(cwd))
    if not roots:
        raise InvalidOption("there is no project here; make one with 'skc init', or use --global")
    files = ((root, path) for root in roots if (path := config.find_skills_file(root)))
    root, file = next(files, (roots[0], os.path.join(roots[0], paths.DIRECTORY, config.FILE)))
    if not for_all:
        paths.require_inside(file, root)
    return file


def names_in(file: str) -> list[str]:
    """Return the names of a file's repositories, in order; none if there is no file."""
    return _names(_parse(file, config.read(file)).get(REPOSITORIES, []))


def add_repository(
    cwd: str, new: NewRepository, *, for_all: bool = False, keep_defaults: bool = False
) -> RepositoryAddition:
    """Write a repository into the project's skills.toml, or `for_all` projects into the home's."""
    file = file_to_edit(cwd, for_all)
    base = os.path.dirname(os.path.dirname(file))
    table = _new_table(new, cwd, base)
    defaults: list[SkillRepositoryConfig] = []  # that the first configured repository replaces
    if not (names_in(file) if for_all else SkillsConfig.load(cwd).repositories):
        own = os.path.realpath(os.path.join(base, os.path.expanduser(str(table.get("path")))))
        chain = config.default_repositories(paths.library_roots(cwd), paths.home())
        folders = [r for r in chain if os.path.isdir(r.path) and os.listdir(r.path)]
        defaults = [r for r in folders if os.path.realpath(r.path) != own]
    home = paths.home()  # its file can't name every project's folders
    keep = [r for r in defaults if keep_defaults and r.name != new.name and (r.base == home or base != home)]
    append_tables(file, [*(_default_table(repository, base) for repository in keep), table])
    _allow_variables(file, new.name)
    left = [repository for repository in defaults if repository not in keep]
    return RepositoryAddition(
        file,
        table,
        new.type is None,
        tuple(repository.path for repository in keep),
        tuple(repository.path for repository in left),
        tuple(repository.name for repository in left),
        for_all,
    )


def _allow_variables(file: str, name: str) -> None:
    """Let a project use the variables of a repository that the user has just added with them."""
    of_project = os.path.dirname(os.path.dirname(file)) != paths.home()
    repositories = config.parse(file, config.read(file), of_project=of_project).repositories
    try:
        uses = variables.uses_of(next(repository for repository in repositories if repository.name == name))
        if uses:
            variables.allow_variables(uses)
    except SkillcError:
        pass  # the repository is unavailable, and says why when it is used


def _new_table(new: NewRepository, cwd: str, base: str) -> Table:
    name, kind = new.name, new.type or guess_type(new.place)
    if not name.isprintable() or name != name.strip() or name in ("", EMBEDDED) or len(name) > 64:
        raise InvalidOption(f"a repository's name is 1 to 64 printable characters and not '{EMBEDDED}'")
    if kind not in config.TYPES:
        usable = ", ".join(config.TYPES)
        raise InvalidOption(f"repositories of type '{kind}' can't be used yet; {usable} can")
    key = "path" if kind == "filesystem" else "url"
    table: dict[str, str | bool] = {"name": name, "type": kind}
    table[key] = resolve_address(new.place, kind, cwd, base)
    table |= _settings(kind, new.options)
    if kind in ("clawhub", "http", "well-known") and "strict" in new.switches:
        raise InvalidOption(f"--strict is not for repositories of type {kind}: the server sends no SKILL.md")
    if kind == "git":  # raises InvalidConfiguration for what would be refused on use
        ref = GitRef(str(table.get("ref_type", "branch")), str(table.get("git_ref", "main")))
        auth = HttpsToken("-") if "auth_token" in table else None
        url = str(table["url"]) if "${" not in str(table["url"]) else "https://localhost"
        GitSkillConfig(url, ref, skills_root=str(table.get("skills_root", "")), auth=auth)
    return table | dict.fromkeys(new.switches, True)


def _settings(kind: str, options: Mapping[str, str]) -> dict[str, str]:
    """Return the settings for options; raises InvalidOption for those of other types."""
    settings = {}
    for option, value in options.items():
        key = OPTIONS.get(option, "")
        if key not in config.KEYS[kind].split():
            raise InvalidOption(f"--{option.replace('_', '-')} is not for repositories of type {kind}")
        if option != "auth_token_env":
            settings[key] = value
        elif re.fullmatch("[A-Z_][A-Z0-9_]*", value):
            settings[key] = f"${{{value}}}"
        else:  # it may be a token, so the error does not repeat it
            raise InvalidOption("--auth-token-env takes the name of a variable (A-Z, 0-9 and _), not a token")
    if "ref_type" in settings and "git_ref" not in settings:
        raise InvalidOption("--ref-type needs --ref")
    return settings


def _default_table(repository: SkillRepositoryConfig, base: str) -> Table:
    path = repository.path
    if repository.base == base:
        path = os.path.relpath(path, base).replace(os.sep, "/")
    elif repository.base == paths.user_home():
        path = "~/" + os.path.relpath(path, repository.base).replace(os.sep, "/")  # right for all users
    return {"name": repository.name, "type": "filesystem", "path": path}


def append_tables(file: str, tables: Sequence[Table]) -> None:
    """Append repositories; raises InvalidOption for a name that is taken, and InvalidConfiguration."""

    def append(text: str, old: Sequence[Table]) -> tuple[str, Sequence[Table]]:
        for table in tables:
            if table["name"] in _names(old):
                remedy = "take another name, or remove that one first with 'skc repo remove'"
                raise InvalidOption(f"there is a repository '{table['name']}' in {file} already; {remedy}")
        end = "\r\n" if "\r\n" in text else "\n"
        new = text + (end if text and not text.endswith("\n") else "")
        for table in tables:
            lines = [f"[[{REPOSITORIES}]]", *(f"{key} = {_toml(value)}" for key, value in table.items())]
            new += (end if new else "") + "".join(line + end for line in lines)
        config.parse(file, new)
        return new, [*old, *tables]

    _change(file, append)


def remove_repository(cwd: str, name: str, *, for_all: bool = False) -> RepositoryRemoval:
    """Cut a repository from the project's skills.toml, or that of `for_all` projects from the home's.

    Raises InvalidOption if it does not exist.
    """
    file = file_to_edit(cwd, for_all)
    try:
        return RepositoryRemoval(file, name, tuple(cut_repository(file, name)))
    except InvalidOption:
        if not for_all and name in names_in(file_to_edit(cwd, True)):
            raise InvalidOption(f"'{name}' is for all projects: skc repo remove {name} --global") from None
        raise


def cut_repository(file: str, name: str) -> list[str]:
    """Cut a repository; return the names of the others. Raises InvalidOption if it does not exist."""

    def cut(text: str, old: Sequence[Table]) -> tuple[str, Sequence[Table]]:
        _require(file, name, _names(old))
        return _cut(text, name), [table for table in old if table.get("name") != name]

    _require(file, name, names_in(file))  # before a directory is made
    return _names(_change(file, cut))


def _require(file: str, name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise unknown_repository(name, names, f" in {file}")


def _change(
    file: str, edit: Callable[[str, Sequence[Table]], tuple[str, Sequence[Table]]]
) -> Sequence[Table]:
    """Read, edit and replace a file as one step among all processes; links to it stay links.

    `edit` gets the text and its repositories, and returns the new ones, which are compared before they count.
    """
    real = os.path.realpath(file)
    directory = os.path.dirname(real)
    os.makedirs(directory, exist_ok=True)
    # A directory can be locked itself, which leaves nothing behind in the project; not so on Windows.
    lock = directory if os.name == "posix" else os.path.join(directory, f".{config.FILE}.lock")
    with atomic.Lock(lock):
        text = config.read(file)
        data = _parse(file, text)
        if REPOSITORIES in next(split_parts(split_lines(text))).data:
            remedy = f"'{REPOSITORIES} = [...]' can't be changed by a command; edit it by hand, or write"
            raise InvalidConfiguration(file, f"{remedy} [[{REPOSITORIES}]] tables")
        new, tables = edit(text, data.pop(REPOSITORIES, []))
        if _parse(file, new) != data | ({REPOSITORIES: [dict(table) for table in tables]} if tables else {}):
            raise InvalidConfiguration(file, "it can't be changed safely; edit it by hand")
        mode = stat.S_IMODE(os.stat(real).st_mode) if os.path.exists(real) else None
        atomic.write(real, new.encode(), durable=True, mode=mode)
    return tables


def _parse(file: str, text: str) -> dict[str, Any]:
    """Return what a file says; floats stay text, because NaN is not equal to itself."""
    return config.parse_tables(file, text, parse_float=str)


def _names(tables: Sequence[Table]) -> list[str]:
    return [name for table in tables if isinstance(name := table.get("name"), str)]


def _toml(value: str | bool) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    text = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(f"\\u{ord(c):04x}" if c < " " or c == "\x7f" else c for c in text) + '"'


def _cut(text: str, name: str) -> str:
    """Return the text without the lines of a repository."""
    lines = split_lines(text)
    cut: set[int] = set()
    inside, before = False, 0
    for part in split_parts(lines):
        tables = part.data.get(REPOSITORIES)
        if isinstance(tables, list):
            inside = tables[0].get("name") == name
        if inside and tables is not None:
            cut.update(_span(lines, before, part))
        before = part.end
    return "".join(line for number, line in enumerate(lines) if number not in cut)


def _span(lines: Sequence[str], before: int, part: Part) -> range:
    """Return the lines of a table with one of the two gaps around it; the table before ends at `before`."""
    first, last = part.start, part.end
    while first > before and is_comment(lines[first - 1]):
        first -= 1
    while last < part.stop and is_comment(lines[last]):
        last += 1
    if last == part.stop < len(lines):  # comments down to the next header belong to that
        last = part.end
    while last < part.stop and not lines[last].strip():
        last += 1
    while last == len(lines) and first > before and not lines[first - 1].strip():
        first -= 1
    return range(first, last)
