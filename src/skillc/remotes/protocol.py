"""What a remote is: another place that has skills, which can be listed and fetched into a folder.

    remote: Remote = SiteRemote(session)
    for skill in remote.list().value.skills.values():
        remote.fetch(skill, f"/tmp/{skill.id.name}")
    print([skill.version for skill in remote.versions("pdf")])

A git repository and an archive have files, and no list of skills: `open_tree` and `unpack_archive` give them.

What a remote says is checked and bounded by its own module before it is one of the values here. Everything
here blocks, and is for threads without an event loop; `skillc.remotes.cache` is what others wait for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any, Protocol

from skillc.errors import Diagnostic, SkillNotFound, WrongDigest
from skillc.skills import SkillId
from skillc.startup import sha256_hex

MAX_OMISSIONS = 100  # of a list that are told of

Report = Callable[[Diagnostic], None]


class Failure(Exception):
    """No usable answer; the message says why, and holds nothing of the request. `url` is what was asked."""

    url = ""
    hint = ""  # what a person can do

    @property
    def reason(self) -> str:
        """Why, for a person who asked for it."""
        text = str(self)
        return text if not self.url or self.url in text else f"{self.url}: {text}"


class Absent(Failure):
    """There is no remote of this kind at the address."""


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A file of a skill. Its digest, `sha256:…`, names its bytes."""

    path: str
    size: int
    digest: str
    is_executable: bool = False
    uri: str = ""

    def matches(self, data: bytes) -> bool:
        return len(data) == self.size and digest_of(data) == self.digest


@dataclass(frozen=True, slots=True)
class RemoteSkill:
    """A skill as a remote lists it, at one version; `entry` is what the remote itself needs to fetch it.

    `key` names this version of its files on disk; it is empty for a skill that may change under its name.
    `digest` is what the remote says of the version, and `files` are those that it has, where they are listed.
    """

    id: SkillId
    description: str = ""
    key: str = ""
    scope: str = "remote"
    capabilities: tuple[str, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    entry: Any = None
    version: str = ""
    digest: str = ""
    address: str = ""  # from which it is fetched
    files: tuple[RemoteFile, ...] = ()
    published_at: str = ""
    yanked: str | None = None  # or the reason
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Omission:
    """An entry of a list that can't be used, and why; or what there is to say about the list."""

    path: str
    code: str
    message: str
    severity: str = "error"


@dataclass(frozen=True, slots=True)
class Listing:
    """The skills of a remote by ID, in its order.

    `omissions` are the first entries that were left out, and `skipped` counts all of them.
    """

    skills: Mapping[SkillId, RemoteSkill] = field(default_factory=dict)
    omissions: tuple[Omission, ...] = ()
    skipped: int = 0
    raw: Any = None  # what it was made from, where that is kept on disk

    def with_descriptions(self) -> Listing:
        """Return the list without the skills that no description says how to use [D25]."""
        skills = [skill for skill in self.skills.values() if skill.description.strip()]
        others = [skill for skill in self.skills.values() if not skill.description.strip()]
        omissions = [Omission(skill.id, "E011", "it has no description") for skill in others]
        listing = make_listing([*self.omissions, *skills, *omissions], raw=self.raw)
        return replace(listing, skipped=self.skipped + len(others))


@dataclass(frozen=True, slots=True)
class Answer:
    """A value as a remote gave it, with what revalidates it."""

    value: Any
    etag: str = ""


class Remote(Protocol):
    """Another place that has skills."""

    def list(self, last: Answer | None = None) -> Answer:
        """Return the skills, as a Listing; `last` itself where it is still true. Raises Failure."""
        ...

    def versions(self, name: str) -> Sequence[RemoteSkill]:
        """Return a skill at each of its versions, the newest first; raises SkillNotFound, or Failure.

        A remote that keeps no others has the one that it lists.
        """
        skill = self.list().value.skills.get(name)
        if skill is None:
            raise SkillNotFound(name)
        return [skill]

    def fetch(self, skill: RemoteSkill, folder: str) -> str:
        """Write a skill into a new folder, whole or not at all; return the address that it came from.

        Raises Failure, and our errors about what was sent: WrongDigest (E081), ArchiveRefused (E083).
        """
        ...

    def read_statement(self, skill: RemoteSkill) -> tuple[bytes, Sequence[str]]:
        """Return what a remote attests of a skill, and its keys as PEM; nothing where it attests nothing."""
        return b"", ()


def make_listing(entries: Iterable[RemoteSkill | Omission], skipped: int = 0, raw: Any = None) -> Listing:
    """Return a list by ID. Omissions count as skipped, but for warnings, which are about the list."""
    skills: dict[SkillId, RemoteSkill] = {}
    omissions: list[Omission] = []
    for entry in entries:
        if isinstance(entry, RemoteSkill):
            skills[entry.id] = entry
            continue
        skipped += entry.severity == "error"
        if len(omissions) < MAX_OMISSIONS:
            omissions.append(entry)
    return Listing(skills, tuple(omissions), skipped, raw)


def digest_of(data: bytes) -> str:
    return f"sha256:{sha256_hex(data)}"


def check_digest(skill: str, file: str, expected: str, actual: str) -> None:
    """Raise WrongDigest (E081) for a file, or for all files of a skill, with another digest."""
    if actual != expected:
        raise WrongDigest(skill, file, expected, actual)


def table_of(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def to_seconds(value: float | timedelta, name: str) -> float:
    """Return an interval in seconds; raise TypeError or ValueError, with its name, for one that is none.

    >>> to_seconds(timedelta(minutes=5), "refresh_interval")
    300.0
    """
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number of seconds or a timedelta, not {type(value).__name__}")
    if not value >= 0:
        raise ValueError(f"{name} must not be negative")
    return float(value)


def require_text(value: object, name: str) -> None:
    """Raise TypeError where an argument is not text; its value may be a secret and is not repeated."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be text, not {type(value).__name__}")
