"""Publish a skill from any folder to the agents that read it: import, build and deploy."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from skillc.compiler.agents import Target, check_agent_folder
from skillc.compiler.build import BuildResult, build_skill
from skillc.compiler.deploy import Deployment, deploy_skill, record_of
from skillc.compiler.scaffold import import_skill
from skillc.compiler.undeploy import find_deployments, remove_runtime
from skillc.contract import KEY, Result, hidden
from skillc.errors import Diagnostic, SkillcError, SkillNotFound, unexpected, warning
from skillc.library import (
    PROJECT,
    DeploymentRecord,
    Skill,
    find_switch,
    is_skill,
    lock_store,
    record_deployments,
)
from skillc.settings import Settings
from skillc.text import one_line


@dataclass(frozen=True, slots=True)
class PublishOptions:
    """Targets and options of a publication.

    `to_global` builds into the home's runtime directory, `copy` deploys copies instead of links, and
    `force` builds from scratch and replaces whatever stands where the skill is imported or deployed; with
    `own_only` nothing but what skc deployed. With `renew`, a skill that is deployed goes to where it is, and
    `targets` are for any other [D70]. `copies` are paths that get copies in any case.
    """

    targets: Sequence[Target] = ()
    to_global: bool = False
    copy: bool = False
    force: bool = False
    own_only: bool = False
    renew: bool = False
    copies: frozenset[str] = frozenset()


def renewal(skill: Skill, records: Iterable[DeploymentRecord], options: PublishOptions) -> PublishOptions:
    """Return options that deploy a skill to where it is on record, in the same way.

    In a project `build` makes copies by itself where git ignores the runtime directory, with links to assets.
    """
    records = list(records)
    if not records:
        return replace(options, renew=False)
    copies = [record.path for record in records if record.method == "copy"]
    return replace(
        options,
        targets=[record.place for record in records],
        to_global=options.to_global or {record.runtime for record in records} == {skill.global_runtime()},
        copies=frozenset(path for path in copies if not _has_links(skill, path)),
        renew=False,
    )


def _has_links(skill: Skill, folder: str) -> bool:
    """Return whether a deployed copy has, or had, links to assets."""
    if not os.path.isdir(folder):
        return skill.scope == PROJECT
    with os.scandir(folder) as entries:
        return any(entry.is_symlink() for entry in entries)


@dataclass(frozen=True, slots=True)
class Publication(Result):
    """A skill that was built, with its deployments and the errors of those that failed.

    `import_note` says what was copied into a store first. `warnings` are about targets that were left out
    and about the record; those of the build are `lines`.
    """

    id: str
    name: str = field(metadata={KEY: "skill"})  # as `id`; goes with the next release
    status: str
    source_path: str
    runtime_path: str
    source_hash: str
    files: int
    changed: int
    deployments: tuple[Deployment, ...]
    lines: tuple[str, ...] = field(metadata={KEY: "warnings"})
    build: BuildResult = field(metadata={KEY: ""})
    failures: tuple[SkillcError, ...] = hidden(())
    import_note: str = hidden("")
    warnings: tuple[Diagnostic, ...] = hidden(())

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        deployments = (diagnostic for each in self.deployments for diagnostic in each.diagnostics)
        return (*self.build.diagnostics, *deployments, *self.warnings)

    def records(self) -> list[DeploymentRecord]:
        """Return the deployments as they go on record [D51]; a copy that was left alone is there already."""
        return _records(self.build, self.deployments)

    def report(self) -> str:
        files = f"{self.files} file{'' if self.files == 1 else 's'}"
        detail = files if self.status == "unchanged" else f"{files}, {self.changed} changed"
        lines = [self.import_note] if self.import_note else []
        lines += [f"{self.status.capitalize()} '{self.id}' ({detail}) in {self.runtime_path}"]
        lines += [f"  {d.target}: {d.path} ({d.method})" for d in self.deployments]
        return "\n".join(map(one_line, lines))


def publish_skill(
    skill: Skill,
    options: PublishOptions,
    config: Settings,
    cwd: str,
    *,
    deploy: bool = True,
    record: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Publication:
    """Import, build and deploy a skill; a target that fails does not stop the others.

    Without `record`, the caller puts the deployments of many on record at once (`record_publications`).
    `progress` gets the number of files done and of all, and may raise.
    """
    note = ""
    if not skill.is_stored:
        may_replace = options.force and not options.own_only
        skill, note = import_skill(skill, cwd, force=may_replace)
    if options.renew:
        options = renewal(skill, find_deployments(skill), options)
    build = build_skill(
        skill,
        tokenizer=config.tokenizer,
        formats=config.formats,
        to_global=options.to_global,
        force=options.force,
        progress=progress,
    )
    with lock_store(skill.root):
        if not is_skill(skill.source):  # 'skc remove' was faster; nothing of it may stay with an agent
            remove_runtime(skill, build.runtime)
            raise SkillNotFound(skill.name, "it was removed while it was built")
        deployments, failures, warnings = _deploy(skill, build, options if deploy else PublishOptions())
        if record:
            warnings += record_deployments(_records(build, deployments))
    return Publication(
        id=skill.name,
        name=skill.name,
        status=build.status,
        source_path=skill.source,
        runtime_path=build.runtime,
        source_hash=build.source_hash,
        files=build.files,
        changed=build.changes,
        deployments=tuple(deployments),
        lines=tuple(diagnostic.line() for diagnostic in build.diagnostics),
        build=build,
        failures=tuple(failures),
        import_note=note,
        warnings=tuple(warnings),
    )


@contextmanager
def record_publications(
    tell: Callable[[Iterable[Diagnostic]], object],
) -> Iterator[list[Publication]]:
    """Put the deployments of publications that are added in the block on record at its end, all at once."""
    publications: list[Publication] = []
    try:
        yield publications
    finally:
        tell(record_deployments(record for each in publications for record in each.records()))


def _deploy(
    skill: Skill, build: BuildResult, options: PublishOptions
) -> tuple[list[Deployment], list[SkillcError], list[Diagnostic]]:
    """Deploy a skill that was built to all targets for which it is not disabled."""
    deployments: list[Deployment] = []
    failures: list[SkillcError] = []
    warnings: list[Diagnostic] = []
    switch = find_switch(skill.source)
    for target in options.targets:
        path = os.path.join(target[1], skill.segment)
        try:
            if switch.covers(path):
                warnings.append(warning("W090", skill.name, target[0]))
                continue
            if skill.scope == PROJECT:
                check_agent_folder(target[1], skill.root)
            deployment = deploy_skill(
                skill,
                build.runtime,
                target,
                copy=options.copy or path in options.copies,
                force=options.force,
                own_only=options.own_only,
            )
            deployments.append(deployment)
        except (SkillcError, OSError) as error:
            failures.append(unexpected(error))
    return deployments, failures, warnings


def _records(build: BuildResult, deployments: Sequence[Deployment]) -> list[DeploymentRecord]:
    # Where many are recorded at once, another command may have taken one away meanwhile.
    new = [each for each in deployments if each.is_new and os.path.lexists(each.path)]
    return [record_of(build.skill, build.runtime, build.source_hash, each) for each in new]
