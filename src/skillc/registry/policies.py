"""Put policies around a source of versions: each hides versions, and they compose.

source = MinimumAge(Allowed(registry.source(caller), allow=("payments",)), timedelta(days=3))
source.skill("payments/refunds").latest  # at least three days old
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta

from skillc.errors import SkillNotFound
from skillc.registry.model import Skill, StoredFile, Version, is_below, parse_prefix
from skillc.registry.source import VersionSource


class Policy:
    """A source with the versions of another one that `allows` returns true for."""

    def __init__(self, source: VersionSource) -> None:
        self._source = source

    def allows(self, version: Version) -> bool:
        raise NotImplementedError

    def skills(self, prefix: str = "", after: str = "") -> Iterator[Skill]:
        skills = (skill.filter(self.allows) for skill in self._source.skills(prefix, after))
        return (skill for skill in skills if skill.versions)

    def skill(self, skill_id: str) -> Skill:
        skill = self._source.skill(skill_id).filter(self.allows)
        if not skill.versions:
            raise SkillNotFound(skill_id, "a policy hides it")
        return skill

    def files(self, version: Version) -> tuple[StoredFile, ...]:
        self._require(version)
        return self._source.files(version)

    def read_file(self, version: Version, path: str) -> bytes:
        self._require(version)
        return self._source.read_file(version, path)

    def _require(self, version: Version) -> None:
        if not self.allows(version):
            raise SkillNotFound(f"{version.skill}@{version.version}", "a policy hides it")


class MinimumAge(Policy):
    """The versions that were published some time ago: most attacks are found within days."""

    def __init__(
        self,
        source: VersionSource,
        age: timedelta,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        super().__init__(source)
        self._age = age
        self._clock = clock

    def allows(self, version: Version) -> bool:
        return version.published_at <= self._clock() - self._age


class Allowed(Policy):
    """The skills below one of the prefixes `allow` (all, without any) and below none of `deny`."""

    def __init__(self, source: VersionSource, allow: Iterable[str] = (), deny: Iterable[str] = ()) -> None:
        super().__init__(source)
        self._allow = [*map(parse_prefix, allow)] or [""]
        self._deny = [*map(parse_prefix, deny)]

    def allows(self, version: Version) -> bool:
        has_prefix = any(is_below(version.skill, prefix) for prefix in self._allow)
        return has_prefix and not any(is_below(version.skill, prefix) for prefix in self._deny)


class Audited(Policy):
    """The versions that passed an audit, as `has_passed` says; it is asked for each, and should remember."""

    def __init__(self, source: VersionSource, has_passed: Callable[[Version], bool]) -> None:
        super().__init__(source)
        self._has_passed = has_passed

    def allows(self, version: Version) -> bool:
        return self._has_passed(version)
