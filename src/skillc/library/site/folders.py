"""A source whose skills are downloaded as folders when they are first used, and kept.

    <home>/.skillc/cache/sites/<key of the source>/<ID with + for />/<version>/<name>/

What has a version never changes. Other skills are downloaded again after `cache_ttl` seconds, and the last
one is used if that fails.
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
from typing import TYPE_CHECKING, Generic, TypeVar
from urllib.parse import urlsplit

from skillc import __version__, atomic, paths
from skillc.errors import RepositoryUnavailable, SkillNotFound
from skillc.library import source as base
from skillc.library.http.source import HttpSkillSource
from skillc.library.http.wire import Listing
from skillc.library.stores import folder_name
from skillc.remotes import LOOPBACK, BearerAuth, Failure, HeaderAuth, evict, host_of
from skillc.skills import SkillId, parse, read_main_file, read_metadata
from skillc.startup import sha256_hex
from skillc.text import one_line

if TYPE_CHECKING:
    from skillc.remotes import Response

OWN_FIELDS = ("name", "description", "metadata", "requires_capabilities")

log = logging.getLogger("skillc.library")

Item = TypeVar("Item")  # a server's entry for one skill, as it lists them


@dataclass(slots=True)
class FolderListing(Listing, Generic[Item]):
    """A list of skills, with what it says about each."""

    entries: dict[SkillId, Item] = field(default_factory=dict)


class FolderSource(HttpSkillSource, Generic[Item]):
    """The skills of a server at `url`; http is for loopback alone. Says in subclasses how one is written."""

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
        self._problem = self._problem or _refuse_plain(self.base_url)
        self._mutex = threading.Lock()  # held by the thread that downloads

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

        Raises RepositoryUnavailable, WrongDigest (E081), ArchiveRefused (E083) or AuditBlocked (E084).
        """
        item = (await self._list()).entries.get(skill_id)
        if item is None:
            raise SkillNotFound(skill_id)
        return await asyncio.to_thread(self._make_skill_folder, SkillId(skill_id), item)

    async def collections(self) -> list[base.SkillCollection]:
        return base.derive_collections((await self._list()).skills.values(), {})

    async def _list(self) -> FolderListing[Item]:
        raise NotImplementedError

    def _version_of(self, item: Item) -> str:
        """Return what names a version on disk; empty for a skill that may change under its name."""
        raise NotImplementedError

    def _write(self, item: Item, folder: str) -> None:
        """Download a skill into its folder, whole or not at all; raises Failure."""
        raise NotImplementedError

    def _cache_folder(self) -> str:
        key = sha256_hex(self.base_url.encode("utf-8", "replace"))[:16]
        return os.path.join(paths.cache_directory(), "sites", key)

    def _make_skill_folder(self, skill_id: SkillId, item: Item) -> str:
        name = self._version_of(item)
        skill = os.path.join(self._cache_folder(), folder_name(skill_id))
        version = os.path.join(skill, name or "files")
        folder = os.path.join(version, skill_id.name)
        with self._mutex:
            if os.path.isdir(folder) and (name or self._is_fresh(version)):
                return folder
            os.makedirs(version, mode=0o700, exist_ok=True)
            atomic.sweep(version)
            try:
                self._write(item, folder)
            except Failure as error:
                if not os.path.isdir(folder):
                    raise RepositoryUnavailable(self.name or self.base_url, str(error)) from None
                log.warning("skill '%s' is not refreshed: %s", skill_id, error)
            os.utime(version)
        evict(skill, {os.path.basename(version)}, atomic.ABANDONED_AFTER)
        return folder

    def _is_fresh(self, version: str) -> bool:
        return 0 <= time.time() - os.path.getmtime(version) < self.cache_ttl

    def _get_file(self, url: str, limit: int) -> Response:
        """Return the answer with a file; raises Failure."""
        response = asyncio.run(self._ask_for(url, limit))
        if response.status != 200:
            raise Failure(f"status {response.status} for '{one_line(url)}'")
        return response

    async def _ask_for(self, url: str, limit: int, accept: str = "*/*") -> Response:
        """Ask for an address that a server named: of a host that may be asked; raises Failure.

        Credentials are for the source's own host alone.
        """
        from skillc.remotes import fetch  # httpx2 is slow to import

        refusal = self._problem or self._hosts.refusal(url) or _refuse_plain(url)
        if refusal:
            raise Failure(refusal)
        own = urlsplit(url).scheme == urlsplit(self.base_url).scheme and host_of(url) == host_of(
            self.base_url
        )
        headers = {"Accept": accept, "Accept-Encoding": "identity", "User-Agent": f"skillc/{__version__}"}
        return await fetch(
            *(url, headers, self._credentials if own else {}, self.time_out, limit),
            hosts=self._hosts,
            secure=True,
            resend=self._resend,
        )


def _refuse_plain(url: str) -> str:
    """Return why an address is not asked that is neither https nor on this machine; empty if it is."""
    parts = urlsplit(url)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK):
        return ""
    return "a site is asked over https; http is for this machine alone"
