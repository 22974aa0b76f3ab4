"""A source of the skills of a registry that speaks the ClawHub v1 protocol.

    source = ClawHubSkillSource("https://registry.example.com")
    skills = await source.list()

The list is many pages, so it is kept on disk as well, for `cache_ttl` seconds and for when the registry is
away; for each registry and each token there is another one. A skill is downloaded when it is first used, at
its latest version, and verified by the digests that the registry has for its files. A slug is an ID with dots
for slashes.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

from skillc import atomic, paths
from skillc.library import source as base
from skillc.library.http.source import MAX_LIST, CacheEntry, Resource
from skillc.library.http.wire import MAX_DIAGNOSTICS
from skillc.library.site.folders import FolderListing, FolderSource
from skillc.remotes import Failure, HubSkill, clawhub as wire
from skillc.skills import SkillId, to_segment
from skillc.startup import sha256_hex
from skillc.text import cut, one_line, utf8_text

if TYPE_CHECKING:
    from skillc.remotes import Response

MAX_ANSWER = 8 << 20  # bytes of a page, or of what is said about a version
MAX_DISCOVERY = 1 << 16
MAX_SLUG = 200
MAX_TIME_OUTS = 2  # a list as a whole may take this many time-outs
FILE = ".list.json"
REFUSALS = (401, 403, 429)  # answers that say nothing about whether there is a registry
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9][A-Za-z0-9_-]*)*")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,127}")

log = logging.getLogger("skillc.library")

HubEntry = tuple[HubSkill, str]  # a skill, and the base of the API that has it
HubListing = FolderListing[HubEntry]


@dataclass(frozen=True, slots=True)
class _Catalog:
    """A list as a registry gave it; `is_cut` if there is more than is taken."""

    base: str
    skills: Sequence[HubSkill]
    is_cut: bool = False


class ClawHubSkillSource(FolderSource[HubEntry]):
    """The skills of a registry, whose `url` is its own or that of its API; http is for loopback alone."""

    kind = "clawhub"
    _is_due = False  # whether the list on disk does not count, however new it is

    def __repr__(self) -> str:
        return f"ClawHubSkillSource({self.base_url!r}, name={self.name!r})"

    async def refresh(self) -> bool:
        self._is_due = True
        return await super().refresh()

    async def _list(self) -> HubListing:
        listing: HubListing = await self._get(Resource(self._list_path, lambda data: data, MAX_LIST))
        self.quarantined = listing.skipped
        return listing

    async def _ask(self, resource: Resource, old: CacheEntry | None) -> CacheEntry:
        """Return the list: that on disk while it is new, else the registry's; raises Failure without any."""
        catalog, age = (None, 0.0) if old else self._read_catalog()
        now = time.monotonic()
        if catalog and age < self.cache_ttl and not self._is_due:
            return CacheEntry(_make_listing(catalog), expires=now + self.cache_ttl - age)
        try:
            async with asyncio.timeout(self.time_out * MAX_TIME_OUTS):
                new = await self._fetch_catalog()
        except (Failure, TimeoutError) as error:
            reason = str(error) or f"no whole list in {self.time_out * MAX_TIME_OUTS:g} s"
            if catalog is None:
                raise Failure(reason) from None
            return self._fall_back(resource, CacheEntry(_make_listing(catalog)), reason)
        self._is_due = False
        self._write_catalog(new)
        return CacheEntry(_make_listing(new), expires=time.monotonic() + self.cache_ttl)

    async def _fetch_catalog(self) -> _Catalog:
        address = await self._find_base()
        skills: list[HubSkill] = []
        cursors = [""]
        left = MAX_LIST
        while len(cursors) <= wire.MAX_PAGES and len(skills) < wire.MAX_SKILLS:
            response = await self._ask_for(wire.list_address(address, cursors[-1]), MAX_ANSWER)
            left -= len(response.data)
            page = wire.read_page(_parse(response, "the list of skills"))
            if page is None or left < 0:
                what = "the answer is no list of skills" if page is None else "the list of skills is too long"
                raise Failure(what)
            skills += page.skills
            if not page.cursor:
                break
            if page.cursor in cursors:
                raise Failure("the pages of the list lead in a circle")
            cursors.append(page.cursor)
        else:
            return _Catalog(address, skills[: wire.MAX_SKILLS], is_cut=True)
        return _Catalog(address, skills[: wire.MAX_SKILLS], len(skills) > wire.MAX_SKILLS)

    async def _find_base(self) -> str:
        """Return the base of the API: where the host says, else below the registry's own address."""
        root = wire.registry_root(self.base_url)
        if self.base_url == wire.api_base(root):
            return self.base_url
        for address in wire.discovery_addresses(self.base_url):
            response = await self._ask_for(address, MAX_DISCOVERY)
            if response.status in REFUSALS or response.status >= 500:
                raise Failure(f"status {response.status}")
            try:
                found = wire.read_base(_parse(response, ""), address)
            except Failure:
                continue  # there is nothing, or a page for people
            if found:
                return found
        return wire.api_base(root)

    def _version_of(self, item: HubEntry) -> str:
        skill, _ = item
        return sha256_hex(f"{skill.owner}/{skill.slug}@{skill.version}".encode())[:32]

    def _write(self, item: HubEntry, folder: str) -> None:
        skill, address = item
        about = self._get_json(skill.address(address), skill)
        wire.check_moderation(skill.slug, about, lambda diagnostic: log.warning("%s", diagnostic.line()))
        version = self._get_json(skill.version_address(address), skill)
        wire.write_version(skill, address, version, folder, self._get_file)

    def _get_json(self, url: str, skill: HubSkill) -> Any:
        return _parse(self._get_file(url, MAX_ANSWER), f"'{skill.slug}'")

    def _cache_folder(self) -> str:
        words = json.dumps([self.kind, self.base_url, sorted(self._credentials.items())])
        return os.path.join(paths.cache_directory(), "sites", sha256_hex(words.encode())[:16])

    def _read_catalog(self) -> tuple[_Catalog | None, float]:
        """Return the list on disk and its age in seconds; None where there is none that can be read."""
        file = os.path.join(self._cache_folder(), FILE)
        try:
            data = json.loads(paths.read_regular(file, MAX_LIST))
            skills = [HubSkill(*map(wire.text_of, words)) for words in data["skills"]]
            catalog = _Catalog(wire.text_of(data["base"]), skills, data["is_cut"] is True)
            age = time.time() - os.path.getmtime(file)
        except (OSError, ValueError, RecursionError, TypeError, KeyError):
            return None, 0.0
        return catalog, age if age >= 0 else self.cache_ttl  # a clock that was set back

    def _write_catalog(self, catalog: _Catalog) -> None:
        """Keep a list; a cache that can't be written is only a warning."""
        folder = self._cache_folder()
        skills = [astuple(skill) for skill in catalog.skills]
        data = {"base": catalog.base, "is_cut": catalog.is_cut, "skills": skills}
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            atomic.write(os.path.join(folder, FILE), json.dumps(data).encode(), private=True)
        except OSError as error:
            log.warning("the cache can't be written: %s", error.strerror)


def _parse(response: Response, what: str) -> Any:
    if response.status != 200:
        raise Failure(f"status {response.status} for {what}")
    try:
        return json.loads(response.data)
    except (ValueError, RecursionError):
        raise Failure(f"the answer for {what} is not JSON") from None


def _make_listing(catalog: _Catalog) -> HubListing:
    """Return a list with the skills that can be used; the others are left out with the reason [D25]."""
    listing = HubListing()
    for skill in catalog.skills:
        skill_id = _to_id(skill.slug)
        problem = _find_problem(skill, skill_id, listing)
        if problem or skill_id is None:
            listing.skipped += 1
            if listing.skipped <= MAX_DIAGNOSTICS:
                label, code = cut(one_line(skill.slug), 80), "E011" if skill_id else "E010"
                listing.diagnostics.append(base.SourceDiagnostic(label, code, "error", problem))
            continue
        description = utf8_text(skill.summary, "replace")
        listing.skills[skill_id] = base.SkillDescriptor(
            skill_id, description=description, scope=base.SkillScope.REMOTE
        )
        listing.entries[skill_id] = (skill, catalog.base)
    if catalog.is_cut:
        message = f"it has more than the {len(catalog.skills)} skills that are listed; 'skc add' takes others"
        listing.diagnostics.append(base.SourceDiagnostic("", "E200", "warning", message))
    listing.skills = dict(sorted(listing.skills.items()))
    return listing


def _find_problem(skill: HubSkill, skill_id: SkillId | None, listing: HubListing) -> str:
    if skill_id is None:
        return "its slug can't be an ID"
    if skill_id in listing.skills:
        return "listed twice; the first counts"
    if not _VERSION.fullmatch(skill.version):
        return "it has no version that can be downloaded"
    return "" if skill.summary.strip() else "it has no description"


def _to_id(slug: str) -> SkillId | None:
    """Return the ID for a slug; None for one that no registry should have."""
    if len(slug) > MAX_SLUG or not _SLUG.fullmatch(slug):
        return None
    return SkillId("/".join(map(to_segment, slug.split("."))))
