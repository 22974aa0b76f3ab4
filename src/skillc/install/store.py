"""A store: how a version is put there, and how it is built and deployed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from skillc import atomic, paths, trash
from skillc.compiler import (
    Publication,
    PublishOptions,
    Target,
    create_store,
    default_targets,
    find_targets,
    publish_skill,
    record_publications,
    remember,
)
from skillc.errors import Diagnostic, SkillcError, TargetExists, warning
from skillc.install.entry import COPY, LockEntry
from skillc.install.lock import change_lock, read_lock, skill_of, store_folder, target_scope
from skillc.install.state import (
    Outcome,
    TellStep,
    find_version,
    ignore_step,
    keep_version,
    note_deployments,
    note_versions,
)
from skillc.library import Skill, record_imports
from skillc.library.records import DeploymentRecord, deployments_by_source, is_path_target
from skillc.origins import NO_EVIDENCE, Evidence
from skillc.settings import Settings, load_settings
from skillc.skills import digest_skill, has_uncounted, make_folder

BATCH = 100  # skills
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class FetchedSkill:
    """A skill in a download that is verified: its entry, complete, and its folder."""

    entry: LockEntry
    folder: str
    label: str  # where it came from, for people
    evidence: Evidence = NO_EVIDENCE


def put_skill(root: str, skill: FetchedSkill, reason: str, *, is_there: bool = False) -> Sequence[Diagnostic]:
    """Put a skill into a store in the place of what is there, complete or not at all; return warnings.

    Keep the version first, which an update will be merged against; where it `is_there` already, that is all.
    What was there goes to the trash unless skc itself put it there unchanged. The skill stays untrusted until
    a person adopts it.
    """
    version = keep_version(skill.folder, skill.entry.content, skill.entry.executables)
    skill.evidence.keep(skill.entry.content)
    if is_there:
        return ()
    path = store_folder(root, skill.entry.name)
    create_store(root)
    atomic.sweep(os.path.dirname(path))
    has_edits = os.path.lexists(path) and is_edited(path)
    diagnostics = [keep_in_trash(root, skill.entry.name, reason)] if has_edits else []
    place = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    record_imports((place, skill.label, skill.entry.digest))
    make_folder(path, copy_of=version)
    return diagnostics


def record_entries(root: str, entries: Sequence[LockEntry]) -> list[Diagnostic]:
    """Write entries of skills that were put into a store into its lock, and note what is installed."""
    diagnostics = change_lock(root, record=entries)
    # After the lock, which needs the last versions until now.
    note_versions(root, {entry.name: entry.content for entry in entries})
    return diagnostics


def in_batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Yield items in batches, each at least as large as all before it.

    The files that have a line for each skill are written once for a batch: so what that costs grows with the
    number of skills, not with its square, and a process that is killed has written at least half.

    >>> [len(batch) for batch in in_batches(range(1000))]
    [100, 100, 200, 400, 200]
    """
    start = 0
    while start < len(items):
        end = max(2 * start, BATCH)
        yield items[start:end]
        start = end


def remember_skill(skill: Skill, records: Sequence[DeploymentRecord] | None = None) -> dict[str, Any]:
    """Return what the trash remembers of a skill: as `remember`, and its entries in the lock [D67]."""
    entries = {entry.name: entry.fields for entry in entries_of(skill)}
    return remember(skill, records) | {"lock": entries}


def entries_of(skill: Skill) -> list[LockEntry]:
    """Return the entries in the lock of the store that mean a skill."""
    path = path_of(skill)
    return [e for name, e in read_lock(skill.root).items() if store_folder(skill.root, name) == path]


def path_of(skill: Skill) -> str:
    """Return the path of a skill in its store, which may be a link to its source."""
    return os.path.join(paths.skills_store(skill.root), *skill.name.split("/"))


def keep_in_trash(root: str, name: str, reason: str) -> Diagnostic:
    """Put a copy of a skill in the trash, so that it can be replaced in one step; return what to tell."""
    path = store_folder(root, name)
    memory = remember_skill(skill_of(root, name))
    temporary = atomic.temporary_path(path)
    try:
        trash.copy(path, temporary)
        return warning("W007", path, trash.put(temporary, reason, origin=path, memory=memory).id)
    finally:
        atomic.discard(temporary)


def is_edited(path: str) -> bool:
    """Return whether a folder in a store is anything else than a version as it was installed."""
    if os.path.islink(path) or not os.path.isdir(path) or has_uncounted(path):
        return True
    try:
        return find_version(digest_skill(path).digest) is None
    except (SkillcError, OSError):  # a link that leaves the folder
        return True


def has_skill(root: str, entry: LockEntry) -> bool:
    """Return whether a store has just what an entry says, which is complete."""
    try:
        return entry.is_about(store_folder(root, entry.name))
    except (SkillcError, OSError):  # it is gone, or has a link that leaves the folder
        return False


def check_targets(root: str, entries: Iterable[LockEntry]) -> None:
    """Raise ProjectFolderEscapes for agents of entries, or InvalidOption for one that is not known [D63]."""
    for entry in entries:
        _find_targets(root, entry)


def _find_targets(root: str, entry: LockEntry) -> tuple[list[Target], list[Diagnostic]]:
    """Return the agents of an entry; a path in a lock from before is a warning [D63]."""
    targets: list[Target] = []
    diagnostics: list[Diagnostic] = []
    for name in entry.targets:
        for target in find_targets(
            name, target_scope(root), root, root=root
        ):  # a text with commas names several
            if is_path_target(target[0]):
                diagnostics.append(warning("W095", target[0], entry.name))
            else:
                targets.append(target)
    return targets, diagnostics


def publish_entries(
    root: str, entries: Sequence[LockEntry], outcome: Outcome, tell_step: TellStep = ignore_step
) -> None:
    """Build skills and deploy them as their entries say, and to the paths that this user gave before [D63].

    One that another tool locked goes to the default agents [D70]. One that fails does not stop the others.
    """
    settings, records = load_settings(root), deployments_by_source()
    default: list[Target] = []
    if not all(entry.has_targets for entry in entries):
        default, warnings = default_targets(settings, target_scope(root), root)
        outcome.diagnostics += warnings
    for batch in in_batches(entries):
        with Publisher(root, settings, outcome.diagnostics.extend) as publisher:
            for entry in batch:
                tell_step(entry.name)
                here = records.get(skill_of(root, entry.name).source, ())
                own = [record.place for record in here if record.is_at_path]
                with outcome.attempt():
                    targets, warnings = _find_targets(root, entry)
                    targets += [*own, *(() if entry.has_targets else default)]
                    is_copy = entry.own_text("mode") == COPY
                    options = PublishOptions(list(dict.fromkeys(targets)), copy=is_copy)
                    is_foreign = not entry.has_targets
                    publication = publisher.publish(entry.name, entry.content, options, is_foreign=is_foreign)
                    outcome.diagnostics += (*warnings, *publication.diagnostics)
                    outcome.failures += publication.failures


class Publisher(ExitStack):
    """Builds and deploys skills of a store. At its end, all deployments go on record at once.

    What is deployed everywhere is noted, so that 'skc install' need not look it up again.
    """

    def __init__(self, root: str, settings: Settings, tell: Callable[[Iterable[Diagnostic]], object]) -> None:
        super().__init__()
        self._root, self._settings = root, settings
        self._places: dict[str, tuple[str, list[str]]] = {}
        self.callback(note_deployments, root, self._places)
        self._publications = self.enter_context(record_publications(tell))

    def publish(
        self, name: str, content: str, options: PublishOptions, *, is_foreign: bool = False
    ) -> Publication:
        """Build and deploy a skill, whose content has this digest if that is known.

        One that `is_foreign` was locked by another tool, which may have put it into agents' folders itself.
        """
        skill = skill_of(self._root, name)
        publication = publish_skill(skill, options, self._settings, self._root, record=False)
        self._publications.append(publication)
        failures = publication.failures
        if is_foreign:
            failures = tuple(error for error in failures if not isinstance(error, TargetExists))
        if not failures:
            manifest = paths.manifest_file(publication.build.runtime)
            files = [*(each.path for each in publication.deployments), manifest]
            self._places[name] = content or digest_skill(skill.source).digest, files
        return replace(publication, failures=failures)
