"""Skills in a git repository: those in the folder that is its checkout."""

from __future__ import annotations

import asyncio
import builtins
import os
import re

from skillc.index.skills.find import Part
from skillc.library.descriptors import (
    SkillCollection,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    SkillScope,
)
from skillc.library.filesystem import FilesystemSkillSource, FilesystemSnapshot
from skillc.library.git.checkouts import Checkouts, State
from skillc.library.git.config import GitSkillConfig
from skillc.library.source import ALL, SkillSource, SourceDiagnostic
from skillc.skills import SkillId


class GitSkillSource(SkillSource):
    """The skills of a git repository. Nothing is fetched before the first question.

    A branch is looked at again when `refresh_interval` has passed; while one thread does, the others
    are served what there is. When that fails, the last good checkout is served, `status` is `stale`
    and `error` says why. Tags and commits are never fetched again.
    """

    kind = "git"

    def __init__(self, config: GitSkillConfig) -> None:
        self.config = config
        self._checkouts = Checkouts(config)
        self._state = State()
        self._inner: tuple[str, FilesystemSkillSource] | None = None

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        return await (await self._source()).list(filter)

    async def load(self, skill_id: SkillId) -> SkillDocument:
        return await (await self._source()).load(skill_id)

    async def collections(self) -> builtins.list[SkillCollection]:
        return await (await self._source()).collections()

    async def diagnostics(self) -> builtins.list[SourceDiagnostic]:
        """What was repaired and what is quarantined; and that the checkout is old, when it is."""
        found = await (await self._source()).diagnostics()
        if self.error:
            found = [*found, SourceDiagnostic("", "E200", "warning", self.error)]
        return found

    async def parts(self, name: str) -> builtins.list[Part]:
        """What can be searched here: the checkout."""
        return await (await self._source()).parts(name)

    async def directory(self, skill_id: SkillId) -> str:
        """The folder of a skill, which stays for an hour after the repository has moved on."""
        return await (await self._source()).directory(skill_id)

    async def directories(self) -> dict[SkillId, str]:
        """The folders of all skills, which stay as long."""
        return await (await self._source()).directories()

    async def refresh(self) -> bool:
        """Look for a new commit of a branch now; gives whether there is one."""
        before = self._checkouts.state().commit
        await asyncio.to_thread(self._bring_up_to_date, True)
        return self._state.commit != before

    async def known(self) -> int | None:
        """How many skills there are without looking at the remote; None before the first checkout."""
        commit = self._checkouts.state().commit
        return len(await self._folder_of(commit).list()) if commit else None

    @property
    def commit(self) -> str | None:
        """The commit that was served last."""
        return self._state.commit or None

    async def snapshot(self) -> FilesystemSnapshot:
        """Return the checkout as it is now, with a warning if it is stale."""
        snapshot = await (await self._source()).snapshot()
        stale = [SourceDiagnostic("", "E200", "warning", self.error)] if self.error else []
        return snapshot.with_diagnostics(stale)

    @property
    def status(self) -> str:
        """`stale` when the last look at the remote failed, else `ok`."""
        return "stale" if self._state.error else "ok"

    @property
    def error(self) -> str | None:
        """Why the last refresh failed, if it did."""
        return self._state.error or None

    @property
    def quarantined(self) -> int:
        """How many skills were quarantined at the last look."""
        return self._inner[1].quarantined if self._inner else 0

    def __repr__(self) -> str:
        return f"GitSkillSource({self.config!r})"

    async def _source(self) -> FilesystemSkillSource:
        return await asyncio.to_thread(self._bring_up_to_date)

    def _bring_up_to_date(self, now: bool = False) -> FilesystemSkillSource:
        self._state = state = self._checkouts.current(now)
        return self._folder_of(state.commit)

    def _folder_of(self, commit: str) -> FilesystemSkillSource:
        inner = self._inner
        if inner is not None and inner[0] == commit:
            return inner[1]
        parts = re.split(r"[/\\]", self.config.skills_root or "")
        root = os.path.join(self._checkouts.folder(commit), *parts)
        if not os.path.isdir(root):
            raise self._checkouts.unavailable(f"skills_root '{self.config.skills_root}' not found in repo")
        source = FilesystemSkillSource(root, SkillScope.REMOTE, strict=self.config.strict, required=True)
        self._inner = (commit, source)
        return source
