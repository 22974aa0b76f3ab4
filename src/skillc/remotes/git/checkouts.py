"""A cache of checkouts of one repository, refreshed at intervals [D29], and its configuration.

    <home>/.skillc/cache/repositories/<hash of URL and ref>/
        state.json          which commit is current, when it was fetched, what failed last
        <commit>/<name>/    its files, complete and never changed afterwards
        lock                held by the process that fetches

Every access reads state.json, so processes follow each other's refreshes. A new commit gets a folder of
its own, and state.json then names that; readers of the old one go on, it is removed an hour later at the
earliest. There is no clone beside it: a shallow fetch of a repository of skills costs little more than
an incremental one, and nothing of git (configuration, hooks, credentials) is ever on disk.
"""

from __future__ import annotations

import ctypes
import json
import logging
import math
import os
import re
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta

from skillc import atomic, paths
from skillc.errors import InvalidConfiguration, RepositoryUnavailable, SkillcError, unexpected
from skillc.remotes.folders import evict
from skillc.remotes.git.address import (
    MAX_BYTES,
    TIME_OUT,
    TOKEN_USER,
    FetchError,
    GitRemote,
    RefNotFound,
    invalid,
)
from skillc.remotes.http import SETTING, Hosts
from skillc.remotes.protocol import require_text, to_seconds
from skillc.startup import sha256_hex
from skillc.text import one_line

MAX_STATE = 1 << 18  # bytes of state.json
_INVALID_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\\ud800-\udfff]|\.\.|@\{|//|/\.|\.lock(/|$)")

log = logging.getLogger("skillc.library")


@dataclass(frozen=True, slots=True)
class GitRef:
    """A branch, whose tip moves, or a tag or a commit, which never do.

    Without arguments it is the branch `main`.

    >>> GitRef.tag("v1.2.0")
    GitRef(kind='tag', name='v1.2.0')
    """

    kind: str = "branch"
    name: str = "main"

    def __post_init__(self) -> None:
        require_text(self.kind, "the kind of a ref")
        require_text(self.name, "the name of a ref")
        if self.kind not in ("branch", "tag", "commit"):
            raise invalid(f"a ref is a branch, a tag or a commit, not {self.kind!r}")
        if self.kind == "commit":
            if not re.fullmatch("[0-9a-fA-F]{7,40}", self.name):
                raise invalid(f"'{self.name}' is not a commit's ID, which is 7 to 40 hexadecimal digits")
            object.__setattr__(self, "name", self.name.lower())
        elif not _is_ref_name(self.name):
            raise invalid(f"'{self.name}' is not a valid name of a {self.kind}")

    @classmethod
    def branch(cls, name: str) -> GitRef:
        return cls("branch", name)

    @classmethod
    def tag(cls, name: str) -> GitRef:
        return cls("tag", name)

    @classmethod
    def commit(cls, name: str) -> GitRef:
        return cls("commit", name)

    @property
    def moves(self) -> bool:
        return self.kind == "branch"


def _is_ref_name(name: str) -> bool:
    """Apply the rules of `git check-ref-format`, and refuse what looks like an option."""
    if not name or len(name) > 255 or name == "@" or _INVALID_REF.search(name):
        return False
    return not name.startswith(("-", ".", "/")) and not name.endswith((".", "/"))


@dataclass(frozen=True, slots=True)
class HttpsToken:
    """A token for HTTPS, sent as the password of `x-access-token`."""

    token: str = field(repr=False)

    def __post_init__(self) -> None:
        require_text(self.token, "the token")
        if not self.token:
            raise invalid("the token is empty")


@dataclass(frozen=True, slots=True)
class SshKey:
    """A private key for SSH. One with a passphrase works if ssh-agent holds it; a `passphrase` is refused."""

    private_key_path: str | os.PathLike[str]
    passphrase: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.private_key_path, str | os.PathLike):
            raise TypeError(f"private_key_path must be a path, not {type(self.private_key_path).__name__}")
        if self.passphrase:
            raise invalid("the program 'ssh' can't be given a passphrase; add the key to ssh-agent")


GitAuth = HttpsToken | SshKey


@dataclass(frozen=True, slots=True, repr=False)
class GitSkillConfig:
    """A repository, what to check out of it, and how often to refresh it.

    `skills_root` is a folder in the repository. `cache_dir` is where checkouts go, each in a folder
    of its own. A `refresh_interval` of infinity never refreshes. `depth` None fetches all history.
    `time_out` is how long a server may be silent; `max_bytes` how much it may send. A redirect to another
    host is followed if `allow_hosts` has it, without credentials.
    """

    repo_url: str
    git_ref: GitRef = GitRef()
    cache_dir: str | os.PathLike[str] | None = None
    skills_root: str | None = None
    refresh_interval: float | timedelta = 300.0  # seconds; a number once it is constructed
    auth: GitAuth | None = None
    depth: int | None = 1
    strict: bool = False
    time_out: float = TIME_OUT
    max_bytes: int = MAX_BYTES
    allow_hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        require_text(self.repo_url, "repo_url")
        for name, kind in (("git_ref", GitRef), ("auth", GitAuth | None), ("depth", int | None)):
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"{name} can't be of type {type(getattr(self, name)).__name__}")
        try:
            seconds = to_seconds(self.refresh_interval, "refresh_interval")
            object.__setattr__(self, "refresh_interval", seconds)
        except ValueError as error:
            raise invalid(str(error)) from None
        if self.depth is not None and self.depth < 1:
            raise invalid("the depth must be positive")
        if not 0 < self.time_out < math.inf or self.max_bytes < 1:
            raise invalid("limits must be positive")
        root = self.skills_root or ""
        outside = os.path.isabs(root) or root.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", root)
        if outside or not root.isprintable() or ":" in root:
            raise invalid(f"skills_root '{root}' is not a folder in the repository")
        self.remote()

    def remote(self) -> GitRemote:
        """Return the address with its credentials and limits."""
        remote = GitRemote.parse(self.repo_url)
        hosts = Hosts.around(remote.url, self.allow_hosts, SETTING)
        remote = replace(remote, time_out=self.time_out, max_bytes=self.max_bytes, hosts=hosts)
        if isinstance(self.auth, HttpsToken) and remote.scheme in ("http", "https"):
            return replace(remote, username=TOKEN_USER, password=self.auth.token)
        if isinstance(self.auth, SshKey) and remote.scheme == "ssh":
            key = os.path.abspath(os.path.expanduser(os.fspath(self.auth.private_key_path)))
            return replace(remote, key=key)
        if self.auth is not None:
            kind = "a token" if isinstance(self.auth, HttpsToken) else "an SSH key"
            raise invalid(f"{kind} does not go with a {remote.scheme}:// address")
        return remote

    def directory(self) -> str:
        """Return the folder for checkouts of this repository at this ref."""
        base = self.cache_dir or os.path.join(paths.cache_directory(), "repositories")
        key = f"{self.remote().url}\0{self.git_ref.kind}\0{self.git_ref.name}"
        return os.path.join(os.path.abspath(os.fspath(base)), sha256_hex(key.encode())[:32])

    def __repr__(self) -> str:
        try:
            return f"GitSkillConfig({self.remote().url!r}, {self.git_ref!r})"
        except InvalidConfiguration:  # a debugger may ask before __post_init__ has refused it
            return f"GitSkillConfig(<invalid>, {self.git_ref!r})"


@dataclass(frozen=True, slots=True)
class State:
    """The contents of state.json; times are wall-clock times, because processes share them."""

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
        self.state = State()  # of the checkout that was served last
        self._mutex = threading.Lock()  # held by the thread that fetches
        self._attempts = 0
        self._failure: SkillcError | None = None

    def folder(self, commit: str) -> str:
        return os.path.join(self._directory, commit, self._remote.name)

    def update(self, force: bool = False) -> str:
        """Clone where there is no checkout, refresh one that is due (or with `force`); return its commit."""
        state = self.read_state()
        interval = to_seconds(self._config.refresh_interval, "refresh_interval")
        is_due = force or (interval < math.inf and not 0 <= time.time() - state.attempted < interval)
        if not state.commit:
            state = self._clone()
        elif self._config.git_ref.moves and is_due:
            state = self._refresh(state, force)
        self.state = state
        return state.commit

    def read_state(self) -> State:
        """Return the state on disk; an empty one where it can't be read or its checkout is gone."""
        try:
            data = json.loads(paths.read_regular(os.path.join(self._directory, "state.json"), MAX_STATE))
            commit, error = str(data["commit"]), one_line(str(data["error"]))
            state = State(commit, float(data["fetched"]), float(data["attempted"]), error)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return State()
        return state if re.fullmatch("[0-9a-f]{40}", commit) and self._has_commit(commit) else State()

    def unavailable(self, message: str) -> RepositoryUnavailable:
        """Return an error about this repository, without secrets."""
        return RepositoryUnavailable(self._remote.url, self._remote.hide(one_line(message)))

    def _clone(self) -> State:
        """Make the first checkout: single flight, all waiting threads share its result or failure."""
        attempts = self._attempts
        with self._mutex:
            if self._failure is not None and self._attempts != attempts:
                raise self._failure
            self._failure = None
            try:
                os.makedirs(self._directory, mode=0o700, exist_ok=True)
                with self._lock():
                    state = self.read_state()
                    if not state.commit:  # else another process was faster
                        state = self._fetch(state)
            except Exception as error:
                self._failure = self._failure_for(error, "git clone failed")
            finally:
                self._attempts += 1
            if self._failure is not None:  # raised here, because the messages of its causes may hold secrets
                raise self._failure
        return state

    def _refresh(self, state: State, force: bool) -> State:
        """Fetch in one thread while the others use the last good checkout, which also outlasts a failure."""
        if not self._mutex.acquire(blocking=force):
            return state
        try:
            with self._lock():
                current = self.read_state()
                if current.commit and current.attempted != state.attempted and not force:
                    return current  # another process was faster
                return self._fetch(current)
        except Exception as error:
            failure = self._failure_for(error, "git fetch failed")
            log.warning("%s; its last good checkout is used", failure.message)
            state = replace(state, attempted=time.time(), error=getattr(failure, "reason", failure.message))
            self._write_state(state)
            return state
        finally:
            self._mutex.release()

    def _lock(self) -> atomic.Lock:
        return atomic.Lock(os.path.join(self._directory, "lock"))

    def _fetch(self, old: State) -> State:
        """Fetch, and make the new commit the current one. The caller holds the lock."""
        from skillc.remotes.git.fetch import Revision, open_revision  # dulwich is slow to import

        atomic.sweep(self._directory)
        temporary = atomic.temporary_path(os.path.join(self._directory, "checkout"))
        os.mkdir(temporary, 0o700)
        ref, folder, links = self._config.git_ref, os.path.join(temporary, self._remote.name), []
        if ref.kind == "commit":
            revision = Revision(commit=ref.name, depth=self._config.depth)
        else:
            kinds = ("heads",) if ref.moves else ("tags",)
            revision = Revision(ref.name, kinds=kinds, depth=self._config.depth)
        opening = open_revision(self._remote, revision, temporary, whole=True, has_commit=self._has_commit)
        try:
            with opening as tree:
                commit = tree.commit
                if not self._has_commit(commit):
                    os.mkdir(folder)
                    links = tree.write([""], folder)
                    _sync_to_disk(folder)
            if not self._has_commit(commit):
                atomic.replace(temporary, os.path.join(self._directory, commit))
        except RefNotFound as error:
            failure = self.unavailable(f"ref '{ref.name}' not found in repo")
            names = error.list_names()
            failure.details = (
                f"{names}{'' if names.endswith('?') else ';'} --ref of 'skc repo add' names one"
                if names
                else ""
            )
            raise failure from None
        finally:
            atomic.discard(temporary)
        for link in links:
            log.warning("'%s': the link '%s' leads out of the repository; left out", self._remote.url, link)
        state = State(commit, time.time(), time.time())
        self._write_state(state)
        self._evict(old.commit, commit)
        return state

    def _evict(self, old: str, current: str) -> None:
        """Remove checkouts that have not been current for an hour; the hour of `old` begins now."""
        if old and old != current:
            with suppress(OSError):
                os.utime(os.path.join(self._directory, old))
        evict(self._directory, (current, "state.json", "lock"), atomic.ABANDONED_AFTER)

    def _has_commit(self, commit: str) -> bool:
        return os.path.isdir(self.folder(commit))

    def _write_state(self, state: State) -> None:
        ref = f"{self._config.git_ref.kind} {self._config.git_ref.name}"
        text = json.dumps({"url": self._remote.url, "ref": ref, **asdict(state)}, indent=1)
        try:
            atomic.write(os.path.join(self._directory, "state.json"), text.encode())
        except OSError as error:
            log.warning("%s", unexpected(error).message)

    def _failure_for(self, error: Exception, operation: str) -> SkillcError:
        if isinstance(error, RepositoryUnavailable):
            return error
        message = str(error) if isinstance(error, FetchError) else unexpected(error).message
        return self.unavailable(f"{operation}: {message}")


def _check_writable(directory: str) -> None:
    """Refuse a cache that does not exist and can't be made."""
    parent = directory
    while not os.path.lexists(parent) and os.path.dirname(parent) != parent:
        parent = os.path.dirname(parent)
    if parent != directory and not (os.path.isdir(parent) and os.access(parent, os.W_OK)):
        raise invalid(f"the cache '{directory}' can't be written")


def _sync_to_disk(folder: str) -> None:
    """Wait for the disk: a tag is never fetched again, so its files must outlast a power cut."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        ctypes.CDLL(None).syncfs(descriptor)  # one call, not one for each file
    except (OSError, AttributeError):
        os.sync()
    finally:
        os.close(descriptor)
