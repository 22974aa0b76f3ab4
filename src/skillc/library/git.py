"""Skills in a git repository: a checkout in the cache, refreshed when its time has come [D29].

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

import asyncio
import base64
import builtins
import json
import logging
import math
import os
import re
import threading
import time
from dataclasses import asdict, dataclass, field, replace
from urllib.parse import quote, unquote, urlsplit

from skillc import atomic, places
from skillc.digest import sha256_hex
from skillc.errors import InvalidConfiguration, RepositoryUnavailable, SkillcError, one_line, unexpected
from skillc.library.catalog.library import Part
from skillc.library.descriptors import (
    SkillCollection,
    SkillDescriptor,
    SkillDocument,
    SkillFilter,
    SkillScope,
)
from skillc.library.filesystem import FilesystemSkillSource
from skillc.library.sources import ALL, SkillSource, SourceDiagnostic
from skillc.skills import SkillId, to_segment

log = logging.getLogger("skillc.library")

TIME_OUT = 60.0  # seconds in which something must come
MAX_BYTES = 1 << 30  # of what is sent, and of the files
TOKEN_USER = "x-access-token"  # noqa: S105 - the user that goes with a token
SCHEMES = ("https", "http", "ssh", "file")


class FetchFailed(Exception):
    """Why there is no checkout, in words for people."""


class RefMissing(Exception):
    """The repository has no such ref."""


def repositories_cache() -> str:
    """Where checkouts are kept unless a configuration says otherwise."""
    return os.path.join(places.require_home(), places.DIRECTORY, "cache", "repositories")


@dataclass(frozen=True, slots=True)
class GitRef:
    """What to check out: the tip of a branch, which moves, or a tag or a commit, which never do.

    >>> GitRef.tag("v1.2.0")
    GitRef(kind='tag', name='v1.2.0')
    """

    kind: str
    name: str

    def __post_init__(self) -> None:
        if self.kind not in ("branch", "tag", "commit"):
            raise _invalid(f"a ref is a branch, a tag or a commit, not {self.kind!r}")
        if self.kind == "commit":
            if not re.fullmatch("[0-9a-fA-F]{7,40}", self.name):
                raise _invalid(f"'{self.name}' is not a commit's ID, which is 7 to 40 hexadecimal digits")
            object.__setattr__(self, "name", self.name.lower())
        elif not _is_ref_name(self.name):
            raise _invalid(f"'{self.name}' is not a valid name of a {self.kind}")

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


_NOT_IN_REFS = re.compile(r"[\x00-\x20\x7f~^:?*\[\\\ud800-\udfff]|\.\.|@\{|//|/\.|\.lock(/|$)")


def _is_ref_name(name: str) -> bool:
    """The rules of `git check-ref-format`, and that it does not look like an option."""
    if not name or len(name) > 255 or name == "@" or _NOT_IN_REFS.search(name):
        return False
    return not name.startswith(("-", ".", "/")) and not name.endswith((".", "/"))


@dataclass(frozen=True, slots=True)
class HttpsToken:
    """A token for HTTPS, sent as the password of `x-access-token`."""

    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SshKey:
    """A private key for SSH; one with a passphrase has to be in ssh-agent."""

    private_key_path: str | os.PathLike[str]
    passphrase: str | None = field(default=None, repr=False)


GitAuth = HttpsToken | SshKey


@dataclass(frozen=True, slots=True)
class Remote:
    """An address taken apart. `url` is without credentials: it is shown, hashed and stored."""

    url: str
    scheme: str
    path: str
    host: str = ""
    port: int | None = None
    username: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    key: str | None = None
    passphrase: str | None = field(default=None, repr=False)
    time_out: float = TIME_OUT
    max_bytes: int = MAX_BYTES

    @property
    def name(self) -> str:
        """The last part of the address, as a segment of an ID: that of a repository that is one skill."""
        last = re.split(r"[/\\:]", self.path.rstrip("/\\"))[-1]
        return to_segment(last.removesuffix(".git")) or "skills"

    def hide(self, text: str) -> str:
        """`text` without the secrets that are in it."""
        secrets = [self.password, self.passphrase]
        if self.scheme in ("http", "https"):
            pair = f"{self.username or ''}:{self.password or ''}"
            secrets.append(base64.b64encode(pair.encode()).decode())
            if not self.password and len(self.username or "") > 7:
                secrets.append(self.username)  # a token can stand there, too
        for secret in filter(None, secrets):
            text = text.replace(secret, "***").replace(quote(secret, safe=""), "***")
        return text


def _remote(address: str) -> Remote:
    """Take an address apart; raises InvalidConfiguration, without what may be secret in it."""
    if not address or not address.isprintable() or address.startswith("-"):
        raise _invalid("the address of the repository is empty or has control characters, or is an option")
    if re.match(r"[A-Za-z0-9][A-Za-z0-9+.-]*::", address):
        raise _invalid("remote helpers ('name::address') are not supported")
    scheme, separator, _ = address.partition("://")
    if separator:
        return _from_url(address, scheme.lower())
    windows_path = os.name == "nt" and re.match(r"[A-Za-z]:[\\/]", address)
    host, colon, path = address.partition(":")
    if colon and "/" not in host and not windows_path:
        user, _, host = host.rpartition("@")
        return _checked_ssh(Remote(address, "ssh", path, host, None, user or None))
    path = os.path.abspath(os.path.expanduser(address))
    return Remote(path, "file", path)


def _from_url(address: str, scheme: str) -> Remote:
    if scheme not in SCHEMES:
        raise _invalid(f"addresses are {', '.join(f'{s}://' for s in SCHEMES)}, git@host:path or a path")
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise _invalid("the address of the repository is not a valid URL") from None
    if parts.query or parts.fragment:
        raise _invalid("the address of a repository has no query and no fragment")
    if scheme == "file":
        path = unquote(parts.path)
        if host not in ("", "localhost") or not path.startswith("/"):
            raise _invalid("a file:// address is file:///and/a/path")
        return Remote(f"file://{path}", "file", path.lstrip("/") if os.name == "nt" else path)
    user = unquote(parts.username) if parts.username else None
    place = (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
    if scheme == "ssh":
        shown = f"{parts.username}@{place}" if user else place
        return _checked_ssh(Remote(f"ssh://{shown}{parts.path}", "ssh", parts.path, host, port, user))
    if not host:
        raise _invalid("the address of the repository has no host")
    password = unquote(parts.password) if parts.password else None
    return Remote(f"{scheme}://{place}{parts.path}", scheme, parts.path, host, port, user, password)


def _checked_ssh(remote: Remote) -> Remote:
    """Nothing in it may be taken for an option, here by ssh or there by git."""
    plain = re.compile(r"[A-Za-z0-9_\[][A-Za-z0-9_.:%\[\]-]*")
    names = [remote.host] + ([remote.username] if remote.username else [])
    if not all(plain.fullmatch(name) for name in names) or not remote.path or remote.path.startswith("-"):
        raise _invalid("the address of the repository is not a valid SSH address")
    return remote


def _invalid(message: str) -> InvalidConfiguration:
    return InvalidConfiguration("git repository", message)


@dataclass(frozen=True, slots=True, repr=False)
class GitSkillConfig:
    """A repository, what to check out of it, and how often to look for something new.

    `skills_root` is a folder in the repository. `cache_dir` is where checkouts go, each in a folder
    of its own. A `refresh_interval` of infinity never looks again. `depth` None asks for all history.
    `time_out` is how long a server may be silent; `max_bytes` how much it may send.
    """

    repo_url: str
    git_ref: GitRef = GitRef("branch", "main")
    cache_dir: str | os.PathLike[str] | None = None
    skills_root: str | None = None
    refresh_interval: float = 300.0
    auth: GitAuth | None = None
    depth: int | None = 1
    strict: bool = False
    time_out: float = TIME_OUT
    max_bytes: int = MAX_BYTES

    def __post_init__(self) -> None:
        if not self.refresh_interval >= 0:
            raise _invalid("the refresh interval must not be negative")
        if self.depth is not None and self.depth < 1:
            raise _invalid("the depth must be positive")
        if not 0 < self.time_out < math.inf or self.max_bytes < 1:
            raise _invalid("limits must be positive")
        self._check_skills_root()
        self.remote()

    def _check_skills_root(self) -> None:
        root = self.skills_root
        if not root:
            return
        parts = re.split(r"[/\\]", root)
        if not root.isprintable() or os.path.isabs(root) or root[:1] in "/\\" or ".." in parts or ":" in root:
            raise _invalid(f"skills_root '{root}' is not a folder in the repository")

    def remote(self) -> Remote:
        """The address with the credentials for it."""
        remote = _remote(self.repo_url)
        remote = replace(remote, time_out=self.time_out, max_bytes=self.max_bytes)
        if isinstance(self.auth, HttpsToken) and remote.scheme in ("http", "https"):
            return replace(remote, username=TOKEN_USER, password=self.auth.token)
        if isinstance(self.auth, SshKey) and remote.scheme == "ssh":
            key = os.path.abspath(os.path.expanduser(os.fspath(self.auth.private_key_path)))
            return replace(remote, key=key, passphrase=self.auth.passphrase)
        if self.auth is not None:
            kind = "a token" if isinstance(self.auth, HttpsToken) else "an SSH key"
            raise _invalid(f"{kind} does not go with a {remote.scheme}:// address")
        return remote

    def directory(self) -> str:
        """Where checkouts of this repository at this ref are kept."""
        base = os.path.abspath(os.fspath(self.cache_dir)) if self.cache_dir else repositories_cache()
        key = f"{self.remote().url}\0{self.git_ref.kind}\0{self.git_ref.name}"
        return os.path.join(base, sha256_hex(key.encode())[:32])

    def __repr__(self) -> str:
        return f"GitSkillConfig({self.remote().url!r}, {self.git_ref!r})"


@dataclass(frozen=True, slots=True)
class _State:
    """What state.json says; times are those of the clock, since processes share them."""

    commit: str = ""
    fetched: float = 0.0
    attempted: float = 0.0
    error: str = ""


class GitSkillSource(SkillSource):
    """The skills of a git repository. Nothing is fetched before the first question.

    A branch is looked at again when `refresh_interval` has passed; while one thread does, the others
    are served what there is. When that fails, the last good checkout is served, `status` is `stale`
    and `error` says why. Tags and commits are never fetched again.
    """

    kind = "git"

    def __init__(self, config: GitSkillConfig) -> None:
        self.config = config
        self._remote = config.remote()
        self._directory = config.directory()
        _check_writable(self._directory)
        self._turn = threading.Lock()
        self._attempts = 0
        self._failure: SkillcError | None = None
        self._state = _State()
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

    async def refresh(self) -> bool:
        """Look for a new commit of a branch now; gives whether there is one."""
        before = self._read_state().commit
        await asyncio.to_thread(self._bring_up_to_date, True)
        return self._state.commit != before

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
        """The folder to read: cloned when there is none, refreshed when its time has come (or `now`)."""
        state = self._read_state()
        if not state.commit:
            state = self._clone()
        elif self.config.git_ref.moves and (now or self._is_due(state)):
            state = self._refresh(state, now)
        self._state = state
        return self._folder_of(state.commit)

    def _folder_of(self, commit: str) -> FilesystemSkillSource:
        inner = self._inner
        if inner is not None and inner[0] == commit:
            return inner[1]
        root = os.path.join(self._checkout(commit), *re.split(r"[/\\]", self.config.skills_root or ""))
        if not os.path.isdir(root):
            raise self._unavailable(f"skills_root '{self.config.skills_root}' not found in repo")
        source = FilesystemSkillSource(root, SkillScope.REMOTE, strict=self.config.strict, required=True)
        self._inner = (commit, source)
        return source

    def _is_due(self, state: _State) -> bool:
        if math.isinf(self.config.refresh_interval):
            return False
        return not 0 <= time.time() - state.attempted < self.config.refresh_interval

    def _clone(self) -> _State:
        """The first checkout. Threads wait for it, and share its failure."""
        asked = self._attempts
        with self._turn:
            if self._failure is not None and self._attempts != asked:
                raise self._failure
            try:
                os.makedirs(self._directory, mode=0o700, exist_ok=True)
                with atomic.Lock(os.path.join(self._directory, "lock")):
                    state = self._read_state()
                    if not state.commit:  # else another process was faster
                        state = self._fetch(state)
                self._failure = None
            except Exception as error:
                self._failure = self._told(error, "git clone failed")
                raise self._failure from None
            finally:
                self._attempts += 1
        return state

    def _refresh(self, state: _State, now: bool) -> _State:
        """A later checkout, or the last good one; only one thread tries, the others don't wait."""
        if not self._turn.acquire(blocking=now):
            return state
        try:
            with atomic.Lock(os.path.join(self._directory, "lock")):
                current = self._read_state()
                if current.commit and current.attempted != state.attempted and not now:
                    return current  # another process was faster
                return self._fetch(current)
        except Exception as error:
            failure = self._told(error, "git fetch failed")
            log.warning("%s; its last good checkout is used", failure.message)
            state = replace(state, attempted=time.time(), error=failure.message)
            self._write_state(state)
            return state
        finally:
            self._turn.release()

    def _fetch(self, state: _State) -> _State:
        """Fetch, and make the new commit the current one. The caller holds the lock."""
        try:
            from skillc.library import checkout  # dulwich is an extra, and takes long to import
        except ImportError:
            raise self._unavailable("git repositories need dulwich: pip install 'skillc[git]'") from None
        atomic.sweep(self._directory)
        temporary = atomic.beside(os.path.join(self._directory, "checkout"))
        os.mkdir(temporary, 0o700)
        config, folder = self.config, os.path.join(temporary, self._remote.name)
        try:
            done = checkout.check_out(self._remote, config.git_ref, config.depth, folder, self._has)
            if not self._has(done.commit):
                atomic.replace(temporary, os.path.join(self._directory, done.commit))
        except RefMissing:
            raise self._unavailable(f"ref '{config.git_ref.name}' not found in repo") from None
        finally:
            atomic.discard(temporary)
        for link in done.dropped:
            log.warning("'%s': the link '%s' leads out of the repository; left out", self._remote.url, link)
        new = _State(done.commit, time.time(), time.time())
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

    def _checkout(self, commit: str) -> str:
        return os.path.join(self._directory, commit, self._remote.name)

    def _has(self, commit: str) -> bool:
        return os.path.isdir(self._checkout(commit))

    def _read_state(self) -> _State:
        """The state on disk; none where it can't be read or its checkout is gone."""
        try:
            with open(os.path.join(self._directory, "state.json"), encoding="utf-8") as file:
                found = json.load(file)
            state = _State(
                str(found["commit"]),
                float(found["fetched"]),
                float(found["attempted"]),
                one_line(str(found["error"])),
            )
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return _State()
        return state if re.fullmatch("[0-9a-f]{40}", state.commit) and self._has(state.commit) else _State()

    def _write_state(self, state: _State) -> None:
        ref = f"{self.config.git_ref.kind} {self.config.git_ref.name}"
        text = json.dumps({"url": self._remote.url, "ref": ref, **asdict(state)}, indent=1)
        try:
            atomic.write(os.path.join(self._directory, "state.json"), text.encode())
        except OSError as error:
            log.warning("%s", unexpected(error).message)

    def _told(self, error: Exception, what: str) -> SkillcError:
        """A failure as this repository's, without secrets."""
        if isinstance(error, RepositoryUnavailable):
            return error
        words = str(error) if isinstance(error, FetchFailed) else unexpected(error).message
        return self._unavailable(f"{what}: {words}")

    def _unavailable(self, message: str) -> RepositoryUnavailable:
        return RepositoryUnavailable(self._remote.url, self._remote.hide(one_line(message)))


def _check_writable(directory: str) -> None:
    """Refuse a cache that can't be written, unless something is in it already."""
    there = directory
    while not os.path.lexists(there) and os.path.dirname(there) != there:
        there = os.path.dirname(there)
    if there != directory and not (os.path.isdir(there) and os.access(there, os.W_OK)):
        raise _invalid(f"the cache '{directory}' can't be written")
