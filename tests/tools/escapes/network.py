"""Attempts to reach others: over the network, and through sockets of the machine."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.tools.conftest import Bench
from tests.tools.escapes import attempt

TCP = """
import socket, sys
for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::ffff:127.0.0.1")):
    try:
        with socket.socket(family, socket.SOCK_STREAM) as s:
            s.connect((host, int(sys.argv[1])))
            s.sendall(b"out")
    except OSError as error:
        print(error)
"""
UDP = """
import socket, sys
for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::ffff:127.0.0.1")):
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as s:
            s.sendto(b"out", (host, int(sys.argv[1])))
    except OSError as error:
        print(error)
"""
UNIX = """
import socket, sys
where = sys.argv[1].replace("@", chr(0))
def try_it(make):
    try:
        make()
    except OSError as error:
        print(error)
def plain():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.sendto(b"out", where)
def pair():
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    a.sendto(b"out", where)
try_it(plain)
try_it(pair)
"""
RING = """
import ctypes
print("ring", ctypes.CDLL(None).syscall(425, 1, (ctypes.c_char * 120)()))
"""


@contextmanager
def listening(family: int, kind: int, address: object) -> Iterator[socket.socket]:
    with socket.socket(family, kind) as server:
        server.bind(address)  # type: ignore[arg-type]
        if kind == socket.SOCK_STREAM:
            server.listen()
        server.setblocking(False)
        yield server


def heard(server: socket.socket) -> bool:
    """Whether anybody came; what was sent over loopback is there when the sender has ended."""
    try:
        if server.type == socket.SOCK_STREAM:
            server.accept()[0].close()
        else:
            server.recv(16)
    except BlockingIOError:
        return False
    return True


@attempt("TCP without `network`")
def tcp(bench: Bench) -> bool:
    return reached(bench, socket.SOCK_STREAM, TCP, network=False)


@attempt("UDP without `network`")
def udp(bench: Bench) -> bool:
    return reached(bench, socket.SOCK_DGRAM, UDP, network=False)


@attempt("any host with `network`")
def allowed(bench: Bench) -> bool:
    return reached(bench, socket.SOCK_STREAM, TCP, network=True) and reached(
        bench, socket.SOCK_DGRAM, UDP, network=True
    )


def reached(bench: Bench, kind: int, code: str, *, network: bool) -> bool:
    with listening(socket.AF_INET, kind, ("127.0.0.1", 0)) as server:
        bench.python(code, str(server.getsockname()[1]), network=network)
        return heard(server)


@attempt("a unix socket of the machine, even with `network`")
def unix(bench: Bench) -> bool:
    short = f"/tmp/skillc-{secrets.token_hex(4)}"
    for place in (str(bench.project / "s"), short):
        if len(place) > 100:
            continue
        with listening(socket.AF_UNIX, socket.SOCK_DGRAM, place) as server:
            for network in (True, False):
                bench.python(UNIX, place, network=network, read_only=False)
                if heard(server):
                    return True
    return False


@attempt("an abstract unix socket, even with `network`")
def abstract(bench: Bench) -> bool:
    name = f"skillc-{secrets.token_hex(8)}"
    with listening(socket.AF_UNIX, socket.SOCK_DGRAM, f"\0{name}") as server:
        for network in (True, False):
            bench.python(UNIX, f"@{name}", network=network)
            if heard(server):
                return True
    return False


@attempt("io_uring")
def ring(bench: Bench) -> bool:
    return "ring -1" not in possible(bench, RING)


def possible(bench: Bench, code: str, *arguments: str) -> str:
    """What code prints; at `none`, a machine that refuses it to everybody has nothing to show."""
    output = bench.python(code, *arguments, network=True).output
    if bench.level == "none" and "-1" in output:
        pytest.skip("the kernel refuses it to every process here")
    return output
