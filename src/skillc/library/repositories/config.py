"""Read skills.toml: the repositories that skills come from, and the limits of prompts [D23 to D24].

Project before user, each file in its own order; of two repositories with one name the first counts.
`.skillc/skills.toml` is read, or `.rkat/skills.toml` where a directory has only that.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from skillc import paths
from skillc.errors import Diagnostic, InvalidConfiguration, warning
from skillc.settings import parse_toml
from skillc.spelling import near_miss, suggest

FILE = "skills.toml"
DIRECTORIES = (paths.DIRECTORY, paths.ALTERNATIVE)  # ours, and that of the design document
REPOSITORIES = "repositories"
VARIABLE = re.compile(r"\$\{([^}]*)\}")
_UNCLOSED = re.compile(r"\$\{([A-Za-z_]\w*)?", re.ASCII)
_HOST = re.compile(r"([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")  # in lower case, maybe with a port
MAX_FILE = 1 << 20  # bytes of a skills.toml


KEYS = {
    "filesystem": "path",
    "http": "url auth_header auth_token refresh_seconds allow_hosts",
    "git": "url git_ref ref_type skills_root auth_token ssh_key refresh_seconds depth allow_hosts",
    "well-known": "url auth_header auth_token refresh_seconds allow_hosts",
    "clawhub": "url auth_header auth_token refresh_seconds allow_hosts",
    "mcp": "command url auth_header auth_token refresh_seconds",
}
TYPES = tuple(KEYS)
_COMMON = ("name", "type", "strict", "required", "timeout_seconds")
_NOT_TEXT: dict[str, type] = (
    {"strict": bool, "required": bool, "command": list, "allow_hosts": list}
    | dict.fromkeys(("timeout_seconds", "refresh_seconds", "depth"), int)
)  # fmt: skip
_REQUIRED = {"filesystem": "path"} | dict.fromkeys(("http", "git", "well-known", "clawhub"), "url")
_EXPANDED = ("url", "auth_token", "ssh_key")
_REF_TYPES = ("branch", "tag", "commit")
_TOP: dict[str, type] = {"enabled": bool, "capabilities": list} | dict.fromkeys(
    ("max_injection_bytes", "inventory_threshold"), int
)
_TYPE_NAMES: dict[type, str] = {str: "text", int: "an integer", bool: "true or false", list: "a list"}


@dataclass(frozen=True, slots=True)
class SkillRepositoryConfig:
    """A named repository. `file` is where it was configured, `base` the root of its relative paths.

    `time_out` (`timeout_seconds` in the file) is how long it may take to answer. If it is `of_project`, it
    uses a variable of the environment only after the user allowed that (`variables`).
    """

    name: str
    type: str
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)  # as written; may hold secrets
    strict: bool = False
    required: bool = False
    file: str = ""
    base: str = ""
    time_out: int | None = None
    of_project: bool = False

    @property
    def path(self) -> str:
        return os.path.join(self.base, os.path.expanduser(str(self.settings["path"])))

    def __post_init__(self) -> None:
        """Raise InvalidConfiguration for values that skills.toml could not have, either."""
        table = {"name": self.name, "type": self.type, **self.settings}
        _check_table(table, self.file or "repository")
        if self.time_out is not None and (type(self.time_out) is not int or self.time_out < 1):
            raise InvalidConfiguration(self.file or "repository", "time_out must be a positive integer")

    def variables(self) -> list[str]:
        """Return the names of the variables in the settings."""
        texts = [str(value) for key, value in self.settings.items() if key in _EXPANDED]
        return list(dict.fromkeys(name for text in texts for name in VARIABLE.findall(text)))

    def expand_settings(self) -> dict[str, Any]:
        """Return the settings with `${VAR}` replaced; raises InvalidConfiguration for an unset variable."""
        return {k: self._expand(str(v)) if k in _EXPANDED else v for k, v in self.settings.items()}

    def _expand(self, text: str) -> str:
        if opened := _UNCLOSED.search(VARIABLE.sub("", text)):
            what = f"the '${{' of {opened[1]}" if opened[1] else "a '${'"
            raise InvalidConfiguration(self.file, f"repository '{self.name}': {what} is not closed")
        for name in VARIABLE.findall(text):  # before any value is read, so that no error can hold one
            if not os.environ.get(name):
                reason = f"repository '{self.name}': the variable {name} is not set"
                raise InvalidConfiguration(self.file, reason)
        return VARIABLE.sub(lambda match: os.environ[match[1]], text)


@dataclass(frozen=True, slots=True)
class SkillsConfig:
    """The configuration in force. `capabilities` are those that agents have; `diagnostics` are about keys.

    `enabled_by` is the file that set `enabled`, empty for the default.
    """

    enabled: bool = True
    max_injection_bytes: int = 32 * 1024
    inventory_threshold: int = 12
    capabilities: tuple[str, ...] = ()
    repositories: tuple[SkillRepositoryConfig, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    enabled_by: str = ""

    @classmethod
    def load(cls, cwd: str | None = None) -> SkillsConfig:
        """Read the user's and the nearest project's configuration, the project first."""
        directory = cwd or paths.current_directory()
        project = next(filter(None, map(find_skills_file, paths.library_roots(directory))), None)
        home = paths.home()
        return cls.load_from_paths(find_skills_file(home) if home else None, project)

    @classmethod
    def load_from_paths(
        cls, user_path: str | os.PathLike[str] | None, project_path: str | os.PathLike[str] | None
    ) -> SkillsConfig:
        """Read the same from these files; one that is None or does not exist sets nothing."""
        config = cls()
        for path in (user_path, project_path):  # the later file wins
            if path is not None and os.path.exists(path):
                is_project = path is project_path
                config = parse(os.fspath(path), read(os.fspath(path)), config, of_project=is_project)
        return config


def find_skills_file(root: str) -> str | None:
    """Return the skills.toml of a project or home that may be obeyed; None without one."""
    folders = (folder for name in DIRECTORIES if paths.is_own(folder := os.path.join(root, name)))
    candidates = (os.path.join(folder, FILE) for folder in folders)
    return next((path for path in candidates if os.path.exists(path)), None)


def repositories_in_force(
    config: SkillsConfig, project_root: str | os.PathLike[str] | None = None
) -> tuple[SkillRepositoryConfig, ...]:
    """Return the configured repositories; without any, the default chain."""
    roots = [os.fspath(project_root)] if project_root else []
    return config.repositories or default_repositories(roots, paths.home())


def default_repositories(project_roots: Iterable[str], home: str | None) -> tuple[SkillRepositoryConfig, ...]:
    """Return the chain that applies without any skills.toml: the project's skills, then the user's [D23]."""
    chain = []
    for owner, root in (("project", next(iter(project_roots), None)), ("user", home)):
        for directory in DIRECTORIES if root else ():
            if owner == "project" and not paths.is_own(os.path.join(root or "", directory)):
                continue
            suffix = "" if directory == paths.DIRECTORY else "-rkat"
            settings = {"path": os.path.join(directory, "skills")}
            chain.append(SkillRepositoryConfig(f"{owner}{suffix}", "filesystem", settings, base=root or ""))
    return tuple(chain)


def read(path: str) -> str:
    """Return the text of a skills.toml, empty if there is none; raises InvalidConfiguration."""
    try:
        return paths.read_regular(path, MAX_FILE).decode()
    except FileNotFoundError:
        return ""
    except (OSError, ValueError) as error:
        raise InvalidConfiguration(path, getattr(error, "strerror", None) or str(error)) from None


def parse_tables(path: str, text: str, **options: Any) -> dict[str, Any]:
    """Parse the TOML of a skills.toml, whose repositories are tables; raises InvalidConfiguration."""
    try:
        data = parse_toml(text, **options)
    except (ValueError, RecursionError) as error:
        raise InvalidConfiguration(path, str(error)) from None
    tables = data.get(REPOSITORIES, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise InvalidConfiguration(path, f"'{REPOSITORIES}' must be [[{REPOSITORIES}]] tables")
    return data


def parse(
    path: str, text: str, config: SkillsConfig | None = None, *, of_project: bool = True
) -> SkillsConfig:
    """Put the text of the file at `path` in front of a configuration; raises InvalidConfiguration.

    Its values and repositories win. Unless it is `of_project`, it is the user's own.
    """
    config = config or SkillsConfig()
    data = parse_tables(path, text)
    tables = data.pop(REPOSITORIES, [])
    diagnostics: list[Diagnostic] = []
    values = _check_types(data, _TOP, path, "", diagnostics)
    if any(type(value) is int and value < (key != "inventory_threshold") for key, value in values.items()):
        raise InvalidConfiguration(path, "limits must be positive")  # a threshold may be 0 [D59]
    capabilities = values.get("capabilities", config.capabilities)
    if not all(isinstance(word, str) and word for word in capabilities):
        raise InvalidConfiguration(path, "'capabilities' must be a list of words")
    values["capabilities"] = tuple(capabilities)
    repositories: dict[str, SkillRepositoryConfig] = {}
    own = (replace(_read_table(table, path, diagnostics), of_project=of_project) for table in tables)
    for repository in (*own, *config.repositories):
        repositories.setdefault(repository.name, repository)
    all_diagnostics = (*diagnostics, *config.diagnostics)
    if "enabled" in values:
        values["enabled_by"] = path
    return replace(config, **values, repositories=tuple(repositories.values()), diagnostics=all_diagnostics)


def _read_table(table: dict[str, Any], path: str, diagnostics: list[Diagnostic]) -> SkillRepositoryConfig:
    values = _check_table(table, path, diagnostics)
    return SkillRepositoryConfig(
        values["name"],
        values["type"],
        {key: value for key, value in values.items() if key not in _COMMON},
        values.get("strict", False),
        values.get("required", False),
        path,
        os.path.dirname(os.path.dirname(os.path.abspath(path))),
        values.get("timeout_seconds"),
    )


def _check_table(
    table: dict[str, Any], path: str, diagnostics: list[Diagnostic] | None = None
) -> dict[str, Any]:
    """Return the values of a repository's known keys; raises InvalidConfiguration."""
    name = table.get("name")
    if not isinstance(name, str) or not name:
        raise InvalidConfiguration(path, "a repository has no name")

    def invalid(reason: str) -> InvalidConfiguration:
        return InvalidConfiguration(path, f"repository '{name}': {reason}")

    kind = table.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        near = near_miss(kind, TYPES) if isinstance(kind, str) else ""
        raise invalid(f"type must be {', '.join(TYPES)}, not {kind!r}{near}")
    types = {key: _NOT_TEXT.get(key, str) for key in (*_COMMON, *KEYS[kind].split())}
    values = _check_types(table, types, path, f"repository '{name}': ", diagnostics)
    problem = _find_problem(kind, values)
    if problem:
        typos = [_unknown_key(key, types) for key in table if key not in types and suggest(key, types)]
        raise invalid("; ".join([problem, *typos[:1]]))
    ref_type = values.get("ref_type", "branch")
    if ref_type not in _REF_TYPES:
        near = near_miss(ref_type, _REF_TYPES)
        raise invalid(f"ref_type must be {', '.join(_REF_TYPES)}, not {ref_type!r}{near}")
    if values.get("timeout_seconds", 1) < 1:
        raise invalid("timeout_seconds must be positive")
    return values


def _find_problem(kind: str, values: Mapping[str, Any]) -> str:
    """Return what is wrong with the address of a repository and with its hosts; empty for nothing."""
    command = values.get("command", [])
    if not all(isinstance(word, str) and word for word in command):
        return "'command' must be a list of words"
    if kind == "mcp" and bool(command) == bool(values.get("url")):
        return "give either 'command' or 'url'"
    if kind != "mcp" and not values.get(_REQUIRED[kind]):
        return f"'{_REQUIRED[kind]}' is missing"
    if not all(isinstance(host, str) and _HOST.fullmatch(host) for host in values.get("allow_hosts", [])):
        return "'allow_hosts' must be a list of hosts such as \"cdn.example.com\""
    return ""


def _check_types(
    table: Mapping[str, Any],
    types: Mapping[str, type],
    path: str,
    prefix: str,
    diagnostics: list[Diagnostic] | None,
) -> dict[str, Any]:
    """Return the values of known keys; a value of another type is an error, an unknown key a warning."""
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in types:
            if diagnostics is None:
                raise InvalidConfiguration(path, f"{prefix}{_unknown_key(key, types)}")
            diagnostics.append(warning("W071", path, f"{prefix}{_unknown_key(key, types)}"))
        elif type(value) is not types[key]:
            raise InvalidConfiguration(path, f"{prefix}'{key}' must be {_TYPE_NAMES[types[key]]}")
        else:
            values[key] = value
    return values


def _unknown_key(key: str, keys: Iterable[str]) -> str:
    return f"unknown key '{key}'{near_miss(key, keys)}"
