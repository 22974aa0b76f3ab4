"""Skills in a folder, at any depth: IDs from directories, COLLECTION.md, quarantine [D25, D26].

A directory with SKILL.md is a skill; what is below it are its files. A scan stats every SKILL.md and
parses only those that are new or changed since the last one; descriptions are kept, bodies are not.
What a large folder holds is kept in the library's index, for the next process.
"""

from __future__ import annotations

import asyncio
import builtins
import os
from typing import Any

from skillc.errors import RepositoryUnavailable, SkillNotFound
from skillc.index.skills import (
    MAX_SKILL_FILE,
    Entry,
    Folder,
    Searchable,
    Snapshot,
    id_prefix,
    skill_index,
)
from skillc.library.descriptors import (
    SkillCollection,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    SkillScope,
    derive_collections,
)
from skillc.library.looking import current_look
from skillc.library.source import ALL, SkillSource, SourceDiagnostic
from skillc.skills import SkillId, parse, read_metadata


class _Scan:
    """The outcome of a look, as descriptors."""

    __slots__ = ("collections", "look", "quarantined", "skills")

    def __init__(self, look: Snapshot, scope: SkillScope) -> None:
        self.look = look
        skills = [_descriptor(entry, scope) for entry in look.skills.values()]
        self.skills = {skill.id: skill for skill in skills}
        self.quarantined = len(look.entries) - len(look.skills)
        self.collections = {
            id_prefix(path): directory.collection
            for path, directory in look.directories.items()
            if directory.collection
        }


class FilesystemSkillSource(SkillSource):
    """A folder of skills. `strict` quarantines whatever breaks the Agent Skills format.

    A folder that is not there holds no skills, unless it is `required`.
    """

    kind = "filesystem"

    def __init__(
        self,
        root: str | os.PathLike[str],
        scope: SkillScope = SkillScope.PROJECT,
        *,
        strict: bool = False,
        required: bool = False,
    ) -> None:
        self.root = os.path.abspath(os.fspath(root))
        self.scope = scope
        self.strict = strict
        self.required = required
        self.quarantined = 0  # at the last look
        self._last: tuple[object | None, Snapshot, _Scan] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """What another process needs of it: what was seen belongs to this one's library."""
        return vars(self) | {"_last": None}

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        scan = await asyncio.to_thread(self.scan)
        if filter is ALL:
            return [*scan.skills.values()]
        return [skill for skill in scan.skills.values() if filter.matches(skill)]

    async def load(self, skill_id: SkillId) -> SkillDocument:
        return await asyncio.to_thread(self._load, skill_id)

    async def collections(self) -> builtins.list[SkillCollection]:
        scan = await asyncio.to_thread(self.scan)
        return derive_collections(scan.skills.values(), scan.collections)

    @property
    def unused(self) -> bool:
        """Whether the folder is not there."""
        return not os.path.isdir(self.root)

    async def diagnostics(self) -> builtins.list[SourceDiagnostic]:
        """What was repaired and what is quarantined, with the reason."""
        look = (await asyncio.to_thread(self.scan)).look
        return await asyncio.to_thread(self._diagnostics, look)

    async def directory(self, skill_id: SkillId) -> str:
        """The folder of a skill."""
        scan = await asyncio.to_thread(self.scan)
        return os.path.dirname(self._file(scan.look, skill_id))

    async def directories(self) -> dict[SkillId, str]:
        """The folders of all skills, in one look."""
        scan = await asyncio.to_thread(self.scan)
        return {skill_id: os.path.dirname(self._file(scan.look, skill_id)) for skill_id in scan.skills}

    async def parts(self, name: str) -> builtins.list[Searchable]:
        """What can be searched here: everything.

        The folder is looked at first: who asks leaves one that hangs out in time; indexing takes longer.
        """
        await asyncio.to_thread(self._check if self.required else self._exists)
        return [Searchable(name, self.folder)]

    @property
    def folder(self) -> Folder:
        """What the library knows of the folder."""
        return skill_index().folder(self.root, self.strict)

    def scan(self) -> _Scan:
        """Snapshot at the folder as it is now; unchanged files are not read again."""
        asked = current_look()
        last = self._last
        if last is not None and asked is not None and last[0] is asked:
            return last[2]
        look = self.folder.snapshot()
        if look.error is not None and self.required:
            raise self._unavailable(look.error) from None
        scan = last[2] if last is not None and last[1] is look else _Scan(look, self.scope)
        self._last = asked, look, scan  # whole: other threads may be scanning, too
        self.quarantined = scan.quarantined
        return scan

    def _exists(self) -> bool:
        return os.path.isdir(self.root)

    def _check(self) -> None:
        """That the folder can be read."""
        try:
            os.scandir(self.root).close()
        except OSError as error:
            raise self._unavailable(error) from None

    def _unavailable(self, error: OSError) -> RepositoryUnavailable:
        return RepositoryUnavailable(self.root, error.strerror or str(error))

    def _file(self, look: Snapshot, skill_id: str) -> str:
        """The path of a skill's SKILL.md."""
        if skill_id not in look.skills:
            raise SkillNotFound(skill_id)
        return os.path.join(self.root, look.skills[skill_id].path)

    def _diagnostics(self, look: Snapshot) -> builtins.list[SourceDiagnostic]:
        found = [
            _diagnostic(os.path.join(self.root, path) if path else self.root, *told)
            for path, told in look.diagnostics
        ]
        for entry in sorted(look.entries.values(), key=lambda entry: (entry.skill_id, entry.path)):
            path = os.path.join(self.root, entry.path)
            found += [_diagnostic(path, *told) for told in entry.diagnostics]
            others = [other for other in look.duplicates.get(entry.skill_id, ()) if other is not entry]
            if others:
                folders = ", ".join(os.path.dirname(os.path.join(self.root, other.path)) for other in others)
                found.append(
                    _diagnostic(path, "E070", "error", f"'{entry.skill_id}' is also the id of {folders}")
                )
        return found

    def _load(self, skill_id: SkillId) -> SkillDocument:
        scan = self.scan()
        path = self._file(scan.look, skill_id)
        descriptor = scan.skills[skill_id]
        try:
            with open(path, "rb") as file:
                document = parse(file.read(MAX_SKILL_FILE + 1))
        except OSError as error:  # gone, or closed, since the look
            raise SkillNotFound(skill_id, error.strerror or "") from None
        told = read_metadata(document, descriptor.name)
        body = document.data[document.body :].decode("utf-8", "replace").lstrip("\r\n")
        known = ("name", "description", "metadata", "requires_capabilities")
        extensions = {key: value for key, value in told.fields.items() if key not in known}
        return SkillDocument(descriptor, body, extensions)


def _descriptor(entry: Entry, scope: SkillScope) -> SkillDescriptor:
    return SkillDescriptor(
        str.__new__(SkillId, entry.skill_id),  # made of valid segments
        description=entry.description or "",
        scope=scope,
        requires_capabilities=entry.capabilities,
        metadata=entry.metadata,
    )


def _diagnostic(path: str, code: str, severity: str, message: str) -> SourceDiagnostic:
    return SourceDiagnostic(path, code, severity, message)
