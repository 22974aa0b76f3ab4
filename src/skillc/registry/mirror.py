"""Mirror skills of elsewhere: what is asked for and not here is fetched, and published below a prefix.

    registry.mirrors.append(Mirror(registry, RegistryUpstream("https://skills.example.org"), "community"))
    registry.skill(caller, "community/pdf")  # `pdf` of there, from now on a version of this registry

What was mirrored is a version like any other: immutable, with a note of its origin, under the rules of
reviews and of all policies. It is served also while its upstream is down. What was ever
published here is not asked for there, and never extended: an upstream can't take over a name of ours.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

from skillc.errors import (
    ArchiveRefused,
    InvalidParameter,
    InvalidSkill,
    MissingField,
    RegistryRefused,
    RegistryUnavailable,
    RepositoryUnavailable,
    SkillcError,
    SkillExists,
    SkillNotFound,
    VersionExists,
    WrongDigest,
)
from skillc.library.sources import GitSkillSource
from skillc.registry.model.access import Caller, Permission
from skillc.registry.model.model import Role, Skill, is_below, parse_prefix
from skillc.registry.package import Package, read_package
from skillc.remotes import Failure, RegistryApi
from skillc.remotes.git import GitRef, GitSkillConfig
from skillc.remotes.http import find_token
from skillc.skills import SkillId
from skillc.versions import LATEST, parse_version

if TYPE_CHECKING:  # a registry has mirrors
    from skillc.registry.registry import Registry

REFRESH = timedelta(hours=1)  # after which an upstream is asked for a newer version
RETRY = timedelta(minutes=1)  # after which it is asked again for what it did not have or could not give
MAX_CHECKS = 10_000  # skills whose last check is remembered, in one process; the oldest are forgotten
MAIN = GitRef()  # the branch `main`
TIME_OUT = 15.0  # seconds that a reader waits for another server, for each answer

Audit = Callable[[Package], Mapping[str, Any] | None]
Folders = Callable[[], AbstractContextManager[str]]  # each call makes a private folder, gone in the end


def open_temporary() -> AbstractContextManager[str]:
    """Make a folder that stays where the process is killed; a server has folders that it sweeps."""
    return TemporaryDirectory(prefix="skillc-mirror-")


class Mirror:
    """The skills of an upstream, below a prefix. The requests of a process share when it was asked for what.

    `audit` makes the report that is stored with each mirrored version.
    """

    def __init__(
        self, registry: Registry, upstream: Upstream, prefix: str = "", audit: Audit | None = None
    ) -> None:
        self.prefix = parse_prefix(prefix)
        self._registry = registry
        self._upstream = upstream
        self._audit = audit
        self._caller = Caller(f"mirror of {upstream.name}"[:200], (Permission(Role.PUBLISHER, self.prefix),))
        self._lock = threading.Lock()
        self._checks: OrderedDict[str, tuple[datetime, SkillcError | None]] = OrderedDict()
        self._flights: dict[str, threading.Lock] = {}

    def covers(self, skill_id: str) -> bool:
        return skill_id != self.prefix and is_below(skill_id, self.prefix)

    def read(self, skill_id: str, read: Callable[[], Skill]) -> Skill:
        """Return what `read` does, after the skill was fetched, where it is time to."""
        if not self.covers(skill_id):
            return read()
        try:
            skill = read()
        except SkillNotFound:
            self._pull(skill_id, is_here=False)
            return read()
        return read() if self._pull(skill_id, is_here=True) else skill

    def _pull(self, skill_id: str, is_here: bool) -> bool:
        """Publish the latest version of a skill if it is time to ask for it; return whether it was asked for.

        All that want one skill at once wait for one request; where it is here, none waits for another's.
        Raises SkillNotFound or RegistryUnavailable, unless it is here.
        """
        with self._lock:
            flight = self._flights.setdefault(skill_id, threading.Lock())
        if not flight.acquire(blocking=not is_here):
            return False
        try:
            was_asked, error = self._ask(skill_id, is_here)
        finally:
            flight.release()
            with self._lock:
                self._flights.pop(skill_id, None)
        if error is not None and not is_here:
            raise error
        return was_asked

    def _ask(self, skill_id: str, is_here: bool) -> tuple[bool, SkillcError | None]:
        """Ask the upstream, unless it was a moment ago; return whether, and what went wrong."""
        now = self._registry.now()
        with self._lock:
            time, error = self._checks.get(skill_id, (None, None))
        if time is not None and now - time < (RETRY if error is not None or not is_here else REFRESH):
            return False, error
        error = self._publish(skill_id)
        with self._lock:
            self._checks[skill_id] = now, error
            self._checks.move_to_end(skill_id)
            while len(self._checks) > MAX_CHECKS:
                self._checks.popitem(last=False)
        return True, error

    def _publish(self, skill_id: str) -> SkillcError | None:
        upstream_id = skill_id[len(self.prefix) :].lstrip("/")
        if self._registry.was_published_here(skill_id):  # what skills are here is not the upstream's business
            return None
        try:
            new = self._upstream.read(upstream_id, skill_id)
            report = self._audit(new.package) if self._audit else None
            note = f"mirrored from {new.origin}"
            self._registry.publish(
                self._caller, new.package, version=new.version, note=note[:2000], audit=report, mirrored=True
            )
        except (VersionExists, SkillExists):  # it is here by now, or was deleted here
            return None
        except SkillNotFound:
            return SkillNotFound(skill_id, "neither the registry nor its mirror has such a skill")
        except SkillcError as error:
            return error
        return None


# Where a mirror gets skills from: another registry by its API, or a git repository


@dataclass(frozen=True, slots=True)
class Import:
    """A skill of elsewhere as it is to be published here: its files, its number if it has one, its origin."""

    package: Package
    version: str
    origin: str


class Upstream(Protocol):
    """Where a mirror gets skills from. `name` is its address without secrets."""

    name: str

    def read(self, skill_id: str, local_id: str) -> Import:
        """Return the latest version of a skill under another ID.

        Raises SkillNotFound where it has none, and RegistryUnavailable where it does not answer.
        """
        ...


class RegistryUpstream:
    """Another registry. Its token is that of `skc login` there, or none."""

    def __init__(self, url: str, folders: Folders = open_temporary) -> None:
        self._url, self._folders = url, folders
        with RegistryApi(url) as api:
            self.name = api.registry

    def read(self, skill_id: str, local_id: str) -> Import:
        api = RegistryApi(self._url, find_token(f"{self.name}/"), time_out=TIME_OUT)
        with api, self._folders() as place:
            folder = os.path.join(place, "skill")
            try:
                version = next((each for each in api.versions(skill_id) if LATEST in each.tags), None)
                if version is None:
                    raise SkillNotFound(skill_id)
                api.fetch(version, folder)
                number, package = parse_version(version.version), read_package(local_id, folder)
            except (ArchiveRefused, InvalidParameter, InvalidSkill, MissingField, WrongDigest) as error:
                raise RegistryUnavailable(self.name, f"it has no proper skill: {error.message}") from None
            except Failure as error:
                raise RegistryUnavailable(self.name, f"it has no proper skill: {error}") from None
            except RegistryRefused as error:
                raise RegistryUnavailable(self.name, error.message) from None
        return Import(package, number, f"{self.name} {skill_id}@{version.version}")


class GitUpstream:
    """A git repository: the skills below a folder of it, at a branch, a tag or a commit."""

    def __init__(
        self, url: str, ref: GitRef | None = None, folder: str = "", cache: str | None = None
    ) -> None:
        config = GitSkillConfig(url, ref or GitRef(), cache, folder or None, time_out=TIME_OUT)
        self._source = GitSkillSource(config)
        self.name = config.remote().url

    def read(self, skill_id: str, local_id: str) -> Import:
        try:
            directory = asyncio.run(self._source.directory(SkillId(skill_id)))
            package = read_package(local_id, directory)
        except (RepositoryUnavailable, OSError) as error:
            reason = (
                error.reason if isinstance(error, RepositoryUnavailable) else os.strerror(error.errno or 0)
            )
            raise RegistryUnavailable(self.name, reason) from None
        except (InvalidSkill, MissingField) as error:
            raise RegistryUnavailable(self.name, f"it has no proper skill: {error.message}") from None
        return Import(package, "", f"{self.name} {skill_id} at {self._source.commit or 'an unknown commit'}")


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
