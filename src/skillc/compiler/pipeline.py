"""Publish a skill from any folder to the agents that read it: import, build and deploy."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from skillc.compiler.agents import Target, check_deploy_folder, name_target
from skillc.compiler.build import BuildResult, build_skill
from skillc.compiler.deploy import Deployment, deploy_skill, record_of
from skillc.compiler.on_demand import is_on_demand
from skillc.compiler.undeploy import find_deployments, remove_runtime, withdraw
from skillc.contract import KEY, Result, hidden
from skillc.errors import Diagnostic, SkillcError, SkillNotFound, unexpected, warning
from skillc.library import PROJECT, Skill, at_path, is_skill
from skillc.library.records import (
    DEMAND,
    LEFT_OUT,
    LISTED,
    ON_DEMAND,
    DeploymentRecord,
    find_deployment,
    find_switch,
    lock_store,
    read_deployments,
    read_listing_record,
    record_deployments,
)
from skillc.settings import Settings
from skillc.text import one_line, utf8_text


@dataclass(frozen=True, slots=True)
class PublishOptions:
    """Targets and options of a publication.

    `to_global` builds into the home's runtime directory, `copy` deploys copies instead of links, and
    `force` builds from scratch and replaces whatever stands where the skill is imported or deployed; with
    `own_only` nothing but what skc deployed. With `renew`, a skill that is deployed goes to where it is, and
    `targets` are for any other [D70]. `copies` are paths that get copies in any case; `states` are those of
    paths that may be off the record: whether a skill is listed there or on demand [D75].
    """

    targets: Sequence[Target] = ()
    to_global: bool = False
    copy: bool = False
    force: bool = False
    own_only: bool = False
    renew: bool = False
    copies: frozenset[str] = frozenset()
    states: Mapping[str, str] = field(default_factory=dict)


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
        states={record.path: record.state for record in records} | dict(options.states),
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
        build = self.build
        return _records(build.skill, build.runtime, build.source_hash, self.deployments)

    def report(self) -> str:
        files = f"{self.files} file{'' if self.files == 1 else 's'}"
        detail = files if self.status == "unchanged" else f"{files}, {self.changed} changed"
        lines = [self.import_note] if self.import_note else []
        lines += [f"{self.status.capitalize()} '{self.id}' ({detail}) in {self.runtime_path}"]
        lines += [f"  {name_target(d.target)}: {d.path} ({d.method})" for d in self.deployments]
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
        from skillc.compiler.scaffold import import_skill  # most are in a store already

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
        options = options if deploy else PublishOptions()
        deployments, failures, warnings = _deploy(skill, build.runtime, options)
        if record:
            warnings += record_deployments(_records(skill, build.runtime, build.source_hash, deployments))
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


def change_states(states: Mapping[str, str]) -> tuple[list[Diagnostic], list[SkillcError]]:
    """Deploy skills again, listed or on demand as `states` says of their paths; return what came up.

    Nothing is built, and what skc did not put there stays.
    """
    diagnostics: list[Diagnostic] = []
    failures: list[SkillcError] = []
    new: list[DeploymentRecord] = []
    by_source: dict[str, list[DeploymentRecord]] = {}
    for record in read_deployments():
        if states.get(record.path, record.state) != record.state:
            by_source.setdefault(record.source, []).append(record)
    for source, records in by_source.items():
        skill = at_path(source)
        for runtime in dict.fromkeys(record.runtime for record in records):
            here = [record for record in records if record.runtime == runtime]
            options = renewal(skill, here, PublishOptions(own_only=True, states=states))
            with lock_store(skill.root):
                deployments, problems, warnings = _deploy(skill, runtime, options)
                digest = here[0].digest if here[0].method != "copy" else ""
                new += _records(skill, runtime, digest, deployments)
            diagnostics += warnings
            failures += problems
    return [*diagnostics, *record_deployments(new)], failures


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
    skill: Skill, runtime: str, options: PublishOptions
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
                check_deploy_folder(target[1], skill.root)
            state = options.states.get(path) or _find_state(skill, path)
            if state == LEFT_OUT:
                old = withdraw([r for r in find_deployments(skill) if r.path == path], "on demand")
                warnings += old.diagnostics
                deployments.append(Deployment(target[0], path, LEFT_OUT, state=state))
                continue
            deployment = deploy_skill(
                skill,
                runtime,
                target,
                copy=options.copy or path in options.copies,
                force=options.force,
                own_only=options.own_only,
                state=state,
            )
            deployments.append(deployment)
        except (SkillcError, OSError) as error:
            failures.append(unexpected(error))
    return deployments, failures, warnings


def _find_state(skill: Skill, path: str) -> str:
    """Return whether an agent lists a skill at a path or has it on demand: as on record, else as chosen.

    In a project that was cloned, what is there says it.
    """
    record = find_deployment(path)
    if record is not None and record.source == utf8_text(skill.source):
        return record.state
    if skill.scope == PROJECT and is_on_demand(path):
        return ON_DEMAND
    return ON_DEMAND if read_listing_record().choice(path) == DEMAND else LISTED


def deploy_folder(skill: Skill, runtime: str, folder: str, *, copy: bool) -> Sequence[Diagnostic]:
    """Put a compiled skill that no build made into a folder, and record it; say what is in the way."""
    try:
        deployment = deploy_skill(skill, runtime, (folder, folder), copy=copy, own_only=True)
    except SkillcError as error:
        return error.diagnostics
    record = record_of(skill, runtime, "", deployment)
    return [*deployment.diagnostics, *record_deployments([record])]


def _records(
    skill: Skill, runtime: str, source_hash: str, deployments: Sequence[Deployment]
) -> list[DeploymentRecord]:
    # Where many are recorded at once, another command may have taken one away meanwhile.
    new = [d for d in deployments if d.is_new and (d.method == LEFT_OUT or os.path.lexists(d.path))]
    return [record_of(skill, runtime, source_hash, each) for each in new]
