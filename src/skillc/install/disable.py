"""Disable a skill for agents, all or some, and enable it again. The skill itself stays where it is."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skillc import paths
from skillc.compiler import (
    Publication,
    PublishOptions,
    Target,
    find_deployments,
    find_targets,
    publish_skill,
    withdraw,
)
from skillc.errors import AgentFolderEscapes, Diagnostic, InvalidOption, SkillcError, SkillNotFound
from skillc.library import PROJECT, DeploymentRecord, Skill, change_switch, find_switch, is_skill, lock_store
from skillc.settings import Settings


@dataclass(frozen=True, slots=True)
class Disablement:
    """What was taken away from agents: paths in their directories."""

    skill: str
    was_off: bool
    deployments: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]

    def as_json(self) -> dict[str, Any]:
        return {"id": self.skill, "disabled": True, "deployments": list(self.deployments)}


@dataclass(frozen=True, slots=True)
class Enablement:
    """What agents have again."""

    skill: str
    was_off: bool
    publications: tuple[Publication, ...]

    @property
    def deployments(self) -> list[str]:
        return [each.path for publication in self.publications for each in publication.deployments]

    def as_json(self) -> dict[str, Any]:
        return {"id": self.skill, "disabled": False, "deployments": self.deployments}


def disable_skill(skill: Skill, agents: str, cwd: str, *, dry_run: bool = False) -> Disablement:
    """Take a skill away from these agents, or with none from all, until it is enabled.

    The switch is set first: a build that runs meanwhile, or after a kill, does not deploy it again.
    """
    places = _places(skill, agents, cwd)
    records = [r for r in find_deployments(skill) if places is None or r.path in places]
    if dry_run:
        was_off = find_switch(skill.source).covers_all(places)
        return Disablement(skill.name, was_off, tuple(record.path for record in records), ())
    with lock_store(skill.root):
        if not is_skill(skill.source):  # 'skc remove' was faster
            raise SkillNotFound(skill.name)
        records = [r for r in find_deployments(skill) if places is None or r.path in places]
        old = change_switch(skill.source, lambda switch: switch.with_disabled(places, records))
        withdrawal = withdraw(records, f"disabled by 'skc disable {skill.name}'")
    removals = tuple(record.path for record in withdrawal.records)
    return Disablement(skill.name, old.covers_all(places), removals, withdrawal.diagnostics)


def enable_skill(
    skill: Skill, agents: str, settings: Settings, cwd: str, *, dry_run: bool = False
) -> Enablement:
    """Let builds deploy a skill again, and deploy it where it was."""
    places = _places(skill, agents, cwd)
    old = find_switch(skill.source)
    records = [r for r in old.deployments if places is None or r.path in places]
    was_off = old.everywhere or bool(old.places)
    if dry_run or not was_off:
        return Enablement(skill.name, was_off, ())
    change_switch(skill.source, lambda switch: switch.with_enabled(places))
    publications = [_publish(skill, group, settings, cwd) for group in _by_method(records) if group]
    return Enablement(skill.name, True, tuple(publications))


def _places(skill: Skill, agents: str, cwd: str) -> tuple[str, ...] | None:
    """Return the paths that a skill has in the directories of agents; None for all agents."""
    if not agents:
        return None
    targets: list[Target] = []
    problem: SkillcError | None = None
    project = skill.root if skill.scope == PROJECT else next(paths.project_roots(cwd), None)
    for scope, directory in (("user", cwd), *([("project", project)] if project else [])):
        try:
            targets += find_targets(agents, scope, directory)
        except (InvalidOption, AgentFolderEscapes) as error:  # an agent may lack one of the two
            problem = error
    if not targets and problem:
        raise problem
    return tuple(dict.fromkeys(os.path.join(directory, skill.segment) for _, directory in targets))


def _by_method(records: Sequence[DeploymentRecord]) -> list[list[DeploymentRecord]]:
    copies = [record for record in records if record.method == "copy"]
    return [[record for record in records if record not in copies], copies]


def _publish(skill: Skill, records: Sequence[DeploymentRecord], settings: Settings, cwd: str) -> Publication:
    targets = [(record.target, os.path.dirname(record.path)) for record in records]
    runtimes = {record.runtime for record in records}
    to_global = runtimes == {skill.global_runtime()}
    # In a project `build` copies by itself where git ignores the runtime directory.
    copy = records[0].method == "copy" and skill.scope != PROJECT
    options = PublishOptions(targets, to_global=to_global, copy=copy)
    return publish_skill(skill, options, settings, cwd)
