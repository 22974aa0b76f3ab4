"""An Internet on loopback: a proxy that answers for hosts of a test, over TLS, and for no others."""

from __future__ import annotations

import select
import socket
import socketserver
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NAMES = ("github.com", "gitlab.com", "example.com", "*.example.com", "example.org", "*.example.org")


class Internet(socketserver.ThreadingTCPServer):
    """Hosts by name, each with the port on loopback that answers for it without TLS."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Tunnel)
        self.hosts: dict[str, int] = {}
        self.certificate = folder / "certificate.pem"
        key = folder / "key.pem"
        words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=skillc-tests"
        names = "subjectAltName=" + ",".join(f"DNS:{name}" for name in NAMES)
        more = ["-addext", names, "-keyout", str(key), "-out", str(self.certificate)]
        subprocess.run(["openssl", *words.split(), *more], check=True, capture_output=True)
        self.context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.context.load_cert_chain(self.certificate, key)

    @property
    def env(self) -> dict[str, str]:
        """What makes programs use it, and nothing else."""
        names = ("SSL_CERT_FILE", "GIT_SSL_CAINFO", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
        certificates = {name: str(self.certificate) for name in names}
        proxy = f"http://127.0.0.1:{self.server_address[1]}"
        return certificates | {"HTTPS_PROXY": proxy, "https_proxy": proxy, "NO_PROXY": "127.0.0.1,localhost"}


class _Tunnel(socketserver.BaseRequestHandler):
    server: Internet

    def handle(self) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            piece = self.request.recv(65536)
            if not piece:
                return
            head += piece
        host = head.split()[1].decode().partition(":")[0]
        if host not in self.server.hosts:
            self.request.sendall(b"HTTP/1.1 502 There is no such host\r\nContent-Length: 0\r\n\r\n")
            return
        self.request.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
        with suppress(OSError):  # a client that leaves, or distrusts the certificate
            client = self.server.context.wrap_socket(self.request, server_side=True)
            with client, socket.create_connection(("127.0.0.1", self.server.hosts[host])) as host_side:
                _pass_on(client, host_side)


def _pass_on(client: ssl.SSLSocket, host: socket.socket) -> None:
    while True:
        ready = [client] if client.pending() else select.select([client, host], [], [])[0]
        for side in ready:
            piece = side.recv(65536)
            if not piece:
                return
            (host if side is client else client).sendall(piece)


@contextmanager
def connected(folder: Path) -> Iterator[Internet]:
    with Internet(folder) as internet:
        thread = threading.Thread(target=internet.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield internet
        finally:
            internet.shutdown()
            thread.join()
