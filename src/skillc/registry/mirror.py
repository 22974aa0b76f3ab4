"""Mirror skills of elsewhere: what is asked for and not here is fetched, and published below a prefix.

    registry = open_registry(store, blobs, config.review, partial(PolicyRegistry, config=config))
    registry.skill(caller, "community/pdf")  # as registry.toml says

    state = MirrorState(registry, RegistryUpstream("https://skills.example.org"), "community")
    source = Mirror(registry.source(caller), state)
    source.skill("community/pdf")  # `pdf` of there, from now on a version of this registry

What was mirrored is a version like any other: immutable, with a note of its origin, under the rules of
reviews and of all policies around the mirror. It is served also while its upstream is down. What was ever
published here is not asked for there, and never extended: an upstream can't take over a name of ours.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from skillc.errors import SkillcError, SkillExists, SkillNotFound, VersionExists
from skillc.registry.access import Caller, Permission
from skillc.registry.blobs import Blobs
from skillc.registry.config import RegistryConfig
from skillc.registry.model import Role, Skill, StoredFile, Version, is_below, parse_prefix
from skillc.registry.package import Package
from skillc.registry.registry import Registry
from skillc.registry.source import VersionSource
from skillc.registry.store import Store

if TYPE_CHECKING:  # what an upstream needs is an extra, and a registry without mirrors does without
    from skillc.registry.upstream import Upstream

REFRESH = timedelta(hours=1)  # after which an upstream is asked for a newer version
RETRY = timedelta(minutes=1)  # after which it is asked again for what it did not have or could not give
MAX_CHECKS = 10_000  # skills whose last check is remembered, in one process; the oldest are forgotten

Audit = Callable[[Package], Mapping[str, Any] | None]


class MirrorState:
    """What the requests of a process share about one upstream: when it was asked for what.

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


class Mirror:
    """A source that has the skills of another one and, below a prefix, those of an upstream."""

    def __init__(self, source: VersionSource, state: MirrorState) -> None:
        self._source = source
        self._state = state

    def skills(self, prefix: str = "", after: str = "") -> Iterator[Skill]:
        """Yield what is here: nothing is fetched for a list."""
        return self._source.skills(prefix, after)

    def skill(self, skill_id: str) -> Skill:
        return self._state.read(skill_id, lambda: self._source.skill(skill_id))

    def files(self, version: Version) -> tuple[StoredFile, ...]:
        return self._source.files(version)

    def read_file(self, version: Version, path: str) -> bytes:
        return self._source.read_file(version, path)


class PolicyRegistry(Registry):
    """A registry with the policies and mirrors of registry.toml, on every surface and however it is read."""

    def __init__(
        self,
        store: Store,
        blobs: Blobs,
        *,
        config: RegistryConfig,
        audit: Audit | None = None,
        **options: Any,
    ) -> None:
        super().__init__(store, blobs, policies=config.policies, **options)
        self._mirrors = [MirrorState(self, mirror.open(), mirror.prefix, audit) for mirror in config.mirrors]

    def skill(self, caller: Caller, skill_id: str) -> Skill:
        mirror = self._find_mirror(skill_id)
        here = super().skill
        return mirror.read(skill_id, lambda: here(caller, skill_id)) if mirror else here(caller, skill_id)

    def recall_skill(self, caller: Caller, skill_id: str) -> Skill | None:
        return super().recall_skill(caller, skill_id) if self._find_mirror(skill_id) is None else None

    def _find_mirror(self, skill_id: str) -> MirrorState | None:
        return next((mirror for mirror in self._mirrors if mirror.covers(skill_id)), None)
