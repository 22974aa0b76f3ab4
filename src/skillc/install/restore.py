"""Bring back what is in the trash: a skill with its entry in the lock and its deployments [D67].

What else is in the trash goes back to where it was, and that is all.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from skillc import paths, trash
from skillc.compiler import (
    Publication,
    PublishOptions,
    check_deploy_folder,
    default_targets,
    name_target,
    publish_skill,
    renewal,
)
from skillc.contract import HIDDEN, extend, hidden
from skillc.errors import Diagnostic, InvalidOption, SkillcError, unexpected
from skillc.install.entry import LockEntry
from skillc.install.lock import change_lock, read_lock, target_scope
from skillc.install.state import keep_version, note_versions
from skillc.install.store import has_skill, path_of
from skillc.library import GLOBAL, PROJECT, Skill, is_skill
from skillc.library.records import (
    DeploymentRecord,
    Switch,
    change_switch,
    lock_store,
    parse_record,
    parse_switch,
)
from skillc.settings import Settings
from skillc.surface import Here
from skillc.text import count_of


@dataclass(frozen=True, slots=True)
class Restoration:
    """What came back from the trash, and where agents have it again."""

    restored: trash.TrashItem
    deployments: tuple[str, ...] = ()
    publication: Publication | None = hidden(None)
    is_built: bool = hidden(True)  # whether the build did not fail; the skill is back in any case

    @property
    def is_success(self) -> bool:
        return self.is_built and not (self.publication and self.publication.failures)

    def lines(self) -> Iterator[str]:
        """Yield what came back to where, for people."""
        yield f"Restored {self.restored.origin}"
        for each in self.publication.deployments if self.publication else ():
            yield f"  {name_target(each.target)}: {each.path} ({each.method})"


@dataclass(frozen=True, slots=True)
class _Memory:
    """What the trash remembers of a skill; of one from before that, only where it was."""

    name: str
    root: str
    was_built: bool  # one that was not stays so
    entries: tuple[LockEntry, ...] = ()
    records: tuple[DeploymentRecord, ...] | None = None
    switch: Switch | None = None

    @property
    def skill(self) -> Skill:
        scope = GLOBAL if paths.is_home(self.root) else PROJECT
        skill = Skill(self.name, "", scope, self.root, is_stored=True)
        skill.source = os.path.realpath(path_of(skill))
        return skill


def restore_item(here: Here, name: str) -> Restoration:
    """Bring back what is in the trash under an ID, a path or its last part; raises NotInTrash and others.

    A project's folders that lead out of it are ProjectFolderEscapes, before anything is written [D63].
    """
    settings, item = here.settings(), trash.find(name)
    memory = _read_memory(item)
    if memory is None:
        trash.restore(item)
        result = Restoration(item)
    else:
        result = _restore_skill(here, settings, item, memory)
    here.renew_listings()
    return result


def _restore_skill(here: Here, settings: Settings, item: trash.TrashItem, memory: _Memory) -> Restoration:
    diagnostics: list[Diagnostic] = []
    options = PublishOptions()
    if memory.records is None:
        targets, diagnostics = default_targets(settings, target_scope(memory.root), memory.root)
        options = PublishOptions(targets)
    elif memory.records:
        options = renewal(memory.skill, memory.records, options)
    for _, folder in options.targets if memory.skill.scope == PROJECT else ():
        check_deploy_folder(folder, memory.root)
    with lock_store(memory.root):  # 'skc add' may be about to put one there
        diagnostics += _bring_back(item, memory)
    here.tell(diagnostics)
    skill = memory.skill
    if not (memory.was_built and is_skill(skill.source)):
        return Restoration(item)
    try:
        publication = publish_skill(skill, options, settings, memory.root)
    except (SkillcError, OSError) as error:
        here.report(unexpected(error).text())
        return Restoration(item, is_built=False)
    here.tell(publication.diagnostics, publication.failures)
    return Restoration(item, tuple(each.path for each in publication.deployments), publication)


def _bring_back(item: trash.TrashItem, memory: _Memory) -> list[Diagnostic]:
    """Put a skill back into its store, its lock and its switch; the store is locked.

    The lock comes first: a command that was killed can be run again.
    """
    root = memory.root
    trash.check_place(item)
    read_lock(root)  # raises for one that can't be read
    diagnostics = change_lock(root, record=memory.entries) if memory.entries else []
    trash.restore(item)
    for entry in memory.entries:
        if entry.content and has_skill(root, entry):
            keep_version(memory.skill.source, entry.content, entry.executables)
        note_versions(root, {entry.name: entry.content})
    if (switch := memory.switch) is not None:
        change_switch(memory.skill.source, lambda _: switch)
    return diagnostics


def _read_memory(item: trash.TrashItem) -> _Memory | None:
    """Return what the trash remembers of a skill that was in a store; None for anything else."""
    note = item.memory
    try:
        return _Memory(
            str(note["name"]),
            str(note["root"]),
            bool(note["built"] or note["deployments"]),
            tuple(LockEntry(name, dict(fields)) for name, fields in note.get("lock", {}).items()),
            tuple(map(parse_record, note["deployments"])),
            parse_switch(note["switch"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        store, name = os.path.split(item.origin)
        root = os.path.dirname(os.path.dirname(store))
        is_stored = bool(item.origin) and store == os.path.join(root, paths.DIRECTORY, "skills")
        return _Memory(name, root, was_built=True) if is_stored else None


@dataclass(frozen=True, slots=True)
class SizedItem(trash.TrashItem):
    """Something in the trash, with its size in bytes."""

    size: int = 0


@dataclass(frozen=True, slots=True)
class TrashContents:
    """What is in the trash."""

    entries: tuple[SizedItem, ...]


@dataclass(frozen=True, slots=True)
class EmptiedTrash:
    """What was deleted from the trash, and its size in bytes."""

    deleted: tuple[trash.TrashItem, ...]
    size: int = field(metadata=HIDDEN)


def list_trash(here: Here) -> TrashContents:
    """Return what is in the trash, wherever it was."""
    sized = (extend(SizedItem, item, size=trash.measure_size(item.path)) for item in trash.items())
    return TrashContents(tuple(sized))


def empty_trash(here: Here, *, yes: bool = False) -> EmptiedTrash:
    """Delete what is in the trash for good, once a person agrees; raises InvalidOption without one."""
    items = trash.items()
    size = sum(trash.measure_size(item.path) for item in items)
    if items and not yes:
        text = f"{count_of(len(items), 'item')}, {size:,} bytes. Deleted items can't be brought back."
        question = "Delete it?" if len(items) == 1 else "Delete them all?"
        if not (here.person.can_answer and here.person.confirm(text, question)):
            raise InvalidOption("nothing deleted; 'skc trash empty --yes' deletes without asking")
    for item in items:
        trash.delete(item)
    return EmptiedTrash(tuple(items), size)
