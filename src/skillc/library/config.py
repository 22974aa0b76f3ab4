"""skills.toml: which repositories an agent's skills come from, and the limits of prompts [D23 to D24].

Project before user, each file in its own order; of two repositories with one name the first counts.
`.skillc/skills.toml` is read, or `.rkat/skills.toml` where a directory has only that.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from skillc import paths
from skillc.errors import Diagnostic, InvalidConfiguration, warning

FILE = "skills.toml"
DIRECTORIES = (paths.DIRECTORY, paths.ALTERNATIVE)  # ours, and that of the document
EXPANDED = ("url", "auth_token", "ssh_key")

_COMMON: dict[str, type] = {
    "name": str,
    "type": str,
    "strict": bool,
    "required": bool,
    "timeout_seconds": int,
}
_OF_TYPE: dict[str, dict[str, type]] = {
    "filesystem": {"path": str},
    "http": {"url": str, "auth_header": str, "auth_token": str, "refresh_seconds": int},
    "git": {
        "url": str,
        "git_ref": str,
        "ref_type": str,
        "skills_root": str,
        "auth_token": str,
        "ssh_key": str,
        "refresh_seconds": int,
        "depth": int,
    },
    "mcp": {"command": list, "url": str, "auth_header": str, "auth_token": str, "refresh_seconds": int},
}
TYPES = tuple(_OF_TYPE)
_NEEDED = {"filesystem": "path", "http": "url", "git": "url"}
_REF_TYPES = ("branch", "tag", "commit")
_TOP: dict[str, type] = {"enabled": bool, "max_injection_bytes": int, "inventory_threshold": int}


@dataclass(frozen=True, slots=True)
class SkillRepositoryConfig:
    """A named repository. `file` is where it was configured, `base` what its relative paths start from.

    `time_out` (`timeout_seconds` in the file) is how long it may take to answer.
    """

    name: str
    type: str
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)  # may hold secrets
    strict: bool = False
    required: bool = False
    file: str = ""
    base: str = ""
    time_out: int | None = None

    @property
    def path(self) -> str:
        """A filesystem repository's folder."""
        return os.path.join(self.base, os.path.expanduser(self.settings["path"]))

    def expanded(self) -> Mapping[str, Any]:
        """The settings with `${VAR}` replaced; raises InvalidConfiguration, naming the variable alone."""
        return {
            key: self._expand(value) if key in EXPANDED else value for key, value in self.settings.items()
        }

    def _expand(self, text: str) -> str:
        first, *rest = text.split("${")
        parts = [part.partition("}") for part in rest]
        for name, closed, _ in parts:  # before any value is at hand, to be in nobody's way
            if not closed:
                raise InvalidConfiguration(self.file, f"repository '{self.name}': a '${{' is not closed")
            if not os.environ.get(name):
                raise InvalidConfiguration(
                    self.file, f"repository '{self.name}': the variable {name} is not set"
                )
        return first + "".join(os.environ[name] + after for name, _, after in parts)


@dataclass(frozen=True, slots=True)
class SkillsConfig:
    """The configuration in force. `diagnostics` are keys that nobody knows."""

    enabled: bool = True
    max_injection_bytes: int = 32 * 1024
    inventory_threshold: int = 12
    repositories: tuple[SkillRepositoryConfig, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @classmethod
    def load(cls, cwd: str | None = None) -> SkillsConfig:
        """The user's and the nearest project's configuration, the project first."""
        here = cwd or paths.current_directory()
        project = next((path for root in paths.library_roots(here) if (path := find(root))), None)
        home = paths.home()
        return cls.load_from_paths(find(home) if home else None, project)

    @classmethod
    def load_from_paths(
        cls, user_path: str | os.PathLike[str] | None, project_path: str | os.PathLike[str] | None
    ) -> SkillsConfig:
        """The same from given files; one that is None or not there says nothing."""
        merged = cls()
        for path in (user_path, project_path):  # what is read later counts more
            if path is not None and os.path.exists(path):
                merged = _merge(_read(os.fspath(path)), merged)
        return merged


def find(root: str) -> str | None:
    """The skills.toml of a directory."""
    candidates = (os.path.join(root, directory, FILE) for directory in DIRECTORIES)
    return next((path for path in candidates if os.path.exists(path)), None)


@dataclass(frozen=True, slots=True)
class _File:
    """What one file sets."""

    values: dict[str, Any]
    repositories: tuple[SkillRepositoryConfig, ...]
    diagnostics: tuple[Diagnostic, ...]


def _merge(first: _File, then: SkillsConfig) -> SkillsConfig:
    """`first` before `then`: its values and repositories win, what it does not set stays."""
    repositories = {
        repository.name: repository for repository in reversed((*first.repositories, *then.repositories))
    }
    ordered = dict.fromkeys(repository.name for repository in (*first.repositories, *then.repositories))
    return replace(
        then,
        **first.values,
        repositories=tuple(repositories[name] for name in ordered),
        diagnostics=(*first.diagnostics, *then.diagnostics),
    )


def _read(path: str) -> _File:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
    except (OSError, ValueError) as error:
        raise InvalidConfiguration(path, getattr(error, "strerror", None) or str(error)) from None
    return parse(path, text)


def parse(path: str, text: str) -> _File:
    """What the text of the file at `path` sets; raises InvalidConfiguration."""
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidConfiguration(path, str(error)) from None
    tables = data.pop("repositories", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise InvalidConfiguration(path, "'repositories' must be [[repositories]] tables")
    noticed: list[Diagnostic] = []
    values = _checked(data, _TOP, path, "", noticed)
    if any(type(value) is int and value < 1 for value in values.values()):
        raise InvalidConfiguration(path, "limits must be positive")
    repositories = [_repository(table, path, noticed) for table in tables]
    return _File(values, tuple(repositories), tuple(noticed))


def _repository(table: dict[str, Any], path: str, noticed: list[Diagnostic]) -> SkillRepositoryConfig:
    name = table.get("name")
    if not isinstance(name, str) or not name:
        raise InvalidConfiguration(path, "a repository has no name")
    kind = table.get("type")
    if not isinstance(kind, str) or kind not in _OF_TYPE:
        raise InvalidConfiguration(
            path, f"repository '{name}': type must be {', '.join(_OF_TYPE)}, not {kind!r}"
        )
    known = _COMMON | _OF_TYPE[kind]
    values = _checked(table, known, path, f"repository '{name}': ", noticed)
    if kind == "mcp":
        _check_mcp(values, path, name)
    elif not values.get(_NEEDED[kind]):
        raise InvalidConfiguration(path, f"repository '{name}': '{_NEEDED[kind]}' is missing")
    if values.get("ref_type", "branch") not in _REF_TYPES:
        raise InvalidConfiguration(path, f"repository '{name}': ref_type must be {', '.join(_REF_TYPES)}")
    time_out = values.get("timeout_seconds")
    if time_out is not None and time_out < 1:
        raise InvalidConfiguration(path, f"repository '{name}': timeout_seconds must be positive")
    settings = {key: value for key, value in values.items() if key not in _COMMON}
    base = os.path.dirname(os.path.dirname(os.path.abspath(path)))
    strict, required = values.get("strict", False), values.get("required", False)
    return SkillRepositoryConfig(name, kind, settings, strict, required, path, base, time_out)


def _check_mcp(values: dict[str, Any], path: str, name: str) -> None:
    """A server is reached by a command, a list of words, or by a URL."""
    command = values.get("command", [])
    if not all(isinstance(word, str) and word for word in command):
        raise InvalidConfiguration(path, f"repository '{name}': 'command' must be a list of words")
    if bool(command) == bool(values.get("url")):
        raise InvalidConfiguration(path, f"repository '{name}': give either 'command' or 'url'")


def _checked(
    table: Mapping[str, Any], known: Mapping[str, type], path: str, what: str, noticed: list[Diagnostic]
) -> dict[str, Any]:
    """The known keys with values of their types; a wrong type is an error, an unknown key a warning."""
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in known:
            noticed.append(warning("W071", path, f"{what}unknown key '{key}'"))
        elif type(value) is not known[key]:
            raise InvalidConfiguration(path, f"{what}'{key}' must be {_WORDS[known[key]]}")
        else:
            values[key] = value
    return values


_WORDS: dict[type, str] = {str: "text", int: "an integer", bool: "true or false", list: "a list"}


def default_repositories(project_roots: Iterable[str], home: str | None) -> tuple[SkillRepositoryConfig, ...]:
    """The chain that applies without any skills.toml: the project's skills, then the user's [D23]."""
    chain = []
    for owner, root in (("project", next(iter(project_roots), None)), ("user", home)):
        for directory in DIRECTORIES if root else ():
            suffix = "" if directory == paths.DIRECTORY else "-rkat"
            settings = {"path": os.path.join(directory, "skills")}
            chain.append(SkillRepositoryConfig(f"{owner}{suffix}", "filesystem", settings, base=root or ""))
    return tuple(chain)
