"""Mirror skills of elsewhere: what is asked for and not here is fetched, and published below a prefix.

    registry.mirrors.append(Mirror(registry, RegistryUpstream("https://skills.example.org"), "community"))
    registry.skill(caller, "community/pdf")  # `pdf` of there, from now on a version of this registry

What was mirrored is a version like any other: immutable, with a note of its origin, under the rules of
reviews and of all policies. It is served also while its upstream is down. What was ever
published here is not asked for there, and never extended: an upstream can't take over a name of ours.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from skillc.errors import SkillcError, SkillExists, SkillNotFound, VersionExists
from skillc.registry.access import Caller, Permission
from skillc.registry.model import Role, Skill, is_below, parse_prefix
from skillc.registry.package import Package

if TYPE_CHECKING:  # a registry has mirrors; what an upstream needs is an extra, and most do without
    from skillc.registry.registry import Registry
    from skillc.registry.upstream import Upstream

REFRESH = timedelta(hours=1)  # after which an upstream is asked for a newer version
RETRY = timedelta(minutes=1)  # after which it is asked again for what it did not have or could not give
MAX_CHECKS = 10_000  # skills whose last check is remembered, in one process; the oldest are forgotten

Audit = Callable[[Package], Mapping[str, Any] | None]


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
