"""Checkouts of a repository in the cache, refreshed when their time has come [D29].

    <home>/.skillc/cache/repositories/<hash of URL and ref>/
        state.json          which commit is current, when it was fetched, what failed last
        <commit>/<name>/    its files, complete and never changed afterwards
        lock                held by whoever fetches, in any process

What is on disk is the truth: every access looks at state.json, so processes follow each other's
refreshes. A new commit gets a folder of its own and state.json then names that; whoever reads the old
one goes on, it is removed an hour later at the earliest. There is no clone beside it: a shallow fetch
of a repository of skills costs little more than an incremental one, and without one nothing of git
(configuration, hooks, credentials) is ever on disk.
"""

from __future__ import annotations

import json
import logging
import math
import os
import re
import threading
import time
from dataclasses import asdict, dataclass, replace

from skillc import atomic
from skillc.errors import MissingExtra, RepositoryUnavailable, SkillcError, extras, unexpected
from skillc.library.git.config import GitSkillConfig
from skillc.library.git.errors import FetchFailed, RefMissing
from skillc.library.git.refs import invalid
from skillc.text import one_line

log = logging.getLogger("skillc.library")


@dataclass(frozen=True, slots=True)
class State:
    """What state.json says; times are those of the clock, since processes share them."""

    commit: str = ""
    fetched: float = 0.0
    attempted: float = 0.0
    error: str = ""


class Checkouts:
    """The checkouts of one repository at one ref."""

    def __init__(self, config: GitSkillConfig) -> None:
        self._config = config
        self._remote = config.remote()
        self._directory = config.directory()
        _check_writable(self._directory)
        self._turn = threading.Lock()
        self._attempts = 0
        self._failure: SkillcError | None = None

    def folder(self, commit: str) -> str:
        """Where the files of a commit are, or would be."""
        return os.path.join(self._directory, commit, self._remote.name)

    def current(self, now: bool = False) -> State:
        """The checkout to use: cloned when there is none, refreshed when its time has come (or `now`)."""
        state = self.state()
        if not state.commit:
            return self._clone()
        if self._config.git_ref.moves and (now or self._is_due(state)):
            return self._refresh(state, now)
        return state

    def state(self) -> State:
        """The state on disk; none where it can't be read or its checkout is gone."""
        try:
            with open(os.path.join(self._directory, "state.json"), encoding="utf-8") as file:
                found = json.load(file)
            state = State(
                str(found["commit"]),
                float(found["fetched"]),
                float(found["attempted"]),
                one_line(str(found["error"])),
            )
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return State()
        return state if re.fullmatch("[0-9a-f]{40}", state.commit) and self._has(state.commit) else State()

    def unavailable(self, message: str) -> RepositoryUnavailable:
        """This repository's failure, without secrets."""
        return RepositoryUnavailable(self._remote.url, self._remote.hide(one_line(message)))

    def _is_due(self, state: State) -> bool:
        if math.isinf(self._config.refresh_interval):
            return False
        return not 0 <= time.time() - state.attempted < self._config.refresh_interval

    def _clone(self) -> State:
        """The first checkout. Threads wait for it, and share its failure."""
        asked = self._attempts
        with self._turn:
            if self._failure is not None and self._attempts != asked:
                raise self._failure
            self._failure = None
            try:
                os.makedirs(self._directory, mode=0o700, exist_ok=True)
                with self._lock():
                    state = self.state()
                    if not state.commit:  # else another process was faster
                        state = self._fetch(state)
            except Exception as error:
                self._failure = self._told(error, "git clone failed")
            finally:
                self._attempts += 1
            if self._failure is not None:  # raised here: what led to it may have secrets in its words
                raise self._failure
        return state

    def _refresh(self, state: State, now: bool) -> State:
        """A later checkout, or the last good one; only one thread tries, the others don't wait."""
        if not self._turn.acquire(blocking=now):
            return state
        try:
            with self._lock():
                current = self.state()
                if current.commit and current.attempted != state.attempted and not now:
                    return current  # another process was faster
                return self._fetch(current)
        except Exception as error:
            failure = self._told(error, "git fetch failed")
            log.warning("%s; its last good checkout is used", failure.message)
            state = replace(state, attempted=time.time(), error=getattr(failure, "reason", failure.message))
            self._write_state(state)
            return state
        finally:
            self._turn.release()

    def _lock(self) -> atomic.Lock:
        return atomic.Lock(os.path.join(self._directory, "lock"))

    def _fetch(self, state: State) -> State:
        """Fetch, and make the new commit the current one. The caller holds the lock."""
        with extras.needed("git"):
            from skillc.library.git import clone  # dulwich takes long to import
        atomic.sweep(self._directory)
        temporary = atomic.beside(os.path.join(self._directory, "checkout"))
        os.mkdir(temporary, 0o700)
        ref, folder = self._config.git_ref, os.path.join(temporary, self._remote.name)
        try:
            done = clone.check_out(self._remote, ref, self._config.depth, folder, self._has)
            if not self._has(done.commit):
                atomic.replace(temporary, os.path.join(self._directory, done.commit))
        except RefMissing:
            raise self.unavailable(f"ref '{ref.name}' not found in repo") from None
        finally:
            atomic.discard(temporary)
        for link in done.dropped:
            log.warning("'%s': the link '%s' leads out of the repository; left out", self._remote.url, link)
        new = State(done.commit, time.time(), time.time())
        self._write_state(new)
        self._retire(state.commit, new.commit)
        return new

    def _retire(self, old: str, current: str) -> None:
        """Remove checkouts that nobody has been sent to for an hour; from now on `old` is not, either."""
        try:
            if old and old != current:
                os.utime(os.path.join(self._directory, old))
            for entry in os.scandir(self._directory):
                age = time.time() - entry.stat(follow_symlinks=False).st_mtime
                if entry.is_dir() and entry.name != current and age > atomic.ABANDONED_AFTER:
                    atomic.discard(entry.path)
        except OSError:
            pass  # another time

    def _has(self, commit: str) -> bool:
        return os.path.isdir(self.folder(commit))

    def _write_state(self, state: State) -> None:
        ref = f"{self._config.git_ref.kind} {self._config.git_ref.name}"
        text = json.dumps({"url": self._remote.url, "ref": ref, **asdict(state)}, indent=1)
        try:
            atomic.write(os.path.join(self._directory, "state.json"), text.encode())
        except OSError as error:
            log.warning("%s", unexpected(error).message)

    def _told(self, error: Exception, what: str) -> SkillcError:
        """A failure as this repository's."""
        if isinstance(error, RepositoryUnavailable | MissingExtra):
            return error
        words = str(error) if isinstance(error, FetchFailed) else unexpected(error).message
        return self.unavailable(f"{what}: {words}")


def _check_writable(directory: str) -> None:
    """Refuse a cache that can't be written, unless something is in it already."""
    there = directory
    while not os.path.lexists(there) and os.path.dirname(there) != there:
        there = os.path.dirname(there)
    if there != directory and not (os.path.isdir(there) and os.access(there, os.W_OK)):
        raise invalid(f"the cache '{directory}' can't be written")
