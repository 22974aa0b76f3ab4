"""Apply registry.toml to a registry: policies hide versions, and mirrors bring what is asked for.

    registry = open_registry(store, blobs, config.review, partial(PolicyRegistry, config=config))

So every surface has them, whichever way it reads. Maintainers of a skill see all its versions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from skillc.errors import SkillNotFound
from skillc.registry.access import Caller
from skillc.registry.config import Policies, RegistryConfig
from skillc.registry.mirror import Audit, MirrorState
from skillc.registry.model import Role, Skill
from skillc.registry.registry import Registry


class PolicyRegistry(Registry):
    """A registry with the policies and mirrors of a configuration."""

    def __init__(
        self, *parts: Any, config: RegistryConfig, audit: Audit | None = None, **options: Any
    ) -> None:
        super().__init__(*parts, **options)
        self.policies = config.policies
        self._mirrors = [MirrorState(self, mirror.open(), mirror.prefix, audit) for mirror in config.mirrors]

    def skill(self, caller: Caller, skill_id: str) -> Skill:
        mirror = self._find_mirror(skill_id)
        if mirror is None:
            return super().skill(caller, skill_id)
        try:
            skill = super().skill(caller, skill_id)
        except SkillNotFound:
            mirror.pull(skill_id, is_here=False)
            return super().skill(caller, skill_id)
        return super().skill(caller, skill_id) if mirror.pull(skill_id, is_here=True) else skill

    def recall_skill(self, caller: Caller, skill_id: str) -> Skill | None:
        return super().recall_skill(caller, skill_id) if self._find_mirror(skill_id) is None else None

    def list_visible(self) -> Iterator[str]:
        if self.policies.fingerprint == Policies().fingerprint:
            yield from super().list_visible()
            return
        after = ""
        while page := self._read_approved(after):
            yield from sorted(self.find_visible(page))
            after = page[-1]

    def _view(self, caller: Caller, skill: Skill) -> Skill | None:
        view = super()._view(caller, skill)
        if view is None or caller.allows(Role.MAINTAINER, skill.id):
            return view
        view = view.filter(self.policies.allows)
        return view if view.versions else None

    def _find_mirror(self, skill_id: str) -> MirrorState | None:
        return next((mirror for mirror in self._mirrors if mirror.covers(skill_id)), None)
