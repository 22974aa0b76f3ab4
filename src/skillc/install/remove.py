"""Take skills out, or away from agents: `remove`, `disable` and `enable`, and `restore` from the trash.

A skill that is removed goes from agents, the runtime directory and the lock, and then into the trash. The
source goes last: a command that was killed can be run again, and nothing is lost at any moment [D52]. A
disabled skill stays where it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

from skillc import paths, trash
from skillc.compiler import (
    Publication,
    PublishOptions,
    Target,
    check_deploy_folder,
    find_deployments,
    find_targets,
    publish_skill,
    remove_runtime,
    renewal,
    withdraw,
)
from skillc.contract import HIDDEN, KEY, OMIT, hidden
from skillc.errors import Diagnostic, InvalidOption, ProjectFolderEscapes, SkillcError, SkillNotFound, warning
from skillc.install.lock import change_lock
from skillc.install.needs import read_installed
from skillc.install.state import note_versions
from skillc.install.store import entries_of, path_of, remember_skill
from skillc.library import PROJECT, Skill, is_path, is_skill, locate_installed, resolve_installed, roots
from skillc.library.records import DeploymentRecord, change_switch, find_switch, lock_store, read_deployments
from skillc.origins import find_requirers
from skillc.quotes import shell_quote
from skillc.surface import Here
from skillc.text import one_line
from skillc.usage import delete_fallback_log


@dataclass(frozen=True, slots=True)
class Removal:
    """A skill that was, or would be, taken out: `trashed` is where its source is now, if it went."""

    name: str = field(metadata={KEY: "id"})
    source: str = field(metadata=HIDDEN)
    trashed: str | None
    item: str = field(metadata=HIDDEN)  # the ID in the trash
    deployments: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...] = hidden(())
    required_by: tuple[str, ...] = field(default=(), metadata={KEY: "requiredBy", OMIT: True})


@dataclass(frozen=True, slots=True)
class Removals:
    """Skills that were removed, or would be (`is_preview`)."""

    removed: tuple[Removal, ...]
    keeps_source: bool = hidden(False)
    is_preview: bool = hidden(False)

    def lines(self) -> Iterator[str]:
        """Yield what was taken away from where, for people."""
        for removal in self.removed:
            yield one_line(f"{'Would remove' if self.is_preview else 'Removed'} '{removal.name}'")
            yield from (one_line(f"  {path}") for path in removal.deployments)
            if removal.required_by:
                verb = "needs" if len(removal.required_by) == 1 else "need"
                yield one_line(f"  {', '.join(removal.required_by)} {verb} it")
            if removal.item:
                way = f"'skc restore {shell_quote(os.path.basename(removal.source))}' brings it back"
                yield one_line(f"  {removal.source} is in the trash; {way}")
            elif removal.source:
                way = f"stays; 'skc build {shell_quote(removal.name)}' deploys it again"
                yield one_line(f"  {removal.source} {way if self.keeps_source else '-> trash'}")


@dataclass(frozen=True, slots=True)
class Ghost:
    """Deployments of a skill whose source is gone."""

    name: str
    source: str
    records: tuple[DeploymentRecord, ...]


def find_removable(name: str, cwd: str) -> Skill | Ghost:
    """Return the skill of a store that a name or a path means; one whose source is gone is a Ghost.

    Raise SkillNotFound, or InvalidOption for a skill that is not in a store from here upwards, so that a name
    never takes a skill out of another project.
    """
    try:
        skill = require_stored(resolve_installed(name, cwd), name)
    except SkillNotFound:
        records = tuple(each for each in read_deployments() if each.skill == name and each.is_ghost)
        if not records:
            raise
        return Ghost(name, records[-1].source, records)
    if skill.is_copy:
        raise InvalidOption(f"'{name}' is of the repository '{skill.repository}'; see 'skc repo remove'")
    here = {os.path.realpath(root) for _, root in roots(cwd)}
    if not is_path(name) and os.path.realpath(skill.root) not in here:
        way = f"'skc remove {shell_quote(skill.source)}' takes it"
        raise InvalidOption(f"'{name}' is in another project; {way}")
    return skill


def remove_skills(
    here: Here,
    *names: str,
    keep_source: bool = False,
    purge: bool = False,
    dry_run: bool = False,
    yes: bool = False,
) -> Removals:
    """Take skills away from agents and out of their store, into the trash, once a person agrees.

    One who can't answer is not asked. Raises SkillNotFound or InvalidOption before anything is removed. What
    another process removes meanwhile is told of, and the others go.
    """
    found = (find_removable(name, here.cwd) for name in names)
    skills = list({each.source: each for each in found}.values())
    requirers = _find_requirers(skills)
    previews = (replace(_preview(each), required_by=requirers.get(each.source, ())) for each in skills)
    preview = Removals(tuple(previews), keep_source, is_preview=True)
    if dry_run:
        return preview
    if not yes and here.person.can_answer and not here.person.confirm("\n".join(preview.lines()), "Remove?"):
        raise InvalidOption("nothing removed; 'skc remove --yes' removes without asking")
    removals, gone = [], []
    with here.progress.steps(len(skills), "skills") as steps:
        for skill in skills:
            steps.step(skill.name)
            try:
                removal = remove_skill(skill, here.cwd, keep_source=keep_source, purge=purge)
                removals.append(replace(removal, required_by=requirers.get(skill.source, ())))
            except SkillNotFound as error:
                gone.append(error)
    if gone and not removals:
        raise gone[0]
    here.tell(warning("W005", error.message, error.code) for error in gone)
    here.tell(diagnostic for removal in removals for diagnostic in removal.diagnostics)
    here.renew_listings()
    return Removals(tuple(removals), keep_source)


def _find_requirers(skills: Sequence[Skill | Ghost]) -> dict[str, tuple[str, ...]]:
    """Return which skills that stay need each of these, by its source."""
    roots = {skill.root: read_installed(skill.root) for skill in skills if isinstance(skill, Skill)}
    gone = {skill.name for skill in skills}
    requirers: dict[str, tuple[str, ...]] = {}
    for skill in skills:
        if isinstance(skill, Skill):
            names = find_requirers(roots[skill.root], skill.segment)
            requirers[skill.source] = tuple(name for name in names if name not in gone)
    return requirers


def _preview(skill: Skill | Ghost) -> Removal:
    if isinstance(skill, Ghost):
        return Removal(skill.name, "", None, "", _paths(skill.records))
    return Removal(skill.name, skill.source, None, "", _paths(find_deployments(skill)))


def _paths(records: Iterable[DeploymentRecord]) -> tuple[str, ...]:
    return tuple(record.path for record in records)


def remove_skill(
    skill: Skill | Ghost, cwd: str, *, keep_source: bool = False, purge: bool = False, is_locked: bool = False
) -> Removal:
    """Take a skill away from agents, remove its compiled form, and put its source in the trash.

    It leaves the lock, too. Its log stays unless `purge`. With `is_locked`, the caller holds the lock of the
    store.
    """
    if isinstance(skill, Ghost):
        withdrawal = withdraw(skill.records, f"removed by 'skc remove {skill.name}'")
        return Removal(skill.name, "", None, "", _paths(withdrawal.records), withdrawal.diagnostics)
    with nullcontext() if is_locked else lock_store(skill.root):
        if not os.path.lexists(path_of(skill)):  # another process removed it
            raise SkillNotFound(skill.name)
        return _remove(skill, cwd, keep_source, purge)


def _remove(skill: Skill, cwd: str, keep_source: bool, purge: bool) -> Removal:
    reason = f"removed by 'skc remove {skill.name}'"
    names = [entry.name for entry in entries_of(skill)]  # raises for a lock that can't be read
    memory = remember_skill(skill, ())
    withdrawal = withdraw(find_deployments(skill), reason)
    memory["deployments"] = [record.as_json() for record in withdrawal.records]
    diagnostics = list(withdrawal.diagnostics)
    for runtime in skill.runtimes():
        diagnostics += remove_runtime(skill, runtime, purge=purge)
    if purge:
        delete_fallback_log(cwd, skill)
    if names:
        diagnostics += change_lock(skill.root, forget=names)
        note_versions(skill.root, {}, forget=names)
    if not keep_source:
        change_switch(skill.source, lambda switch: switch.with_enabled(None))
    item = None if keep_source else trash.put(path_of(skill), reason, memory=memory)
    path, item_id = (item.path, item.id) if item else (None, "")
    gone = _paths(withdrawal.records)
    return Removal(skill.name, skill.source, path, item_id, gone, tuple(diagnostics))


@dataclass(frozen=True, slots=True)
class Disablement:
    """What was taken away from agents, or given back by a `publication`: paths in their directories."""

    skill: str = field(metadata={KEY: "id"})
    reference: str = field(metadata=HIDDEN)  # what names the skill in a command
    was_off: bool = field(metadata=HIDDEN)
    disabled: bool
    deployments: tuple[str, ...]
    publication: Publication | None = hidden(None)


def require_stored(skill: Skill, name: str) -> Skill:
    """Return a skill if it is in a store; only those are deployed."""
    if not skill.is_stored:
        way = f"'skc import {shell_quote(name)}' takes it in"
        raise InvalidOption(f"'{name}' is a folder that is not installed; {way}")
    return skill


def _locate(here: Here, name: str) -> Skill:
    """Return the skill of a store that a name means; an installed one first [D69]."""
    skill = locate_installed(name, here.cwd)
    here.tell(skill.diagnostics)
    return require_stored(skill, name)


def disable_skill(here: Here, name: str, targets: str = "", *, dry_run: bool = False) -> Disablement:
    """Take a skill away from agents, all or those in `targets`, until it is enabled; it stays in its store.

    The switch is set first: a build that runs meanwhile, or after a kill, does not deploy it again.
    """
    skill = _locate(here, name)
    places = _places(skill, targets, here.cwd)
    records = [r for r in find_deployments(skill) if places is None or r.path in places]
    if dry_run:
        was_off = find_switch(skill.source).covers_all(places)
        return Disablement(skill.name, skill.reference, was_off, True, _paths(records))
    with lock_store(skill.root):
        if not is_skill(skill.source):  # 'skc remove' was faster
            raise SkillNotFound(skill.name)
        records = [r for r in find_deployments(skill) if places is None or r.path in places]
        old = change_switch(skill.source, lambda switch: switch.with_disabled(places, records))
        withdrawal = withdraw(records, f"disabled by 'skc disable {skill.name}'")
    here.tell(withdrawal.diagnostics)
    here.renew_listings()
    gone = _paths(withdrawal.records)
    return Disablement(skill.name, skill.reference, old.covers_all(places), True, gone)


def enable_skill(here: Here, name: str, targets: str = "", *, dry_run: bool = False) -> Disablement:
    """Give a disabled skill back to agents, all or those in `targets`: deploy it where it was."""
    skill, settings = _locate(here, name), here.settings()
    places = _places(skill, targets, here.cwd)
    old = find_switch(skill.source)
    records = [r for r in old.deployments if places is None or r.path in places]
    was_off = old.everywhere or bool(old.places)
    publication = None
    if was_off and not dry_run:
        for record in records if skill.scope == PROJECT else ():
            check_deploy_folder(os.path.dirname(record.path), skill.root)
        change_switch(skill.source, lambda switch: switch.with_enabled(places))
        options = renewal(skill, records, PublishOptions())
        publication = publish_skill(skill, options, settings, here.cwd) if records else None
    if publication is not None:
        here.tell(publication.diagnostics, publication.failures)
    here.renew_listings(dry_run)
    deployments = tuple(each.path for each in publication.deployments) if publication else ()
    return Disablement(skill.name, skill.reference, was_off, False, deployments, publication)


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
        except (InvalidOption, ProjectFolderEscapes) as error:  # an agent may lack one of the two
            problem = error
    if not targets and problem:
        raise problem
    return tuple(dict.fromkeys(os.path.join(directory, skill.segment) for _, directory in targets))
