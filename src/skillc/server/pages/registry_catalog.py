"""Show the skills of a registry as one caller sees them, by session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from starlette.requests import Request

from skillc import usage
from skillc.audit import Asks, Audit, Finding, find_rule
from skillc.errors import SkillcError
from skillc.index.skills import FoundSkills, Scope
from skillc.registry import PUBLIC, CallerSource, CollectionCounts, DayUse
from skillc.registry.model import APPROVED, Caller, Review, Skill, Version
from skillc.server.caches import Cache
from skillc.server.pages.catalog import MAX_AUDIT_BYTES, Usage
from skillc.server.pages.visit import Site, Visit
from skillc.server.request_log import CALLER
from skillc.server.service import Service
from skillc.server.signin.sessions import read_cookie
from skillc.server.uploads import inspect_files, read_members
from skillc.skills import find_headings
from skillc.skills.document import parse

MAX_OUTLINED = 20  # skills whose unread sections one page lists
MAX_OUTLINED_FILES = 30  # of one skill
MAX_OUTLINED_BYTES = 1 << 20
MAX_HEADINGS = 50_000  # of outlines that are kept; the longest unused go first
MAX_ROWS = 1000  # sections that are compared with outlines

Heading = tuple[str, int, str]  # file, level and text


class RegistryCatalog(CallerSource):
    """A registry as one caller sees it."""

    def __init__(self, site: RegistrySite, caller: Caller) -> None:
        super().__init__(site.service.registry, caller)
        self._site = site
        self._service = site.service

    def collections(self) -> dict[str, int]:
        return self._site.counts.count(self._caller)

    def find(self, task: str, limit: int, scope: Scope) -> FoundSkills:
        return self._service.search(self._caller, task, limit, scope)

    def audit(self, version: Version) -> Audit | None:
        """Return the audit that was stored when a version was published, or one that is made now."""
        report = self._registry.audit(self._caller, version) if version.audit else None
        if report is not None:
            return read_report(version.skill, report)
        if sum(file.size for file in self.files(version)) > MAX_AUDIT_BYTES:
            return None
        key = version.skill, version.digest
        return self._site.audits.get(key, lambda: self._make_audit(version))

    def mark(self, skills: Sequence[Skill]) -> Sequence[Skill]:
        """Return skills as they are: versions have the level that they were published with."""
        return skills

    def _make_audit(self, version: Version) -> Audit | None:
        archive = self._registry.read_archive(self._caller, version)
        contents = {member.name: data for member, data in read_members(archive)}
        return inspect_files(self._service.workplace, version.skill, contents)

    def review(self, version: Version) -> Review | None:
        return self._registry.read_review(self._caller, version) if version.status != APPROVED else None

    def usage(self, skill_id: str = "", since: str = "") -> Usage:
        first = date.fromisoformat(since) if since else None
        stats = self._service.registry.usage.stats(self._caller, skill_id, first, MAX_ROWS)
        ids = [skill_id] if skill_id else [row.skill for row in stats.skills[:MAX_OUTLINED]]
        unread: dict[str, list[tuple[int, str]]] = {}
        for name in ids if stats.count else ():
            places = {(row.section, row.file) for row in stats.sections if row.skill == name}
            for file, headings in self._find_unread(name, places).items():
                unread[file if skill_id else f"{name}: {file}"] = headings
        return Usage(
            _fill_days(stats.days),
            tuple((row.skill, row.count) for row in stats.skills if not skill_id),
            tuple(
                (row.section, row.file if skill_id else f"{row.skill}: {row.file}", row.count)
                for row in stats.sections
                if row.section
            ),
            unread,
            tuple((row.query, row.count) for row in stats.misses if row.query),
            stats.count,
            sum(row.count for row in stats.misses if not row.query),
        )

    def _find_unread(self, skill_id: str, places: set[tuple[str, str]]) -> dict[str, list[tuple[int, str]]]:
        """Return the sections of a skill that no agent read, by file."""
        try:
            version = self.skill(skill_id).latest
            headings = self._outline(version) if version is not None else []
        except SkillcError:  # it was deleted, or is hidden now
            return {}
        sections = {(section, file) for section, file in places if section}
        return usage.find_unread(headings, sections, [file for section, file in places if not section])

    def _outline(self, version: Version) -> list[Heading]:
        return self._site.outlines.get((version.skill, version.digest), lambda: self._make_outline(version))

    def _make_outline(self, version: Version) -> list[Heading]:
        files = [file for file in self.files(version) if file.path.lower().endswith(".md")]
        outline: list[Heading] = []
        room = MAX_OUTLINED_BYTES
        for file in files[:MAX_OUTLINED_FILES]:
            room -= file.size
            if room >= 0:
                document = parse(self.read_file(version, file.path))
                headings = find_headings(document.data, document.body)
                outline += [(file.path, heading.level, heading.text) for heading in headings]
        return outline


def read_report(skill_id: str, report: Mapping[str, Any]) -> Audit:
    """Return an audit from its stored report; rules that are not known any more are left out."""
    asks = report.get("asks") or {}
    findings = []
    for entry in report.get("findings") or ():
        rule = find_rule(str(entry.get("rule")))
        if rule is not None:
            place = str(entry.get("file", "")), int(entry.get("line", 1)), str(entry.get("fingerprint", ""))
            findings.append(Finding(rule, str(entry.get("level")), str(entry.get("message", "")), *place))
    return Audit(
        skill_id,
        "",
        Asks(**{kind: tuple(map(str, values)) for kind, values in asks.items() if kind in Asks.__slots__}),
        tuple(findings),
    )


def _fill_days(days: tuple[DayUse, ...]) -> tuple[tuple[str, int], ...]:
    """Return a count for each day from the first to the last."""
    counts = {each.day: each.count for each in days}
    first, last = min(counts, default=None), max(counts, default=None)
    if first is None or last is None:
        return ()
    every = (first + timedelta(days=number) for number in range((last - first).days + 1))
    return tuple((day.isoformat(), counts.get(day, 0)) for day in every)


class RegistrySite(Site):
    """The pages of a registry."""

    service: Service

    def __init__(self, service: Service) -> None:
        super().__init__()
        self.service = service
        self.url = service.settings.url
        self.counts = CollectionCounts(service.registry)  # how many skills collections have
        self.outlines: Cache[list[Heading]] = Cache(MAX_HEADINGS, len)  # by skill and digest

    async def open(self, request: Request) -> Visit:
        """Return the visit of a request, by its cookie; without one, visitors see what all may read."""
        self.service.limit(request)
        signed_in = await self.service.visitor(request)
        caller = signed_in.caller if signed_in else PUBLIC if self.service.settings.public_read else None
        request.scope[CALLER] = caller.token or caller.subject if caller else None
        catalog = RegistryCatalog(self, caller) if caller is not None else None
        session = read_cookie(request, self.url) if signed_in else ""
        return Visit(request, self, catalog, caller, session, signed_in)
