"""The files of a git repository at a ref, fetched by dulwich: no git program, nothing of git left behind.

The pack of one fetch goes into a temporary object store, the files of one commit are written from it,
and the store is thrown away: what stays is plain files, without a `.git`, a configuration or hooks.
What comes from the server is bounded in size, number and time, and nothing is written but below the
folder that was asked for.
"""

from __future__ import annotations

import os
import re
import socket
import stat
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any, BinaryIO

import urllib3
from dulwich.client import (
    GitClient,
    LocalGitClient,
    SSHGitClient,
    SubprocessSSHVendor,
    SubprocessWrapper,
    Urllib3HttpGitClient,
    default_urllib3_manager,
)
from dulwich.errors import GitProtocolError, HangupException, NotGitRepository
from dulwich.index import (
    validate_path_element_default,
    validate_path_element_hfs,
    validate_path_element_ntfs,
)
from dulwich.object_store import DiskObjectStore, ObjectStoreGraphWalker
from dulwich.objects import S_ISGITLINK, Blob, Commit, ObjectID, Tag, Tree
from dulwich.protocol import Protocol
from dulwich.refs import Ref
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from skillc import atomic
from skillc.library.git import FetchFailed, GitRef, RefMissing, Remote
from skillc.library.wire_log import unlogged

if TYPE_CHECKING:
    from dulwich.client import HTTPResponse

MAX_FILES = 100_000
MAX_PATH = 1024  # bytes; what is longer, or deeper, nobody wrote
MAX_OBJECT = 256 << 20  # bytes of one file, unpacked
MAX_HISTORY = 64  # times the limit of what is sent: all versions of all files, unpacked
MAX_GREETING = 64 << 20  # bytes before the files come: the list of refs
NOTHING_THERE = "there is no git repository, or none without authentication"
PATIENCE = 10  # an operation may take so many time-outs, as long as something comes in each


class Checkout:
    """The files of a commit in `folder`, and the links that were left out because they lead out of it."""

    __slots__ = ("commit", "dropped")

    def __init__(self, commit: str, dropped: Sequence[str] = ()) -> None:
        self.commit = commit
        self.dropped = tuple(dropped)


def check_out(
    remote: Remote, ref: GitRef, depth: int | None, folder: str, known: Callable[[str], bool]
) -> Checkout:
    """Put the files of what `ref` points to into `folder`, which is made.

    Where the commit is `known`, nothing is fetched and no folder is made.
    """
    if ref.kind == "commit" and known(ref.name):
        return Checkout(ref.name)
    objects = atomic.beside(folder)
    store = DiskObjectStore.init(objects)
    try:
        tip = _Fetch(remote, store, known).ref(ref, depth)
        if known(tip):
            return Checkout(tip)
        commit = _peeled(store, tip, ref)
        dropped = _write_tree(store, commit.tree, folder, remote.max_bytes)
        _settle(folder)
        return Checkout(commit.id.decode(), dropped)
    finally:
        store.close()
        atomic.discard(objects)


class Watch:
    """Ends an operation when nothing comes for `seconds`, or when it takes far longer as a whole.

    A blocked read can't be interrupted from within, so a thread cuts the connection under it.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.expired = False
        self._last = self._start = time.monotonic()
        self._cuts: list[Callable[[], None]] = []
        self._releases: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, name="skillc-git-watch", daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()
        for release in self._releases:
            release()

    def fed(self) -> None:
        """Something has come."""
        self._last = time.monotonic()

    def guard(self, cut: Callable[[], None], release: Callable[[], None]) -> None:
        """`cut` ends a connection that hangs, `release` what is left of it in the end."""
        with self._lock:
            self._releases.append(release)
            if not self.expired:
                self._cuts.append(cut)
                return
        cut()

    def complaint(self) -> str:
        """Why it was ended."""
        if time.monotonic() >= self._start + PATIENCE * self.seconds:
            return f"not done in {PATIENCE * self.seconds:g} s"
        return f"no answer in {self.seconds:g} s"

    def _look(self) -> None:
        while not self._done.wait(max(0.0, self._deadline() - time.monotonic())):
            if time.monotonic() >= self._deadline():
                with self._lock:
                    self.expired = True
                for cut in self._cuts:
                    cut()
                return

    def _deadline(self) -> float:
        return min(self._last + self.seconds, self._start + PATIENCE * self.seconds)


class _Fetch:
    """One conversation, or two, with a remote; what it sends goes into `store`."""

    def __init__(self, remote: Remote, store: DiskObjectStore, known: Callable[[str], bool]) -> None:
        self._remote = remote
        self._store = store
        self._known = known
        self._taken = 0

    def ref(self, ref: GitRef, depth: int | None) -> str:
        """Fetch what a ref points to; gives its ID."""
        if ref.kind == "commit":
            return self._commit(ref.name, depth)
        name = Ref(f"refs/{'heads' if ref.kind == 'branch' else 'tags'}/{ref.name}".encode())
        tips: list[ObjectID] = []

        def wants(refs: dict[Ref, ObjectID], depth: int | None = None) -> list[ObjectID]:
            tips.extend([refs[name]] if name in refs else [])
            return [tip for tip in tips if not self._known(tip.decode())]

        self._converse(wants, depth, [name])
        if not tips:
            raise RefMissing(ref.name)
        if not re.fullmatch(b"[0-9a-f]{40}", tips[0]):
            raise FetchFailed("the server sent an ID that is none")
        return tips[0].decode()

    def _commit(self, name: str, depth: int | None) -> str:
        """A commit itself, where the server gives it and its ID is whole; else everything, to find it in."""
        if len(name) == 40:
            try:
                self._converse(lambda refs, depth=None: [ObjectID(name.encode())], depth, [b"HEAD"])
                return name
            except _Refused:
                pass
        self._converse(_all_wanted, None, [b"HEAD", b"refs/heads/", b"refs/tags/"])
        found = [i for i in self._store.iter_prefix(name.encode()) if isinstance(self._store[i], Commit)]
        if len(found) > 1:
            raise FetchFailed(f"more than one commit starts with '{name}'")
        if not found:
            raise RefMissing(name)
        return found[0].decode()

    def _converse(
        self, wants: Callable[..., list[ObjectID]], depth: int | None, prefixes: Sequence[bytes]
    ) -> None:
        """Talk to the remote once; every way in which that fails becomes FetchFailed."""
        with unlogged(), Watch(self._remote.time_out) as watch:
            try:
                self._receive(watch, wants, depth, prefixes)
            except (FetchFailed, RefMissing):
                raise
            except Exception as error:
                if watch.expired:
                    raise FetchFailed(watch.complaint()) from None
                refused = isinstance(error, (GitProtocolError, KeyError, AssertionError))
                raise (_Refused if refused else FetchFailed)(_reason(error)) from None

    def _receive(
        self, watch: Watch, wants: Callable[..., list[ObjectID]], depth: int | None, prefixes: Sequence[bytes]
    ) -> None:
        greeting = _Greeting()
        client, path = _client(self._remote, watch, greeting)
        file, commit, abort = self._store.add_pack()
        self._taken = 0
        try:
            result = client.fetch_pack(
                path,
                wants,
                ObjectStoreGraphWalker([], lambda _: []),  # we have nothing yet
                self._taking(file, watch, greeting),
                progress=lambda _: watch.fed(),
                depth=depth,
                ref_prefix=prefixes,
            )
            if result.object_format not in (None, "sha1"):
                raise FetchFailed(f"{result.object_format} repositories are not supported")
            if self._taken:
                _weigh(file, self._remote.max_bytes)
        except BaseException:
            abort()
            raise
        finally:
            client.close()
        try:
            (commit if self._taken else abort)()
        finally:
            file.close()

    def _taking(self, file: BinaryIO, watch: Watch, greeting: _Greeting) -> Callable[[bytes], int]:
        """What the pack is written with, up to the limit."""

        def take(data: bytes) -> int:
            watch.fed()
            greeting.over = True
            self._taken += len(data)
            if self._taken > self._remote.max_bytes:
                raise FetchFailed(_too_large(self._remote.max_bytes))
            return file.write(data)

        return take


class _Refused(FetchFailed):
    """The server would not do what was asked; it may do something else."""


def _all_wanted(refs: dict[Ref, ObjectID], depth: int | None = None) -> list[ObjectID]:
    return sorted({refs[name] for name in refs if not name.endswith(b"^{}")})


def _too_large(limit: int) -> str:
    return f"the repository is over {limit / (1 << 20):g} MiB"


# Who to talk to.


def _client(remote: Remote, watch: Watch, greeting: _Greeting) -> tuple[GitClient, str]:
    if remote.scheme == "file":
        return LocalGitClient(), remote.path
    if remote.scheme == "ssh":
        return _ssh_client(remote, watch, greeting), remote.path
    return _HttpClient(remote, watch, greeting), ""


class _Vendor(SubprocessSSHVendor):
    """The ssh program, ended when the watch says so."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    def run_command(self, *arguments: Any, **options: Any) -> SubprocessWrapper:
        try:
            wrapper = super().run_command(*arguments, **options)
        except FileNotFoundError:
            raise FetchFailed("ssh addresses need the program 'ssh', which is not installed") from None
        self._watch.guard(wrapper.proc.kill, lambda: _ended(wrapper.proc))
        return wrapper


def _ended(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout, process.stderr):
        try:
            if pipe is not None:
                pipe.close()
        except OSError:
            pass  # what was not sent needn't be
    process.wait()


class _SshClient(SSHGitClient):
    """Closes its connection in the end, also where dulwich forgets to."""

    watch: Watch

    def _connect(
        self, cmd: bytes, path: str | bytes, protocol_version: int | None = None
    ) -> tuple[Protocol, Callable[[], bool], IO[bytes] | None]:
        connected = super()._connect(cmd, path, protocol_version)
        self.watch.guard(lambda: None, connected[0].close)
        return connected


def _ssh_client(remote: Remote, watch: Watch, greeting: _Greeting) -> SSHGitClient:
    if remote.passphrase:
        raise FetchFailed("the program 'ssh' can't be given a passphrase; add the key to ssh-agent")
    command = "ssh -o BatchMode=yes" + (" -o IdentitiesOnly=yes" if remote.key else "")  # it must not ask
    client = _SshClient(
        remote.host,
        port=remote.port,
        username=remote.username,
        vendor=_Vendor(watch),
        key_filename=remote.key,
        ssh_command=command,
        thin_packs=False,
        report_activity=lambda count, what: greeting.heard(count) if what == "read" else None,
    )
    client.watch = watch
    return client


class _Greeting:
    """Bounds what a server says before the files come; of those there is another limit."""

    def __init__(self) -> None:
        self._heard = 0
        self.over = False

    def heard(self, count: int) -> None:
        self._heard += count
        if not self.over and self._heard > MAX_GREETING:
            raise FetchFailed("the server sends no end of refs")


class _HttpClient(Urllib3HttpGitClient):
    """Smart HTTP with a connection that the watch can cut. The user's git configuration is not read."""

    def __init__(self, remote: Remote, watch: Watch, greeting: _Greeting) -> None:
        self._greeting = greeting
        super().__init__(
            remote.url,
            pool_manager=_pools(remote, watch),
            username=remote.username or ("" if remote.password else None),
            password=remote.password,
            thin_packs=False,
        )

    def close(self) -> None:
        self.pool_manager.clear()

    def _http_request(
        self, url: str, headers: dict[str, str] | None = None, data: Any = None, raise_for_status: bool = True
    ) -> tuple[HTTPResponse, Callable[[int], bytes]]:
        response, read = super()._http_request(url, headers, data, raise_for_status=False)
        fault = _fault(response.status, str(response.headers.get("Content-Type")))
        if url.startswith("https:") and str(response.geturl()).startswith("http:"):
            fault = "the server redirects from https to http"
        if fault:
            response.close()
            raise FetchFailed(fault)

        def counted(size: int) -> bytes:
            got = read(size)
            self._greeting.heard(len(got))
            return got

        return response, counted


def _pools(remote: Remote, watch: Watch) -> urllib3.PoolManager:
    """urllib3's connections, watched; proxies are those of the environment."""

    def watched(connection: socket.socket) -> socket.socket:
        twin = connection.dup()  # stays ours when TLS takes the other over
        watch.guard(lambda: _hang_up(twin), twin.close)
        return connection

    class Plain(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return watched(super()._new_conn())

    class Secure(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return watched(super()._new_conn())

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    manager = default_urllib3_manager(None, base_url=remote.url, timeout=remote.time_out + 5)
    assert isinstance(manager, urllib3.PoolManager)
    manager.pool_classes_by_scheme = {"http": PlainPool, "https": SecurePool}
    manager.connection_pool_kw["retries"] = urllib3.Retry(5, connect=0, read=0, status=0, other=0)
    return manager


def _hang_up(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


# What went wrong.


def _fault(status: int, content_type: str) -> str:
    """What is wrong with an HTTP response, if something is."""
    if status in (401, 403):
        return f"authentication failed (HTTP {status})"
    if status == 404:
        return NOTHING_THERE
    if status != 200:
        return f"the server answered HTTP {status}"
    if not content_type.startswith("application/x-git-"):
        return "the server does not speak git's smart HTTP protocol"
    return ""


def _reason(error: BaseException) -> str:
    """A failure in words for people: those of what caused it."""
    if isinstance(error, NotGitRepository):
        return NOTHING_THERE
    while not isinstance(error, HangupException):  # which has what ssh said
        cause = getattr(error, "reason", None) or error.__cause__
        if not isinstance(cause, BaseException):
            break
        error = cause
    text = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    text = text.strip()
    return f"authentication failed: {text}" if "Permission denied (" in text else text


# From objects to files.


def _peeled(store: DiskObjectStore, tip: str, ref: GitRef) -> Commit:
    """The commit that an ID leads to, through tags."""
    try:
        found = store[ObjectID(tip.encode())]
        while isinstance(found, Tag):
            found = store[found.object[1]]
    except KeyError:
        raise FetchFailed("the server did not send what was asked for") from None
    if not isinstance(found, Commit):
        raise FetchFailed(f"'{ref.name}' is not a commit")
    return found


def _write_tree(store: DiskObjectStore, tree: ObjectID, folder: str, limit: int) -> list[str]:
    """Write a commit's files; gives the symbolic links that were left out.

    Folders first, then files, then links: nothing is ever written through a link.
    """
    root = os.fsencode(folder)
    os.mkdir(root)
    entries = []
    for path, mode, sha in _entries(store, tree):
        if stat.S_ISDIR(mode):
            os.mkdir(os.path.join(root, path))
        else:
            entries.append((os.path.join(root, path), mode, sha))
    for path, mode, sha in entries:
        if not stat.S_ISLNK(mode):
            data = _data(store, sha)
            limit -= len(data)
            if limit < 0:
                raise FetchFailed("the files are too large")
            _write(path, data, 0o755 if mode & 0o111 else 0o644)
    links = [path for path, mode, sha in entries if stat.S_ISLNK(mode) and _link(path, _data(store, sha))]
    made = set(links)
    dropped = [path for path, mode, _ in entries if stat.S_ISLNK(mode) and path not in made]
    dropped += [path for path in links if not _stays(path, root)]
    return sorted(os.fsdecode(os.path.relpath(path, root)) for path in dropped)


def _entries(store: DiskObjectStore, tree: ObjectID) -> Iterator[tuple[bytes, int, ObjectID]]:
    """Path, mode and ID of all in a tree, folders before what is in them; submodules are left out."""
    pending = [(b"", tree)]
    count = 0
    while pending:
        prefix, folder = pending.pop()
        found = store[folder]
        if not isinstance(found, Tree):
            raise FetchFailed("a folder in the repository is none")
        for name, mode, sha in found.items():
            count += 1
            path = prefix + name
            if not _is_safe(name) or len(path) > MAX_PATH:
                raise FetchFailed(f"unsafe file name {os.fsdecode(path)!r}")
            if count > MAX_FILES:
                raise FetchFailed(f"the repository has over {MAX_FILES} files")
            if S_ISGITLINK(mode):
                continue
            if stat.S_ISDIR(mode):
                pending.append((path + b"/", sha))
            yield path, mode, sha


def _is_safe(name: bytes) -> bool:
    """Whether a name is one of a plain file on every system, and no way to spell `.git`."""
    if not name or any(bad in name for bad in (b"/", b"\\", b"\0")) or (os.name == "nt" and b":" in name):
        return False
    if not (validate_path_element_default(name) and validate_path_element_ntfs(name)):
        return False
    try:
        name.decode()
    except UnicodeDecodeError:
        return True  # which the next check can't judge
    return validate_path_element_hfs(name)


def _data(store: DiskObjectStore, sha: ObjectID) -> bytes:
    found = store[sha]
    if not isinstance(found, Blob):
        raise FetchFailed("a file in the repository is none")
    return found.data


def _write(path: bytes, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, mode), "wb") as file:
        file.write(data)


def _link(path: bytes, target: bytes) -> bool:
    """Make a symbolic link, unless it says itself that it leads away, or the system can't."""
    if not target or b"\0" in target or len(target) > MAX_PATH or os.path.isabs(target):
        return False
    try:
        os.symlink(target, path)
    except FileExistsError:
        raise FetchFailed(f"the repository has {os.fsdecode(path)!r} twice") from None
    except OSError:
        return False
    return True


def _stays(path: bytes, root: bytes) -> bool:
    """Whether a link leads to something below `root`; one that does not is removed."""
    top = os.path.realpath(root)
    try:
        real = os.path.realpath(path, strict=True)
        if real == top or real.startswith(os.path.join(top, b"")):
            return True
    except OSError:
        pass  # it leads nowhere, or round in circles
    os.unlink(path)
    return False


def _settle(folder: str) -> None:
    """Wait for the disk: a tag is never fetched again, so its files must outlast a power cut."""
    if sys.platform == "win32":
        return
    import ctypes

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        ctypes.CDLL(None).syncfs(descriptor)  # one call, not one for each file
    except (OSError, AttributeError):
        os.sync()
    finally:
        os.close(descriptor)


def _weigh(file: BinaryIO, limit: int) -> None:
    """Refuse a pack that is far larger when unpacked, before anything unpacks it in memory."""
    file.flush()
    file.seek(0)
    reader = _PackReader(file)
    most, total = min(limit, MAX_OBJECT), 0
    for _ in range(int.from_bytes(reader.take(12)[8:], "big")):
        size = reader.object_size()
        total += size
        if size > most:
            raise FetchFailed(f"a file is over {most / (1 << 20):g} MiB")
        if total > limit * MAX_HISTORY:
            raise FetchFailed("the history is too large")
    file.seek(0, os.SEEK_END)


class _PackReader:
    """Goes through a pack from object to object without keeping what is in them."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._ahead = b""

    def take(self, count: int) -> bytes:
        while len(self._ahead) < count:
            more = self._file.read(1 << 16)
            if not more:
                raise FetchFailed("the server stopped in the middle")
            self._ahead += more
        taken, self._ahead = self._ahead[:count], self._ahead[count:]
        return taken

    def object_size(self) -> int:
        """The size of the next object when it is unpacked; of a delta, that of its result."""
        byte = self.take(1)[0]
        kind, size, shift = byte >> 4 & 7, byte & 15, 4
        while byte & 0x80:
            byte = self.take(1)[0]
            size |= (byte & 0x7F) << shift
            shift += 7
        if kind == 6:  # delta to an object at an offset
            while self.take(1)[0] & 0x80:
                pass
        elif kind == 7:  # delta to an object by its ID
            self.take(20)
        start = self._skip(size)
        return max(size, _delta_result(start)) if kind in (6, 7) else size

    def _skip(self, size: int) -> bytes:
        """Go past compressed data that claims `size`; gives its first bytes."""
        unpack = zlib.decompressobj()
        start, seen = b"", 0
        data = self._ahead or self.take(0)
        while not unpack.eof:
            data = data or self._file.read(1 << 16)
            if not data:
                raise FetchFailed("the server stopped in the middle")
            piece = unpack.decompress(data, 1 << 16)
            start, seen = (start + piece)[:20], seen + len(piece)
            if seen > size:
                raise FetchFailed("the server sent a damaged pack")
            data = unpack.unconsumed_tail
        self._ahead = unpack.unused_data
        return start


def _delta_result(start: bytes) -> int:
    """The second of the two numbers that a delta starts with."""
    numbers, size, shift = [], 0, 0
    for byte in start:
        size |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            numbers.append(size)
            size = shift = 0
    return numbers[1] if len(numbers) > 1 else 0
