"""A source of the skills in a git repository: those in the folder that is its checkout."""

from __future__ import annotations

import asyncio
import builtins
import os
import re

from skillc.index.skills import Searchable
from skillc.library.sources.filesystem import FilesystemSkillSource, FilesystemSnapshot
from skillc.library.sources.source import SkillScope, SourceDiagnostic
from skillc.library.sources.wrappers import SnapshotSource
from skillc.remotes.git import Checkouts, GitSkillConfig
from skillc.skills import SkillId


class GitSkillSource(SnapshotSource):
    """The skills of a git repository. Nothing is fetched before the first question.

    A branch is refreshed when `refresh_interval` has passed; while one thread fetches, the others get the
    current checkout. When the fetch fails, the last good checkout is served, `status` is `stale` and
    `error` says why. Tags and commits are never fetched again.
    """

    kind = "git"

    def __init__(self, config: GitSkillConfig) -> None:
        self.config = config
        self._checkouts = Checkouts(config)
        self._checkout: tuple[str, FilesystemSkillSource] | None = None  # the last one, and its commit

    async def snapshot(self) -> FilesystemSnapshot:
        """Return the checkout as it is now, with a warning if it is stale."""
        snapshot = await (await self._update()).snapshot()
        stale = [SourceDiagnostic("", "E200", "warning", self.error)] if self.error else []
        return snapshot.with_diagnostics(stale)

    async def directory(self, skill_id: SkillId) -> str:
        """Return the folder of a skill, which stays for an hour after the repository has moved on."""
        return await (await self.snapshot()).directory(skill_id)

    async def parts(self, name: str) -> builtins.list[Searchable]:
        return await (await self._update()).parts(name)

    async def refresh(self) -> bool:
        """Fetch a branch now; return whether it has a new commit."""
        before = self._checkouts.read_state().commit
        await self._update(force=True)
        return self._checkouts.state.commit != before

    async def cached_count(self) -> int | None:
        """Return the number of skills in the current checkout; None before the first."""
        commit = self._checkouts.read_state().commit
        return len(await self._open(commit).list()) if commit else None

    @property
    def folder(self) -> str | None:
        """The folder of the skills in the current checkout; None before the first. Fetches nothing."""
        commit = self._checkouts.read_state().commit
        return self._open(commit).root if commit else None

    @property
    def commit(self) -> str | None:
        """The commit that was served last."""
        return self._checkouts.state.commit or None

    @property
    def status(self) -> str:
        """`stale` when the last refresh failed, else `ok`."""
        return "stale" if self.error else "ok"

    @property
    def error(self) -> str | None:
        return self._checkouts.state.error or None

    @property
    def quarantined(self) -> int:
        return self._checkout[1].quarantined if self._checkout else 0

    @property
    def partial(self) -> str:
        """A note of how much of the checkout was read; empty if it was everything."""
        return self._checkout[1].partial if self._checkout else ""

    def __repr__(self) -> str:
        return f"GitSkillSource({self.config!r})"

    async def _update(self, force: bool = False) -> FilesystemSkillSource:
        """Return the current checkout, in a thread: it may have to be fetched."""
        return await asyncio.to_thread(lambda: self._open(self._checkouts.update(force)))

    def _open(self, commit: str) -> FilesystemSkillSource:
        checkout = self._checkout
        if checkout is not None and checkout[0] == commit:
            return checkout[1]
        parts = re.split(r"[/\\]", self.config.skills_root or "")
        root = os.path.join(self._checkouts.folder(commit), *parts)
        if not os.path.isdir(root):
            raise self._checkouts.unavailable(f"skills_root '{self.config.skills_root}' not found in repo")
        source = FilesystemSkillSource(root, SkillScope.REMOTE, strict=self.config.strict, required=True)
        self._checkout = (commit, source)
        return source
