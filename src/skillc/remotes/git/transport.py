"""Connections to git servers, over HTTP and ssh, that a watchdog cuts when the server hangs."""

from __future__ import annotations

import socket
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import urllib3
from dulwich.client import (
    GitClient,
    SSHGitClient,
    SubprocessSSHVendor,
    SubprocessWrapper,
    Urllib3HttpGitClient,
    default_urllib3_manager,
)
from dulwich.errors import HangupException, NotGitRepository
from dulwich.protocol import Protocol
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from skillc.remotes.git.address import FetchError, GitRemote, LoginRefused
from skillc.remotes.http import Hosts, explain_failure

if TYPE_CHECKING:
    from dulwich.client import HTTPResponse

MAX_ADVERTISEMENT = 64 << 20  # bytes that a server sends before the pack: the list of its refs
MAX_TIME_OUTS = 10  # an operation may last this many time-outs, as long as data arrives in each
NO_REPOSITORY = "there is no git repository, or none without authentication"


class Watchdog:
    """Ends an operation when nothing arrives for `seconds`, or when it takes far longer as a whole.

    A blocked read can't be interrupted from within, so a thread cuts the connection under it.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.is_late = False
        self._last = self._start = time.monotonic()
        self._cuts: list[Callable[[], None]] = []
        self._releases: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="skillc-git-watchdog", daemon=True)

    def __enter__(self) -> Watchdog:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()
        for release in self._releases:
            release()

    def feed(self) -> None:
        """Say that data has arrived."""
        self._last = time.monotonic()

    def guard(self, cut: Callable[[], None], release: Callable[[], None]) -> None:
        """Call `cut` when the operation hangs, and `release` at its end."""
        with self._lock:
            self._releases.append(release)
            if not self.is_late:
                self._cuts.append(cut)
                return
        cut()

    def reason(self) -> str:
        if time.monotonic() >= self._start + MAX_TIME_OUTS * self.seconds:
            return f"not done in {MAX_TIME_OUTS * self.seconds:g} s"
        return f"no answer in {self.seconds:g} s"

    def _watch(self) -> None:
        while not self._end.wait(max(0.0, self._deadline() - time.monotonic())):
            if time.monotonic() >= self._deadline():
                with self._lock:
                    self.is_late = True
                for cut in self._cuts:
                    cut()
                return

    def _deadline(self) -> float:
        return min(self._last + self.seconds, self._start + MAX_TIME_OUTS * self.seconds)


@dataclass(slots=True)
class Advertisement:
    """The refs that a server advertises before the pack, bounded in size; the pack has a limit of its own."""

    size: int = 0
    complete: bool = False

    def add(self, count: int) -> None:
        self.size += count
        if not self.complete and self.size > MAX_ADVERTISEMENT:
            raise FetchError("the server sends no end of refs")


class Greeting:
    """What a server said about itself when it was first asked, for requests that need no refs."""

    version: int = 0
    answer: Any = None

    @property
    def url(self) -> str:
        """The address that answered, after redirects; empty before."""
        return str(self.answer[2]).rstrip("/") if self.answer else ""


def open_client(
    remote: GitRemote, watchdog: Watchdog, advertisement: Advertisement, greeting: Greeting
) -> tuple[GitClient, str]:
    """Return a client for the remote, and the path to ask it for; over HTTP it keeps the greeting."""
    if remote.scheme in ("http", "https"):
        return _HttpClient(remote, watchdog, advertisement, greeting), ""
    return _SshClient(remote, watchdog, advertisement), remote.path


class _HttpClient(Urllib3HttpGitClient):
    """Smart HTTP with connections that the watchdog can cut. The user's git configuration is not read."""

    def __init__(
        self, remote: GitRemote, watchdog: Watchdog, advertisement: Advertisement, greeting: Greeting
    ) -> None:
        self._advertisement = advertisement
        self._greeting = greeting
        super().__init__(
            remote.url,
            pool_manager=_pool_manager(remote, watchdog),
            username=remote.username or ("" if remote.password else None),
            password=remote.password,
            thin_packs=False,
        )

    def close(self) -> None:
        self.pool_manager.clear()

    @staticmethod
    def _warn_filter_objects() -> None:
        """Stay silent about a server that sends more than was asked for."""

    def _discover_references(self, *arguments: Any, **options: Any) -> Any:
        greeting = self._greeting
        if greeting.answer is None:
            greeting.answer = super()._discover_references(*arguments, **options)
            greeting.version = self.protocol_version
        self.protocol_version = greeting.version
        return greeting.answer

    def _http_request(
        self, url: str, headers: dict[str, str] | None = None, data: Any = None, raise_for_status: bool = True
    ) -> tuple[HTTPResponse, Callable[[int], bytes]]:
        response, read = super()._http_request(url, headers, data, raise_for_status=False)
        problem = _explain_response(response.status, str(response.headers.get("Content-Type")))
        if problem:
            response.close()
            raise (LoginRefused if response.status in (401, 403) else FetchError)(problem)

        def read_and_count(size: int) -> bytes:
            data = read(size)
            self._advertisement.add(len(data))
            return data

        return response, read_and_count


def _pool_manager(remote: GitRemote, watchdog: Watchdog) -> urllib3.PoolManager:
    """Return urllib3's pools with guarded connections; proxies are those of the environment."""

    def guard(connection: socket.socket) -> socket.socket:
        twin = connection.dup()  # stays ours when TLS takes the other over

        def shut_down() -> None:
            with suppress(OSError):
                twin.shutdown(socket.SHUT_RDWR)

        watchdog.guard(shut_down, twin.close)
        return connection

    class Plain(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return guard(super()._new_conn())

    class Secure(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return guard(super()._new_conn())

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    manager = default_urllib3_manager(None, base_url=remote.url, timeout=remote.time_out + 5)
    assert isinstance(manager, urllib3.PoolManager)
    _keep_to_hosts(manager, remote)
    manager.pool_classes_by_scheme = {"http": PlainPool, "https": SecurePool}
    manager.connection_pool_kw["retries"] = urllib3.Retry(5, connect=0, read=0, status=0, other=0)
    return manager


def _keep_to_hosts(manager: urllib3.PoolManager, remote: GitRemote) -> None:
    """Have connections refused that a redirect wants and that may not be made, before they are."""
    hosts = remote.hosts or Hosts.around(remote.url)
    connect = manager.connection_from_host

    def connection_from_host(
        host: str | None,
        port: int | None = None,
        scheme: str | None = "http",
        pool_kwargs: dict[str, Any] | None = None,
    ) -> HTTPConnectionPool:
        if remote.scheme == "https" and scheme == "http":
            raise FetchError("the server redirects from https to http")
        place = f"[{host}]" if host and ":" in host.strip("[]") else host
        refusal = hosts.refusal(f"{scheme}://{place}{f':{port}' if port else ''}")
        if refusal:
            raise FetchError(f"redirected, and {refusal}")
        return connect(host, port, scheme, pool_kwargs)

    manager.connection_from_host = connection_from_host  # type: ignore[method-assign]


class _SshClient(SSHGitClient):
    """The program `ssh`; closes its connection in the end, also where dulwich forgets to."""

    def __init__(self, remote: GitRemote, watchdog: Watchdog, advertisement: Advertisement) -> None:
        self._watchdog = watchdog
        super().__init__(
            remote.host,
            port=remote.port,
            username=remote.username,
            vendor=_SshProgram(watchdog),
            key_filename=remote.key,
            # In batch mode ssh asks for nothing.
            ssh_command="ssh -o BatchMode=yes" + (" -o IdentitiesOnly=yes" if remote.key else ""),
            thin_packs=False,
            report_activity=lambda count, what: advertisement.add(count) if what == "read" else None,
        )

    @staticmethod
    def _warn_filter_objects() -> None:
        """Stay silent about a server that sends more than was asked for."""

    def _connect(
        self, cmd: bytes, path: str | bytes, protocol_version: int | None = None
    ) -> tuple[Protocol, Callable[[], bool], IO[bytes] | None]:
        connection = super()._connect(cmd, path, protocol_version)
        self._watchdog.guard(lambda: None, connection[0].close)
        return connection


class _SshProgram(SubprocessSSHVendor):
    def __init__(self, watchdog: Watchdog) -> None:
        self._watchdog = watchdog

    def run_command(self, *arguments: Any, **options: Any) -> SubprocessWrapper:
        try:
            wrapper = super().run_command(*arguments, **options)
        except FileNotFoundError:
            raise FetchError("ssh addresses need the program 'ssh', which is not installed") from None
        self._watchdog.guard(wrapper.proc.kill, lambda: _end(wrapper.proc))
        return wrapper


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout, process.stderr):
        with suppress(OSError):  # unsent data, which is of no use any more
            if pipe is not None:
                pipe.close()
    process.wait()


def _explain_response(status: int, content_type: str) -> str:
    """Return what is wrong with an HTTP response; nothing for a good one."""
    if status in (401, 403):
        return f"authentication failed (HTTP {status})"
    if status == 404:
        return NO_REPOSITORY
    if status != 200:
        return f"the server answered HTTP {status}"
    if not content_type.startswith("application/x-git-"):
        return "the server does not speak git's smart HTTP protocol"
    return ""


def explain(error: BaseException, host: str) -> str:
    """Return the message of the innermost cause of an error in a conversation with a host."""
    if isinstance(error, NotGitRepository):
        return NO_REPOSITORY
    while not isinstance(error, HangupException):  # its own message is what ssh wrote
        cause = getattr(error, "reason", None) or error.__cause__
        if not isinstance(cause, BaseException):
            break
        error = cause
    if isinstance(error, OSError) and error.errno:
        return explain_failure(error, host)
    text = (str(error) or type(error).__name__).strip()
    return f"authentication failed: {text}" if "Permission denied (" in text else text
