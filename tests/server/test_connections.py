"""What connections may cost: clients that connect and send nothing, too little, or read nothing."""

from __future__ import annotations

import asyncio
import builtins
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection

import httpx2
import pytest

from skillc.library.sources import InMemorySkillSource
from skillc.library.sources.source import ALL, SkillDescriptor, SkillDocument, SkillFilter
from skillc.server import serve as connections
from skillc.skills import SkillId
from tests.conftest import World
from tests.support.cases import each
from tests.support.servers import live

GET = b"GET /skills/large HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a second for everything."""
    for name in ("HEAD_TIME", "BODY_TIME", "READ_TIME"):
        monkeypatch.setattr(connections, name, 0.5)


@contextmanager
def connected(api: httpx2.Client, count: int = 1) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        address = ("127.0.0.1", api.base_url.port or 0)
        connect: Callable[[], socket.socket] = lambda: socket.create_connection(address, timeout=20)  # noqa: E731
        yield [stack.enter_context(connect()) for _ in range(count)]


def ends(client: socket.socket) -> bool:
    """Whether the server closes the connection, after whatever it sends."""
    try:
        while client.recv(1 << 20):
            pass
    except ConnectionResetError:
        pass
    return True


HALF_REQUESTS = [
    b"",
    b"GET /heal",
    b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n",
    b"POST /turns HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n1",
    b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /hea",
    b"GET /healthz HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 9\r\n\r\n",
]


def goes_on(client: socket.socket) -> bool:
    """Whether the server still takes a byte of a client."""
    try:
        with suppress(TimeoutError):
            while client.recv(65536):
                pass
            return False
        client.sendall(b"a")
    except OSError:
        return False
    return True


def test_half_requests(short: None) -> None:
    """[SURFACES: Serving] a request that never arrives whole ends the connection, byte by byte too."""
    count = len(HALF_REQUESTS)
    with live(InMemorySkillSource([])) as api, connected(api, count) as clients:
        for client, sent in zip(clients, HALF_REQUESTS, strict=True):
            client.sendall(sent)
            client.settimeout(0.02)
        left = [*range(count)]
        for _ in range(300):  # bytes, each of which does not extend the time
            left = [number for number in left if goes_on(clients[number])]
        assert left == []


@each(
    ("headers", "status"),
    [
        ({}, 413),
        ({"Transfer-Encoding": "chunked"}, 413),
        ({"Host": "evil.example", "Connection": "close"}, 421),
    ],
)
def test_refusals_reach_clients_that_send(headers: dict[str, str], status: int) -> None:
    """[SURFACES: Serving] a client that sends all of a large body first gets the refusal, and no reset."""
    with live(InMemorySkillSource([])) as api:
        size = {} if "Transfer-Encoding" in headers else {"Content-Length": str(32 << 20)}
        pieces = [b"x" * (1 << 20)] * 32
        with closing(HTTPConnection("127.0.0.1", api.base_url.port, timeout=20)) as client:
            client.request("POST", "/turns", iter(pieces), headers | size, encode_chunked=not size)
            assert client.getresponse().status == status


@pytest.mark.slow
def test_a_body_without_end(short: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Serving] what is read of a body after its refusal is bounded in size."""
    monkeypatch.setattr(connections, "BODY_TIME", 20.0)
    monkeypatch.setattr(connections, "MAX_REST", 4 << 20)
    with live(InMemorySkillSource([])) as api, connected(api) as (client,):
        client.sendall(b"POST /turns HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 999999999\r\n\r\n")
        assert b" 413 " in client.recv(1 << 16)
        with pytest.raises(OSError, match=r"reset|pipe"):
            client.sendall(b"x" * (512 << 20))


@pytest.mark.slow
def test_clients_that_do_not_read(short: None) -> None:
    """[SURFACES: Serving] a client that reads nothing of a large response is cut off."""
    large = SkillDocument(SkillDescriptor(SkillId("large"), description="x"), "x" * (16 << 20))
    with live(InMemorySkillSource([large])) as api, connected(api, 2) as (slow, steady):
        for client in (slow, steady):
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            client.sendall(GET + b"\r\n")
        size = 0
        while size < len(large.body):
            size += len(steady.recv(1 << 16))
        time.sleep(0.8)
        assert ends(slow)
        assert api.get("/healthz").status_code == 200


@pytest.mark.slow
def test_a_new_connection_takes_the_place_of_an_idle_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Serving] idle connections up to the limit keep no client out; the oldest one goes."""
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 8)
    with live(InMemorySkillSource([])) as api, connected(api, 20) as clients:
        for _ in range(20):
            assert httpx2.get(f"{api.base_url}/healthz", trust_env=False, verify=False).status_code == 200
        assert ends(clients[0])
        assert ends(clients[11])


class Stuck(InMemorySkillSource):
    """A source whose list takes until the test has seen enough."""

    def __init__(self) -> None:
        super().__init__([])
        self.started, self.over = threading.Event(), threading.Event()

    async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
        self.started.set()
        await asyncio.to_thread(self.over.wait, 20)
        return []


def test_all_places_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Serving] where every place has a request at work, a new client gets 503 at once."""
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 1)
    source = Stuck()
    with live(source) as api, connected(api) as (busy,):
        busy.sendall(b"GET /skills HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert source.started.wait(20)
        with connected(api) as (client,):
            assert client.recv(100).startswith(b"HTTP/1.1 503 ")
            assert ends(client)
        source.over.set()
        assert busy.recv(100).startswith(b"HTTP/1.1 200 ")


SERVERS = {
    "serve": (["serve", "--read-only", "--port", "0"], "/healthz"),
    "mcp": (["mcp", "--http", "127.0.0.1:0"], ""),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SERVERS)
def test_2000_idle_connections(world: World, name: str) -> None:
    """[SURFACES: Serving] 2,000 idle connections to a process with 1,024 files block neither server."""
    words, path = SERVERS[name]
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= hard < 4000:
        pytest.skip("too few files")
    command = ["sh", "-c", 'ulimit -n 1024; exec "$@"', "sh", sys.executable, "-m", "skillc", *words]
    env = world.env | {"SKILLC_MCP_TOKEN": "t"}
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with (
        subprocess.Popen(command, cwd=world.project, env=env, stdout=subprocess.PIPE, text=True) as process,
        ExitStack() as stack,
    ):
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        stack.callback(process.kill)
        assert process.stdout is not None
        url = next(word for word in process.stdout if "http://" in word).split()[-1]
        address = ("127.0.0.1", httpx2.URL(url).port or 0)
        for number in range(2000):
            if number % 64 == 0:  # 128 wait to be accepted; one more is dropped, and tries again in a second
                time.sleep(0.02)
            stack.enter_context(socket.create_connection(address, timeout=20))
        for _ in range(3):
            answer = httpx2.get(url + path, timeout=20, trust_env=False, verify=False)
            assert answer.status_code == (200 if path else 401)
