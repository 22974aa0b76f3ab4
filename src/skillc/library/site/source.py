"""A source of the skills of a web site that has an index of them (well-known discovery).

    source = WellKnownSkillSource("https://skills.example.com")
    skills = await source.list()

The index is cached, revalidated and served stale as the list of an HTTP server is [D28]. A skill is
downloaded when it is first used, as a folder, verified by the digest that the index has for it:

    <home>/.skillc/cache/sites/<key of the site>/<name>/<digest>/<name>/

In the older form there are no digests; such a skill is downloaded again after `cache_ttl` seconds, and the
last one is used if that fails.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from skillc import __version__, atomic, paths
from skillc.errors import RepositoryUnavailable, SkillNotFound, require_extra
from skillc.library import source as base
from skillc.library.addresses import LOOPBACK
from skillc.library.copies import evict
from skillc.library.hosts import host_of
from skillc.library.http.source import UNKNOWN, HttpSkillSource, Resource
from skillc.library.http.wire import BearerAuth, Failure, HeaderAuth, Listing
from skillc.library.site.index import Entry, index_addresses, read_index, write_entry
from skillc.skills import SkillId, parse, read_main_file, read_metadata
from skillc.startup import sha256_hex
from skillc.text import count_of, one_line, utf8_text

if TYPE_CHECKING:
    from skillc.library.http.client import Response

MAX_INDEX = 16 << 20  # bytes
OWN_FIELDS = ("name", "description", "metadata", "requires_capabilities")

log = logging.getLogger("skillc.library")


@dataclass(slots=True)
class SiteListing(Listing):
    """An index as a list of skills, with what it says about each."""

    entries: dict[str, Entry] = field(default_factory=dict)


class WellKnownSkillSource(HttpSkillSource):
    """The skills of a site, whose `url` is that of the site or of its index; http is for loopback alone."""

    kind = "well-known"
    is_secure = True

    def __init__(
        self,
        url: str,
        auth: BearerAuth | HeaderAuth | None = None,
        cache_ttl: float | timedelta = 60.0,
        *,
        time_out: float | timedelta = 10.0,
        name: str = "",
        allow_hosts: Iterable[str] = (),
    ) -> None:
        super().__init__(url, auth, cache_ttl, time_out=time_out, name=name, allow_hosts=allow_hosts)
        parts = urlsplit(self.base_url)
        if parts.scheme == "http" and parts.hostname not in LOOPBACK:
            self._problem = self._problem or "a site is asked over https; http is for this machine alone"
        self._mutex = threading.Lock()  # held by the thread that downloads

    def __repr__(self) -> str:
        return f"WellKnownSkillSource({self.base_url!r}, name={self.name!r})"

    async def load(self, skill_id: SkillId) -> base.SkillDocument:
        skill_id = SkillId(skill_id)
        folder = await self.directory(skill_id)
        descriptor = (await self._list()).skills[skill_id]
        document = parse(await asyncio.to_thread(read_main_file, folder))
        body = document.data[document.body :].decode("utf-8", "replace").lstrip("\r\n")
        fields = read_metadata(document, descriptor.name).fields
        extensions = {key: value for key, value in fields.items() if key not in OWN_FIELDS}
        return base.SkillDocument(descriptor, body, extensions)

    async def directory(self, skill_id: SkillId) -> str:
        """Return a folder with all files of a skill, verified.

        Raises RepositoryUnavailable, WrongDigest (E081) or ArchiveRefused (E083).
        """
        listing = await self._list()
        entry = listing.entries.get(skill_id)
        if entry is None:
            raise SkillNotFound(skill_id)
        return await asyncio.to_thread(self._make_site_folder, entry)

    async def collections(self) -> list[base.SkillCollection]:
        return base.derive_collections((await self._list()).skills.values(), {})

    async def _list(self) -> SiteListing:
        """Return the index: of the address that had it last, else of the first that has one."""
        for address in dict.fromkeys((self._list_path, *index_addresses(self.base_url))):
            if "://" in address:
                read = partial(_read_listing, address)
                resource = Resource(address, read, MAX_INDEX, absent=None, statuses=UNKNOWN, is_optional=True)
                listing: SiteListing | None = await self._get(resource)
                if listing is not None:
                    self._list_path, self.quarantined = address, listing.skipped
                    return listing
        reason = "there is no index of skills (.well-known/agent-skills/index.json)"
        if self.base_url.endswith("/marketplace.json"):
            reason += "; of a marketplace without one, add the git repositories that it names"
        raise RepositoryUnavailable(self.name or self.base_url, reason)

    def _make_site_folder(self, entry: Entry) -> str:
        key = sha256_hex(self.base_url.encode("utf-8", "replace"))[:16]
        skill = os.path.join(paths.cache_directory(), "sites", key, entry.name)
        version = os.path.join(skill, entry.digest.partition(":")[2] or "files")
        folder = os.path.join(version, entry.name)
        with self._mutex:
            if os.path.isdir(folder) and (entry.digest or self._is_fresh(version)):
                return folder
            os.makedirs(version, mode=0o700, exist_ok=True)
            atomic.sweep(version)
            try:
                write_entry(entry, folder, self._get_file)
            except Failure as error:
                if not os.path.isdir(folder):
                    raise RepositoryUnavailable(self.name or self.base_url, str(error)) from None
                log.warning("skill '%s' is not refreshed: %s", entry.name, error)
            os.utime(version)
        evict(skill, {os.path.basename(version)}, atomic.ABANDONED_AFTER)
        return folder

    def _is_fresh(self, version: str) -> bool:
        return 0 <= time.time() - os.path.getmtime(version) < self.cache_ttl

    def _get_file(self, url: str, limit: int) -> Response:
        with require_extra("http"):
            from skillc.library.http.client import fetch  # httpx2 is an extra
        refusal = self._problem or self._hosts.refusal(url)
        if refusal:
            raise Failure(refusal)
        own = urlsplit(url).scheme == urlsplit(self.base_url).scheme and host_of(url) == host_of(
            self.base_url
        )
        headers = {"Accept": "*/*", "Accept-Encoding": "identity", "User-Agent": f"skillc/{__version__}"}
        credentials = self._credentials if own else {}
        response = asyncio.run(
            fetch(
                *(url, headers, credentials, self.time_out, limit),
                hosts=self._hosts,
                secure=True,
                resend=self._resend,
            )
        )
        if response.status != 200:
            raise Failure(f"status {response.status} for '{one_line(url)}'")
        return response


def _read_listing(address: str, data: Any) -> SiteListing | None:
    """Return an index as a list; None for what is none. A skill without a description is left out [D25]."""
    index = read_index(data, address)
    if index is None or index.other_schema is not None:
        return None
    listing = SiteListing(skipped=index.omissions)
    if index.omissions:
        message = f"{count_of(index.omissions, 'entry', 'entries')} left out, not in the format of an index"
        listing.diagnostics.append(base.SourceDiagnostic(address, "E010", "error", message))
    for entry in index.entries:
        if not entry.description.strip() or entry.name in listing.entries:
            reason = (
                "listed twice; the first counts" if entry.description.strip() else "it has no description"
            )
            listing.diagnostics.append(base.SourceDiagnostic(entry.name, "E011", "error", reason))
            listing.skipped += 1
            continue
        skill_id = SkillId(entry.name)
        description = utf8_text(entry.description, "replace")
        listing.skills[skill_id] = base.SkillDescriptor(
            skill_id, description=description, scope=base.SkillScope.REMOTE
        )
        listing.entries[skill_id] = entry
    listing.skills = dict(sorted(listing.skills.items()))
    return listing
