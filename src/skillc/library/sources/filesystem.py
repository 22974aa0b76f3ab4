"""Skills in a folder, at any depth: IDs from directories, COLLECTION.md, quarantine [D25, D26].

A directory with SKILL.md is a skill; what is below it are its files. A snapshot stats every SKILL.md and
parses only those that are new or changed since the last one; descriptions are cached, bodies are not.
Data of large folders is cached in the skill index, for the next process.
"""

from __future__ import annotations

import asyncio
import builtins
import os
from collections.abc import Sequence
from copy import copy
from time import time
from typing import Any

from skillc import paths
from skillc.errors import RepositoryUnavailable, SkillNotFound
from skillc.index.skills import Entry, Folder, Searchable, Snapshot, skill_index
from skillc.library.sources import source as base
from skillc.library.sources.wrappers import SnapshotSource
from skillc.skills import SkillId, id_prefix


class FilesystemSnapshot(base.SkillSource):
    """The skills of a folder as they were at one moment."""

    def __init__(self, root: str, scope: base.SkillScope, look: Snapshot) -> None:
        self.look = look
        self.skills = {skill.id: skill for skill in (_descriptor(e, scope) for e in look.skills.values())}
        self.quarantined = len(look.entries) - len(look.skills)
        self._root = root
        self._more_diagnostics: Sequence[base.SourceDiagnostic] = ()

    def with_diagnostics(self, diagnostics: Sequence[base.SourceDiagnostic]) -> FilesystemSnapshot:
        """Return the same snapshot with more to say."""
        snapshot = copy(self)
        snapshot._more_diagnostics = diagnostics
        return snapshot

    async def list(self, filter: base.SkillFilter = base.ALL) -> builtins.list[base.SkillDescriptor]:
        if filter is base.ALL:
            return [*self.skills.values()]
        return [skill for skill in self.skills.values() if filter.matches(skill)]

    async def load(self, skill_id: SkillId) -> base.SkillDocument:
        return await asyncio.to_thread(self._load, skill_id, self._file(skill_id))

    async def collections(self) -> builtins.list[base.SkillCollection]:
        directories = self.look.directories.items()
        descriptions = {id_prefix(path): d.collection for path, d in directories if d.collection}
        return base.derive_collections(self.skills.values(), descriptions)

    async def directory(self, skill_id: SkillId) -> str:
        return os.path.dirname(self._file(skill_id))

    async def directories(self) -> dict[SkillId, str]:
        return {skill_id: os.path.dirname(self._file(skill_id)) for skill_id in self.skills}

    async def diagnostics(self) -> builtins.list[base.SourceDiagnostic]:
        return [*await asyncio.to_thread(self._diagnostics), *self._more_diagnostics]

    def _file(self, skill_id: str) -> str:
        if skill_id not in self.look.skills:
            raise SkillNotFound(skill_id)
        return os.path.join(self._root, self.look.skills[skill_id].path)

    def _load(self, skill_id: SkillId, path: str) -> base.SkillDocument:
        try:
            return base.read_document(self.skills[skill_id], paths.read_regular(path, paths.MAX_SKILL_FILE))
        except OSError as error:  # gone, or made unreadable, since the snapshot
            raise SkillNotFound(skill_id, error.strerror or "") from None

    def _diagnostics(self) -> builtins.list[base.SourceDiagnostic]:
        look, root = self.look, self._root
        diagnostics = [
            base.SourceDiagnostic(os.path.join(root, path) if path else root, *diagnostic)
            for path, diagnostic in look.diagnostics
        ]
        for entry in sorted(look.entries.values(), key=lambda entry: (entry.skill_id, entry.path)):
            path = os.path.join(root, entry.path)
            diagnostics += [base.SourceDiagnostic(path, *diagnostic) for diagnostic in entry.diagnostics]
            others = [other for other in look.duplicates.get(entry.skill_id, ()) if other is not entry]
            if others:
                folders = ", ".join(os.path.dirname(os.path.join(root, other.path)) for other in others)
                message = f"'{entry.skill_id}' is also the id of {folders}"
                diagnostics.append(base.SourceDiagnostic(path, "E070", "error", message))
        return diagnostics


class FilesystemSkillSource(SnapshotSource):
    """A folder of skills. `strict` quarantines whatever breaks the Agent Skills format.

    A folder that does not exist holds no skills, unless it is `required`.
    """

    kind = "filesystem"

    def __init__(
        self,
        root: str | os.PathLike[str],
        scope: base.SkillScope = base.SkillScope.PROJECT,
        *,
        strict: bool = False,
        required: bool = False,
    ) -> None:
        self.root = os.path.abspath(os.fspath(root))
        self.scope = scope
        self.strict = strict
        self.required = required
        self.quarantined = 0  # in the last snapshot
        self._last: FilesystemSnapshot | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the snapshot when pickled: it belongs to this process's index."""
        return vars(self) | {"_last": None}

    async def snapshot(self) -> FilesystemSnapshot:
        """Return the folder as it is now; unchanged files are not read again."""
        return await asyncio.to_thread(self._take_snapshot)

    async def parts(self, name: str) -> builtins.list[Searchable]:
        """Return what can be searched here: everything.

        The folder is checked here, within the caller's time-out, so that one that hangs is left out.
        """
        await asyncio.to_thread(self._check)
        return [Searchable(name, self.folder)]

    @property
    def folder(self) -> Folder:
        return skill_index().folder(self.root, self.strict)

    @property
    def partial(self) -> str:
        """A note of how much was read at the last look; empty if it was everything."""
        return self.folder.partial

    @property
    def unused(self) -> bool:
        return not os.path.isdir(self.root)

    def _take_snapshot(self) -> FilesystemSnapshot:
        # Half of the time is for reading; the other half is for storing and for the answer.
        deadline = base.DEADLINE.get()
        until = None if deadline is None else (time() + deadline) / 2
        look, snapshot = self.folder.snapshot(until), self._last
        if look.error is not None:
            self._fail(look.error)
        if snapshot is None or snapshot.look is not look:
            self._last = snapshot = FilesystemSnapshot(self.root, self.scope, look)
        self.quarantined = snapshot.quarantined
        return snapshot

    def _check(self) -> None:
        try:
            os.scandir(self.root).close()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        """Raise RepositoryUnavailable if the folder, which can't be read, is required."""
        if self.required:
            raise RepositoryUnavailable(self.root, error.strerror or str(error)) from None


def _descriptor(entry: Entry, scope: base.SkillScope) -> base.SkillDescriptor:
    return base.SkillDescriptor(
        str.__new__(SkillId, entry.skill_id),  # made of valid segments
        description=entry.description or "",
        scope=scope,
        requires_capabilities=entry.capabilities,
        metadata=entry.metadata,
    )
