"""Show one's own skills: all that the repositories of a workspace have, each as it is now."""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from starlette.requests import Request

from skillc import usage
from skillc.audit import Audit, audit_folder
from skillc.errors import FileNotFound, SkillcError
from skillc.gateway import read_outline
from skillc.index.skills import FoundSkills, Scope
from skillc.library import Skill as FolderSkill, stored_skills
from skillc.library.sources import EMBEDDED, SkillDescriptor, SkillDocument
from skillc.registry.model import NO_FINDINGS, Skill, StoredFile, Version
from skillc.server.caches import Cache
from skillc.server.pages.catalog import MAX_AUDIT_BYTES, MAX_QUICK_AUDIT, Usage
from skillc.server.pages.visit import Site, Visit
from skillc.skills import SkillId, SourceFile, list_files, open_inside
from skillc.skills.document import main_file
from skillc.startup import sha256_hex
from skillc.versions import LATEST, parse_version
from skillc.workspace import Workspace

NO_VERSION = "0.0.0"  # of a skill that does not say
MAX_ROWS = 100  # of each kind of count
MAX_FILE = 16 << 20  # bytes
MARK_SECONDS = 1.0  # that a list takes for audits; more are known when it is shown again


class LocalSite(Site):
    """The pages of `skc ui`."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.workspace = workspace
        self._catalog = LocalCatalog(workspace, self.audits)

    async def open(self, request: Request) -> Visit:
        return Visit(request, self, self._catalog)


class LocalCatalog:
    """The skills of a workspace. Each has one version: what its files are now."""

    def __init__(self, workspace: Workspace, audits: Cache[Audit | None]) -> None:
        self._workspace = workspace
        self._audits = audits

    def skills(self, prefix: str = "", after: str = "") -> Iterator[Skill]:
        for skill in sorted(asyncio.run(self._workspace.library().list()), key=lambda skill: skill.id):
            if skill.id > after and (not prefix or f"{skill.id}/".startswith(f"{prefix}/")):
                yield _describe(skill)

    def collections(self) -> dict[str, int]:
        collections = asyncio.run(self._workspace.library().collections())
        return {collection.path: collection.count for collection in collections}

    def skill(self, skill_id: str) -> Skill:
        document, directory = asyncio.run(self._load(SkillId(skill_id)))
        return _describe(document.descriptor, dict(document.extensions), directory)

    def files(self, version: Version) -> tuple[StoredFile, ...]:
        directory = self._directory(version)
        if directory is None:
            size = len(self._document(version))
            return (StoredFile("SKILL.md", size, ""),)
        return tuple(
            StoredFile(file.name, file.size, repr(file.stamp), os.access(file.path, os.X_OK))
            for file in list_files(directory)
        )

    def read_file(self, version: Version, path: str) -> bytes:
        directory = self._directory(version)
        if directory is None:
            if path != "SKILL.md":
                raise FileNotFound(path)
            return self._document(version)
        if all(file.name != path for file in list_files(directory)):
            raise FileNotFound(path)
        try:
            with os.fdopen(open_inside(directory, path), "rb") as file:
                return file.read(MAX_FILE)
        except OSError:
            raise FileNotFound(path) from None

    def find(self, task: str, limit: int, scope: Scope) -> FoundSkills:
        return self._workspace.find(task, limit, scope)

    def audit(self, version: Version) -> Audit | None:
        directory = self._directory(version)
        return None if directory is None else self._audit(version.skill, directory, MAX_AUDIT_BYTES)

    def mark(self, skills: Sequence[Skill]) -> Sequence[Skill]:
        """Return skills with the levels of their audits; those that there was no time for lack it for now."""
        folders, end = asyncio.run(self._find_folders()), monotonic() + MARK_SECONDS
        return [self._mark(skill, folders.get(skill.id), end) if is_own(skill) else skill for skill in skills]

    def _mark(self, skill: Skill, directory: str | None, end: float) -> Skill:
        level = ""
        with suppress(SkillcError, OSError):  # a folder that can't be read has no level
            audit = self._audit(skill.id, directory, MAX_QUICK_AUDIT, end) if directory else None
            level = (audit.level or NO_FINDINGS) if audit else ""
        return replace(skill, versions=tuple(replace(version, audit=level) for version in skill.versions))

    def _audit(self, skill_id: str, directory: str, limit: int, end: float = math.inf) -> Audit | None:
        """Return the audit of a folder up to a size; one that was not made before a time is not made."""
        files = list_files(directory)
        key = skill_id, _digest(directory, files)
        if sum(file.size for file in files) > limit or (key not in self._audits and monotonic() > end):
            return None
        return self._audits.get(key, lambda: audit_folder(directory, skill_id, notes=True))

    def review(self, version: Version) -> None:
        """Own skills need no review."""

    def usage(self, skill_id: str = "", since: str = "") -> Usage:
        filters = usage.Filters.parse(self._workspace.cwd, since or None)
        if skill_id:
            skills = [self._workspace.locate(skill_id, index=False)]
        else:
            skills = list(stored_skills(self._workspace.cwd))
        return count_usage(skills, filters)

    async def _find_folders(self) -> dict[SkillId, str]:
        return await (await self._workspace.library().snapshot()).directories()

    async def _load(self, skill_id: SkillId) -> tuple[SkillDocument, str | None]:
        snapshot = await self._workspace.library().snapshot()
        return await snapshot.load(skill_id), await snapshot.directory(skill_id)

    def _directory(self, version: Version) -> str | None:
        return asyncio.run(self._load(version.skill))[1]

    def _document(self, version: Version) -> bytes:
        """Return the text of a skill whose repository has no folders."""
        return asyncio.run(self._load(version.skill))[0].body.encode("utf-8", "replace")


def is_own(skill: Skill) -> bool:
    """Return whether a skill of this machine is none of those that come with skc."""
    return skill.latest is None or skill.latest.published_by != EMBEDDED


def count_usage(skills: list[FolderSkill], filters: usage.Filters) -> Usage:
    """Return what agents did with skills of this machine."""

    def label(skill: str, file: str) -> str:
        return f"{skill}: {file}" if len(skills) > 1 else file

    searches = usage.compute_stats(skills, "search", filters).data
    sections = usage.compute_stats(skills, "sections", filters).data
    totals = {skill.name: _total(skill, filters) for skill in skills}
    ranking = sorted(((n, c) for n, c in totals.items() if c), key=lambda row: (-row[1], row[0]))
    misses = ((search["query"], search["empty"]) for search in searches if search["empty"])
    unread: dict[str, list[tuple[int, str]]] = {}
    for skill in skills:
        for file, headings in _find_unread(skill, filters).items():
            unread[label(skill.name, file)] = headings
    return Usage(
        tuple(usage.count_by_day(skills, filters)),
        tuple(ranking[:MAX_ROWS]),
        tuple((e["section"], label(e["skill"], e["file"]), e["count"]) for e in sections[:MAX_ROWS]),
        unread,
        tuple(sorted(misses, key=lambda row: (-row[1], row[0]))[:MAX_ROWS]),
        sum(totals.values()),
    )


def _total(skill: FolderSkill, filters: usage.Filters) -> int:
    return sum(usage.compute_stats(skill, "commands", filters).data.values())


def _find_unread(skill: FolderSkill, filters: usage.Filters) -> dict[str, list[tuple[int, str]]]:
    try:
        headings = [(entry.file, entry.level, entry.heading) for entry in read_outline(skill)]
    except (SkillcError, OSError):  # a skill that can't be read has no outline
        return {}
    return usage.find_unread(headings, *usage.find_reads(skill, filters))


def _describe(
    skill: SkillDescriptor, extensions: dict[str, Any] | None = None, directory: str | None = None
) -> Skill:
    """Return a skill of a repository in the form of a registry's."""
    fields = {"name": skill.name, "description": skill.description, **(extensions or {})}
    if skill.metadata:
        fields["metadata"] = dict(skill.metadata)
    changed_at, digest = datetime.fromtimestamp(0, UTC), ""
    if directory is not None:
        main = os.path.join(directory, main_file(directory))
        changed_at = datetime.fromtimestamp(os.path.getmtime(main), UTC)
        digest = _digest(directory, list_files(directory))
    version = Version(
        skill.id, _version_of(skill), digest, fields, "", 0, changed_at, skill.source_name, directory or ""
    )
    return Skill(skill.id, (version,), {LATEST: version.version})


def _digest(directory: str, files: list[SourceFile]) -> str:
    """Return what changes when a file of a folder does."""
    stamps = [(file.name, file.stamp) for file in files]
    return sha256_hex(repr((directory, stamps)).encode("utf-8", "replace"))


def _version_of(skill: SkillDescriptor) -> str:
    try:
        return parse_version(str(skill.metadata.get("version") or NO_VERSION))
    except SkillcError:
        return NO_VERSION
