"""Sources that ask a server over HTTP: the Skills API, the index of a web site, a registry of ClawHub's kind.

    source = HttpSkillSource("https://skills.example.com/api", BearerAuth(token))
    skills = await source.list(SkillFilter(collection="extraction"))

The list is fetched as a whole and filtered here. It is cached, revalidated and served stale [D28]; see
`skillc.remotes`. Nothing is fetched before the first use, and no connection is held between uses.
"""

from __future__ import annotations

import asyncio
import builtins
import json
import logging
import os
import threading
import time
from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from typing import ClassVar

from skillc.errors import RepositoryUnavailable, SkillNotFound
from skillc.library.sources import source as base
from skillc.remotes import (
    Answer,
    Cache,
    ClawHubRemote,
    DiskCopy,
    Failure,
    HttpRemote,
    Listing,
    Remote,
    RemoteDocument,
    RemoteSkill,
    SiteRemote,
    SkillFolders,
    require_text,
    to_seconds,
)
from skillc.remotes.http import BearerAuth, HeaderAuth, Session
from skillc.skills import SkillId
from skillc.skills.document import read_main_file

LIST = "skills"  # the key of the list in the cache
LIST_FILE = ".list.json"
LIST_TIME_OUTS = 2  # a list of many pages may take this many time-outs as a whole

log = logging.getLogger("skillc.library")


class RemoteSource(base.SkillSource):
    """The skills of a remote through a cache, and in folders: what all sources of remotes share.

        <home>/.skillc/cache/<kind>/<key of the source>/<ID>/<version>/<name>/

    What has a version never changes. Other skills are fetched again after `cache_ttl` seconds, and the last
    one is used if that fails.
    """

    _copy: DiskCopy | None = None  # of the list, where that is worth keeping
    _listed: tuple[Listing, dict[SkillId, base.SkillDescriptor]] | None = None

    def __init__(
        self, name: str, remote: Remote, folders: SkillFolders, cache_ttl: float | timedelta
    ) -> None:
        self._cache = Cache(name, to_seconds(cache_ttl, "cache_ttl"))
        self._remote = remote
        self._folders = folders
        # Held by the thread that downloads a skill.
        self._locks: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)

    async def list(self, filter: base.SkillFilter = base.ALL) -> builtins.list[base.SkillDescriptor]:
        return [skill for skill in (await self._descriptors()).values() if filter.matches(skill)]

    async def collections(self) -> builtins.list[base.SkillCollection]:
        return base.derive_collections((await self._descriptors()).values())

    async def refresh(self) -> bool:
        """Fetch the list now; return whether it has changed. Other values are revalidated when used."""
        last: Listing | None = self._cache.peek(LIST)
        self._cache.expire()
        listing = await self._list()
        return last is None or last.skills != listing.skills

    async def cached_count(self) -> int | None:
        """Return the number of skills in the cached list; None before the first."""
        listing: Listing | None = self._cache.peek(LIST)
        return None if listing is None else len(listing.skills)

    @property
    def quarantined(self) -> int:
        """The number of entries of the last list that can't be used."""
        listing: Listing | None = self._cache.peek(LIST)
        return listing.skipped if listing else 0

    @property
    def cache_ttl(self) -> float:
        return self._cache.ttl

    @property
    def error(self) -> str | None:
        """The reason why a value in the cache could not be revalidated."""
        return self._cache.error

    @property
    def status(self) -> str:
        """`ok`, or `stale` while a value in the cache could not be revalidated."""
        return "stale" if self.error else "ok"

    async def diagnostics(self) -> builtins.list[base.SourceDiagnostic]:
        """Return why entries of the list were left out, and a warning where it is stale."""
        omissions = (await self._list()).omissions
        diagnostics = [base.SourceDiagnostic(o.path, o.code, o.severity, o.message) for o in omissions]
        if error := self.error:
            message = f"could not be refreshed ({error}); the last good answer is served"
            diagnostics.append(base.SourceDiagnostic("", "E200", "warning", message))
        return diagnostics

    async def _list(self) -> Listing:
        listing: Listing = await self._cache.get(LIST, self._ask, copy=self._copy)
        return listing

    def _ask(self, last: Answer | None) -> Answer:
        return self._remote.list(last)

    async def _descriptors(self) -> dict[SkillId, base.SkillDescriptor]:
        """Return the skills of the list, made once for each."""
        listing = await self._list()
        if self._listed is None or self._listed[0] is not listing:
            skills = sorted(listing.skills.items())
            self._listed = (listing, {skill_id: self._describe(skill) for skill_id, skill in skills})
        return self._listed[1]

    def _describe(self, skill: RemoteSkill) -> base.SkillDescriptor:
        """Return the descriptor of a skill; an unknown scope is remote."""
        known = skill.scope in list(base.SkillScope)
        return base.SkillDescriptor(
            skill.id,
            description=skill.description,
            scope=base.SkillScope(skill.scope) if known else base.SkillScope.REMOTE,
            requires_capabilities=skill.capabilities,
            metadata=skill.metadata,
        )

    def _make_folder(self, skill: RemoteSkill) -> str:
        """Return a folder with all files of a skill, verified; raises RepositoryUnavailable."""
        folder = self._folders.place(skill.id, skill.key or "files")
        with self._locks[folder]:
            if os.path.isdir(folder) and self._is_current(skill, folder):
                return folder
            try:
                return self._folders.make(folder, partial(self._remote.fetch, skill))
            except Failure as error:
                if skill.key or not os.path.isdir(folder):
                    raise RepositoryUnavailable(self._cache.name, str(error)) from None
                log.warning("skill '%s' is not refreshed: %s", skill.id, error)
                os.utime(os.path.dirname(folder))
        return folder

    def _is_current(self, skill: RemoteSkill, folder: str) -> bool:
        if skill.files:
            return self._folders.holds(folder, skill.files)
        age = time.time() - os.path.getmtime(os.path.dirname(folder))
        return bool(skill.key) or 0 <= age < self.cache_ttl


class ServerSource(RemoteSource):
    """What the sources of servers share.

    `time_out` is for connecting and for each wait, in seconds; a response as a whole may take twice that. A
    redirect to another host is followed if `allow_hosts` has it, without credentials.
    """

    _cache_name: ClassVar[str] = "sites"
    _plain: ClassVar[str] = ""  # why http, other than on this machine, is not asked

    def __init__(
        self,
        base_url: str,
        auth: BearerAuth | HeaderAuth | None = None,
        cache_ttl: float | timedelta = 60.0,
        *,
        time_out: float | timedelta = 10.0,
        name: str = "",
        allow_hosts: Iterable[str] = (),
    ) -> None:
        require_text(base_url, "base_url")
        if not isinstance(auth, BearerAuth | HeaderAuth | None):
            raise TypeError(f"auth must be a BearerAuth or a HeaderAuth, not {type(auth).__name__}")
        seconds = to_seconds(time_out, "time_out")
        session = Session.for_repository(
            base_url, auth, allow_hosts=allow_hosts, time_out=seconds, plain=self._plain
        )
        self.base_url = session.address
        self.name = name
        folders = SkillFolders.of(self._cache_name, self._key(session))
        super().__init__(name or self.base_url, self._make_remote(session, folders), folders, cache_ttl)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_url!r}, name={self.name!r})"

    def _make_remote(self, session: Session, folders: SkillFolders) -> Remote:
        raise NotImplementedError

    def _key(self, session: Session) -> str:
        """Return what tells this source from others on disk."""
        return self.base_url


class FolderSource(ServerSource):
    """The skills of a server that gives them as folders, downloaded when they are first used, and kept."""

    _plain = "a site is asked over https; http is for this machine alone"

    async def load(self, skill_id: SkillId) -> base.SkillDocument:
        skill_id = SkillId(skill_id)
        folder = await self.directory(skill_id)
        descriptor = (await self._descriptors())[skill_id]
        return base.read_document(descriptor, await asyncio.to_thread(read_main_file, folder))

    async def directory(self, skill_id: SkillId) -> str:
        """Return a folder with all files of a skill, verified.

        Raises RepositoryUnavailable, WrongDigest (E081), ArchiveRefused (E083) or AuditBlocked (E084).
        """
        skill = (await self._list()).skills.get(skill_id)
        if skill is None:
            raise SkillNotFound(skill_id)
        return await asyncio.to_thread(self._make_folder, skill)

    def _ask(self, last: Answer | None) -> Answer:
        answer = super()._ask(last)
        return answer if answer is last else Answer(answer.value.with_descriptions(), answer.etag)


class HttpSkillSource(ServerSource):
    """The skills of a server that speaks the Skills API: `/skills`, `/skills/{id}`, `/skill-collections`.

    Documents are cached by ID. `time_out` is for connecting and for each wait, in seconds; a response as a
    whole may take twice that. A redirect to another host is followed if `allow_hosts` has it, without
    credentials.
    """

    kind = "http"
    _cache_name = "http"
    _remote: HttpRemote

    async def load(self, skill_id: SkillId) -> base.SkillDocument:
        skill_id = SkillId(skill_id)
        ask = partial(self._remote.document, skill_id)
        document: RemoteDocument | None
        document = await self._cache.get(f"skills/{skill_id}", ask, is_document=True)
        if document is None:
            raise SkillNotFound(skill_id)
        return base.SkillDocument(self._describe(document.skill), document.body, document.extensions)

    async def directory(self, skill_id: SkillId) -> str | None:
        """Return a folder with all files of a skill, verified; None if the server has its text alone."""
        skill_id = SkillId(skill_id)
        ask = partial(self._remote.files, skill_id)
        skill = await self._cache.get(f"skills/{skill_id}/files", ask, is_document=True)
        return await asyncio.to_thread(self._make_folder, skill) if skill else None

    async def collections(self) -> builtins.list[base.SkillCollection]:
        """Return the collections of the listed skills, with the server's descriptions where it has some."""
        ask = self._cache.get("skill-collections", self._remote.collections, default=Answer({}))
        skills, descriptions = await asyncio.gather(self._descriptors(), ask)
        return base.derive_collections(skills.values(), descriptions)

    def bodies_at_hand(self) -> dict[str, str]:
        values = [value for value in self._cache.values() if isinstance(value, RemoteDocument)]
        return {str(value.skill.id): value.body for value in values}

    def _make_remote(self, session: Session, folders: SkillFolders) -> HttpRemote:
        return HttpRemote(session, folders)


class WellKnownSkillSource(FolderSource):
    """The skills of a site, whose `url` is that of the site or of its index; http is for loopback alone."""

    kind = "well-known"

    def _make_remote(self, session: Session, folders: SkillFolders) -> SiteRemote:
        return SiteRemote(session)


class ClawHubSkillSource(FolderSource):
    """The skills of a registry, whose `url` is its own or that of its API; http is for loopback alone.

    The list is many pages, so it is kept on disk as well; for each registry and each token there is another.
    """

    kind = "clawhub"

    def _make_remote(self, session: Session, folders: SkillFolders) -> ClawHubRemote:
        remote = ClawHubRemote(
            session,
            patience=session.time_out * LIST_TIME_OUTS,
            report=lambda diagnostic: log.warning("%s", diagnostic.line()),
        )
        path = os.path.join(folders.root, LIST_FILE)
        self._copy = DiskCopy(
            path, lambda listing: listing.raw, lambda data: remote.read(data).with_descriptions()
        )
        return remote

    def _key(self, session: Session) -> str:
        return json.dumps([self.kind, self.base_url, sorted(session.credentials.items())])
