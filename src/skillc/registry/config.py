"""Read registry.toml: policies, reviews and mirrors of a registry that is served. Sign-in is the server's.

[policy]
minimum_age = "3d"                  # versions that are younger are hidden
allow = ["payments", "community"]   # prefixes; without this line, all
deny = ["payments/legacy"]
audited = "note"                    # the worst level of findings that is let through; true is "note"

[review]
prefixes = ["payments"]             # what publishers publish there waits for a maintainer
findings = "review"                 # so does what an audit finds, from this level on

[[mirror]]
prefix = "community"
url = "https://skills.example.org"  # another registry
[[mirror]]
prefix = "vendor"
git = "https://git.example.org/acme/skills.git"
branch = "main"                     # or tag, or commit
folder = "skills"
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from skillc.errors import InvalidConfiguration, SkillcError
from skillc.paths import read_regular
from skillc.registry.mirror import Folders, GitUpstream, RegistryUpstream, Upstream, open_temporary
from skillc.registry.model import AUDIT_LEVELS, is_below, parse_prefix
from skillc.registry.policies import Policies, ReviewRules
from skillc.remotes.git import GitRef

T = TypeVar("T")

MAX_FILE = 1 << 20  # bytes
MAX_DAYS = 3650
MAX_PREFIXES = 1000  # of one list
MAX_MIRRORS = 50
SERVER_TABLES = ("oidc", "publishing")  # of the same file: the server reads them

MAIN = GitRef()  # the branch `main`
NO_REVIEW = ReviewRules()
NO_POLICIES = Policies()

_KINDS = {str: "text", bool: "true or false", list: "a list", dict: "a table"}
_AGE = re.compile(r"([0-9]{1,6})([smhd])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_REFS: dict[str, Callable[[str], GitRef]] = {
    "branch": GitRef.branch,
    "tag": GitRef.tag,
    "commit": GitRef.commit,
}


@dataclass(frozen=True, slots=True)
class MirrorConfig:
    """What is mirrored below a prefix: a registry at `url`, or a git repository."""

    prefix: str
    url: str = ""
    git: str = ""
    ref: GitRef = MAIN
    folder: str = ""

    def open(self, folders: Folders = open_temporary) -> Upstream:
        """Return the upstream, which unpacks what another registry sends in `folders`."""
        if self.url:
            return RegistryUpstream(self.url, folders)
        return GitUpstream(self.git, self.ref, self.folder)


@dataclass(frozen=True, slots=True)
class RegistryConfig:
    """How a registry is run."""

    policies: Policies = NO_POLICIES
    review: ReviewRules = NO_REVIEW
    mirrors: tuple[MirrorConfig, ...] = ()

    @classmethod
    def load(cls, path: str) -> RegistryConfig:
        """Read a file; raises InvalidConfiguration that names the file and the setting."""
        with open_settings(path) as root:
            root.leave(SERVER_TABLES)
            return cls.read(root)

    @classmethod
    def parse(cls, text: str) -> RegistryConfig:
        """Read the text of registry.toml; raises ValueError that names the setting.

        >>> RegistryConfig.parse('[policy]\\nminimum_age = "36h"').policies.minimum_age
        datetime.timedelta(days=1, seconds=43200)
        """
        root = SettingsTable(tomllib.loads(text), "")
        root.leave(SERVER_TABLES)
        config = cls.read(root)
        root.finish()
        return config

    @classmethod
    def read(cls, root: SettingsTable) -> RegistryConfig:
        """Take the tables of a registry from a file; raises ValueError that names the setting."""
        config = cls(
            _read_policies(root.table("policy")),
            _read_review(root.table("review")),
            tuple(_read_mirror(table) for table in root.tables("mirror")),
        )
        prefixes = [mirror.prefix for mirror in config.mirrors]
        for prefix in prefixes:
            if sum(is_below(prefix, other) for other in prefixes) > 1:
                raise ValueError(f"[[mirror]] prefix: '{prefix}' is mirrored twice")
        return config


@contextmanager
def open_settings(path: str) -> Iterator[SettingsTable]:
    """Give what a registry.toml has; what is left at the end is unknown.

    A fault, also one that is found in the block, raises InvalidConfiguration.
    """
    try:
        root = SettingsTable(tomllib.loads(read_regular(path, MAX_FILE).decode()), "")
        yield root
        root.finish()
    except OSError as error:
        raise InvalidConfiguration(path, error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise InvalidConfiguration(path, str(error).partition("\n")[0] or "it is nested too deeply") from None


class SettingsTable:
    """A table whose settings are taken one by one; what is left is unknown. A fault is a ValueError."""

    def __init__(self, values: Mapping[str, Any], name: str) -> None:
        self._values = dict(values)
        self._name = name

    def leave(self, tables: Iterable[str]) -> None:
        """Leave tables to others that read the same file."""
        for name in tables:
            self._values.pop(name, None)

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def take(self, key: str, default: Any, *kinds: type) -> Any:
        value = self._values.pop(key, default)
        if value is not default and not isinstance(value, kinds):
            raise self.fault(key, f"it is {' or '.join(_KINDS[kind] for kind in kinds)}")
        return value

    def text(self, key: str, default: str = "") -> str:
        value: str = self.take(key, default, str)
        if not value.isprintable() or len(value) > 2000:
            raise self.fault(key, "it is one line of printable text")
        return value

    def texts(self, key: str, default: Iterable[str] = ()) -> tuple[str, ...]:
        values = self.take(key, default, list)
        if not all(isinstance(value, str) for value in values):
            raise self.fault(key, "it is a list of texts")
        return tuple(values)

    def convert(self, key: str, text: str, parse: Callable[[str], T]) -> T:
        """Return what a function makes of a text; its error is a fault of the setting."""
        try:
            return parse(text)
        except SkillcError as error:
            raise self.fault(key, error.message) from None

    def prefixes(self, key: str) -> tuple[str, ...]:
        values = self.texts(key)
        if len(values) > MAX_PREFIXES or "" in values:
            raise self.fault(key, f'it is a list of at most {MAX_PREFIXES} prefixes such as "payments"')
        return tuple(self.convert(key, value, parse_prefix) for value in values)

    def level(self, key: str, value: object) -> str:
        if value not in AUDIT_LEVELS[1:]:
            raise self.fault(key, f"it is one of {', '.join(AUDIT_LEVELS[1:])}")
        return str(value)

    def table(self, key: str) -> SettingsTable:
        return SettingsTable(self.take(key, {}, dict), f"[{key}] ")

    def tables(self, key: str) -> list[SettingsTable]:
        values = self.take(key, [], list)
        if len(values) > MAX_MIRRORS or not all(isinstance(value, dict) for value in values):
            raise self.fault(key, f"it is at most {MAX_MIRRORS} tables [[{key}]]")
        return [SettingsTable(value, f"[[{key}]] ") for value in values]

    def fault(self, key: str, reason: str) -> ValueError:
        return ValueError(f"{self._name}{key}: {reason}")

    def finish(self) -> None:
        for key in self._values:
            raise self.fault(key[:100], "there is no such setting")


def _read_policies(table: SettingsTable) -> Policies:
    audited = table.take("audited", False, bool, str)
    policies = Policies(
        _read_age(table),
        table.prefixes("allow"),
        table.prefixes("deny"),
        table.level("audited", "note" if audited is True else audited) if audited else "",
    )
    table.finish()
    return policies


def _read_age(table: SettingsTable) -> timedelta:
    text = table.text("minimum_age")
    if not text:
        return timedelta(0)
    match = _AGE.fullmatch(text)
    age = timedelta(**{_UNITS[match[2]]: int(match[1])}) if match else timedelta.max
    if age > timedelta(days=MAX_DAYS):
        raise table.fault("minimum_age", f'it is such as "3d", "12h" or "30m", and at most {MAX_DAYS} days')
    return age


def _read_review(table: SettingsTable) -> ReviewRules:
    findings = table.text("findings")
    rules = ReviewRules(table.prefixes("prefixes"), table.level("findings", findings) if findings else "")
    table.finish()
    return rules


def _read_mirror(table: SettingsTable) -> MirrorConfig:
    texts = {key: table.text(key) for key in ("prefix", "url", "git", "folder", *_REFS)}
    if not texts["prefix"]:
        raise table.fault("prefix", 'it says below which prefix the skills are, such as "community"')
    if bool(texts["url"]) == bool(texts["git"]):
        raise table.fault("url", "it has either 'url', of a registry, or 'git', of a repository")
    refs = [key for key in _REFS if texts[key]]
    if len(refs) > 1 or (texts["url"] and (refs or texts["folder"])):
        raise table.fault(
            refs[0] if refs else "folder", "it has one branch, tag or commit, and of 'git' alone"
        )
    table.finish()
    prefix = table.convert("prefix", texts["prefix"], parse_prefix)
    try:
        ref = _REFS[refs[0]](texts[refs[0]]) if refs else MAIN
        mirror = MirrorConfig(prefix, texts["url"], texts["git"], ref, texts["folder"])
        mirror.open()  # which checks the address, and asks nothing
    except SkillcError as error:
        raise table.fault("url" if texts["url"] else "git", error.message) from None
    return mirror
