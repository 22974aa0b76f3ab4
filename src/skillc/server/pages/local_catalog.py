"""Show one's own skills: all that a workspace's repositories have, as they are now; and what agents see."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from anyio import from_thread
from starlette.requests import Request
from starlette.responses import Response

from skillc import usage
from skillc.audit import Audit, Levels, audit_folder
from skillc.errors import FileNotFound, SkillcError
from skillc.gateway import read_outline
from skillc.index.skills import FoundSkills, Scope
from skillc.library import Skill as FolderSkill, stored_skills
from skillc.library.sources import EMBEDDED, SkillDescriptor, SkillDocument, SkillSource
from skillc.listing import ABSENT, CHARACTERS, CUT, NAME, ON_DEMAND, WHOLE, AgentListing
from skillc.registry.model import Skill, StoredFile, Version
from skillc.server.pages.catalog import MAX_AUDIT_BYTES, Usage
from skillc.server.pages.visit import Site, Visit
from skillc.skills import SkillId, SourceFile, list_files, open_inside
from skillc.skills.document import main_file
from skillc.startup import sha256_hex
from skillc.versions import LATEST, parse_version
from skillc.workspace import Workspace

NO_VERSION = "0.0.0"  # of a skill that does not say
MAX_ROWS = 100  # of each kind of count
MAX_FILE = 16 << 20  # bytes
MAX_SKILLS = 300  # of an agent's table; the others are counted
# What an agent shows of a skill, in the order of how much, with the level of its mark.
STATES = {
    WHOLE: ("whole", "good"),
    CUT: ("cut", "warn"),
    NAME: ("name alone", "warn"),
    ON_DEMAND: ("on demand", ""),
    ABSENT: ("not shown", "block"),
}
FIRST_TEMPLATES = ("base.html", "home.html", "macros.html", "row.html")


class LocalSite(Site):
    """The pages of `skc ui`."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.workspace = workspace
        self.levels = Levels()

    async def open(self, request: Request) -> Visit:
        return Visit(request, self, LocalCatalog(self))

    async def prepare(self) -> None:
        """Have all skills looked at, for the marks of lists, and compile what the first page needs."""
        with suppress(SkillcError, OSError):  # a page says what is wrong
            snapshot = await self.workspace.library().snapshot()
            folders = await snapshot.directories()
            own = (skill.id for skill in await snapshot.list() if skill.source_name != EMBEDDED)
            self.levels.find(((folders[name], name) for name in own if name in folders), first=False)
            for name in FIRST_TEMPLATES:
                self.environment.get_template(name)


class LocalCatalog:
    """The skills of a workspace, as one visit sees them. Each has one version: what its files are now."""

    def __init__(self, site: LocalSite) -> None:
        self._workspace = site.workspace
        self._audits = site.audits
        self._levels = site.levels
        self._snapshot: SkillSource | None = None

    def _ask(self, question: str, *arguments: object) -> Any:
        """Return what the library answers: all questions of a visit are about one state of it."""
        if self._snapshot is None:
            self._snapshot = from_thread.run(self._workspace.library().snapshot)
        return from_thread.run(getattr(self._snapshot, question), *arguments)

    def skills(self, prefix: str = "", after: str = "") -> Iterator[Skill]:
        for skill in self._ask("list"):
            if skill.id > after and (not prefix or f"{skill.id}/".startswith(f"{prefix}/")):
                yield _describe(skill)

    def collections(self) -> dict[str, int]:
        return {collection.path: collection.count for collection in self._ask("collections")}

    def skill(self, skill_id: str) -> Skill:
        document, directory = self._load(SkillId(skill_id))
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
        if directory is None or sum(file.size for file in self.files(version)) > MAX_AUDIT_BYTES:
            return None
        key = version.skill, version.digest
        return self._audits.get(key, lambda: audit_folder(directory, version.skill, notes=True))

    def mark(self, skills: Sequence[Skill]) -> Sequence[Skill]:
        folders = self._ask("directories")
        own = {skill.id: folders[skill.id] for skill in skills if is_own(skill) and skill.id in folders}
        levels = self._levels.find((folder, skill_id) for skill_id, folder in own.items())
        known = dict(zip(own, levels, strict=True))
        return [
            replace(skill, versions=tuple(replace(v, audit=known.get(skill.id, "")) for v in skill.versions))
            for skill in skills
        ]

    def review(self, version: Version) -> None:
        """Own skills need no review."""

    def usage(self, skill_id: str = "", since: str = "") -> Usage:
        filters = usage.Filters.parse(self._workspace.cwd, since or None)
        if skill_id:
            skills = [self._workspace.locate(skill_id, index=False)]
        else:
            skills = list(stored_skills(self._workspace.cwd))
        return count_usage(skills, filters)

    def _load(self, skill_id: SkillId) -> tuple[SkillDocument, str | None]:
        return self._ask("load", skill_id), self._ask("directory", skill_id)

    def _directory(self, version: Version) -> str | None:
        return self._load(version.skill)[1]

    def _document(self, version: Version) -> bytes:
        """Return the text of a skill whose repository has no folders."""
        return self._load(version.skill)[0].body.encode("utf-8", "replace")


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


# What agents see


def show_agents(visit: Visit) -> Response:
    """Show each agent that is here: how many of its skills the model sees whole, and each skill's state."""
    assert isinstance(visit.site, LocalSite)
    listings = visit.site.workspace.listing()
    return visit.page(
        "agents.html", agents=[_describe_agent(each) for each in listings.agents], states=STATES
    )


def list_overflows(visit: Visit) -> list[AgentListing]:
    """Return the agents of this machine whose listings are too full to be shown whole."""
    assert isinstance(visit.site, LocalSite)
    return [listing for listing in visit.site.workspace.listing().agents if listing.overflows]


def describe_views(visit: Visit, skill_id: str) -> dict[str, Any]:
    """Return what each agent sees of a skill, and whether it is in a store: only there it can be changed."""
    assert isinstance(visit.site, LocalSite)
    workspace = visit.site.workspace
    views = [
        (listing.display, skill)
        for listing in workspace.listing().agents
        for skill in listing.skills
        if skill.skill == skill_id
    ]
    is_stored = any(skill.name == skill_id for skill in stored_skills(workspace.cwd))
    return {"views": views, "states": STATES, "is_stored": is_stored}


def _describe_agent(listing: AgentListing) -> dict[str, Any]:
    counts = {state: sum(skill.state == state for skill in listing.skills) for state in STATES}
    order = {state: number for number, state in enumerate((ABSENT, NAME, CUT, WHOLE, ON_DEMAND))}
    skills = sorted(listing.skills, key=lambda skill: (order.get(skill.state or "", 9), skill.id))
    return {
        "listing": listing,
        "counts": {state: count for state, count in counts.items() if count},
        "tokens": listing.used // CHARACTERS,
        "skills": skills[:MAX_SKILLS],
        "more": max(0, len(skills) - MAX_SKILLS),
    }
