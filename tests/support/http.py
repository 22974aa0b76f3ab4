"""An HTTP server that answers as the test says, byte for byte."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

Chunks = Iterable[bytes | float]


class Request:
    """What a client sent: the path as it stood on the wire, headers in lower case."""

    def __init__(self, head: bytes) -> None:
        first, *lines = head.decode("latin-1").split("\r\n")
        self.method, self.path, _ = first.split(" ")
        self.body = b""
        self.headers = {k.lower(): v for k, _, v in (line.partition(": ") for line in lines) if k}


class Stub:
    """A server that answers as it is told, byte for byte: `answer` gives bytes, and seconds to wait."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.answer: Callable[[Request], Chunks] = lambda request: [page({"skills": []})]
        self._over = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def gives(self, *chunks: bytes | float) -> None:
        self.answer = lambda request: chunks

    def paths(self) -> list[str]:
        return [request.path for request in self.requests]

    def close(self) -> None:
        self._over.set()
        with socket.create_connection(self._socket.getsockname()):
            pass
        for thread in self._threads:
            thread.join()
        self._socket.close()

    def _accept(self) -> None:
        while True:
            connection, _ = self._socket.accept()
            if self._over.is_set():
                connection.close()
                return
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                head = b""
                while b"\r\n\r\n" not in head:
                    got = connection.recv(65536)
                    if not got:
                        return
                    head += got
                head, _, body = head.partition(b"\r\n\r\n")
                request = Request(head)
                while len(body) < int(request.headers.get("content-length", 0)):
                    got = connection.recv(65536)
                    if not got:
                        return
                    body += got
                request.body = body
                self.requests.append(request)
                for chunk in self.answer(request):
                    if isinstance(chunk, float):
                        self._over.wait(chunk)
                    elif not self._over.is_set():
                        connection.sendall(chunk)
            except OSError:  # the client has enough
                pass


def page(value: Any, status: int = 200, **headers: str) -> bytes:
    """An answer with a body (JSON unless it is bytes), after which the connection ends."""
    body = value if isinstance(value, bytes) else json.dumps(value).encode()
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {text}" for name, text in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def entry(skill_id: str, **fields: Any) -> dict[str, Any]:
    name = skill_id.rpartition("/")[2]
    return {"id": skill_id, "name": name, "description": f"About {name}", "scope": "project"} | fields


LIST = {"skills": [entry("pdf"), entry("extraction/email", metadata={"a": "b"}), entry("extract/it")]}


@pytest.fixture
def stub() -> Iterator[Stub]:
    made = Stub()
    yield made
    made.close()
