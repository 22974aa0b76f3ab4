"""Git over HTTP, with connections that can be cut when the server hangs."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import urllib3
from dulwich.client import Urllib3HttpGitClient, default_urllib3_manager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from skillc.library.git.errors import FetchFailed, fault_of
from skillc.library.git.limits import Greeting, Watch
from skillc.library.git.remote import Remote

if TYPE_CHECKING:
    from dulwich.client import HTTPResponse


class HttpClient(Urllib3HttpGitClient):
    """Smart HTTP with a connection that the watch can cut. The user's git configuration is not read."""

    def __init__(self, remote: Remote, watch: Watch, greeting: Greeting) -> None:
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
        fault = fault_of(response.status, str(response.headers.get("Content-Type")))
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
