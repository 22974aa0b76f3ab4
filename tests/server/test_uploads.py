"""The folders in which a server unpacks and audits skills: private, and swept when a server was killed."""

from __future__ import annotations

import os
import signal
import socket
import stat
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from skillc.server.uploads import Workplace
from tests.support.http import Stub, stub
from tests.support.registry import Server, body, serving

__all__ = ["stub"]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes and signals")


def folders(root: Path) -> list[Path]:
    return [path for path in root.iterdir() if path.is_dir()] if root.exists() else []


def begin_upload(server: Server) -> socket.socket:
    """Send the beginning of an archive, and leave the connection open."""
    lines = "PUT /skills/payments/refunds HTTP/1.1", "Content-Type: application/gzip"
    return connect(server, *lines, "Content-Length: 1000000", text="private")


def connect(server: Server, request: str, *headers: str, text: str = "") -> socket.socket:
    """Send a request with a token, and leave the connection open."""
    address = urlsplit(server.url)
    assert address.port is not None
    connection = socket.create_connection((str(address.hostname), address.port))
    lines = [request, f"Host: {address.netloc}", f"Authorization: Bearer {server.token}", *headers]
    connection.sendall("\r\n".join([*lines, "", text]).encode())
    return connection


def wait_for_folder(root: Path) -> Path:
    for _ in range(1200):
        if found := folders(root):
            return found[0]
        time.sleep(0.05)
    raise AssertionError("no folder was made")


def test_folders_are_private(tmp_path: Path) -> None:
    """[SURFACES: Registry] a folder is its owner's alone, also in a root that others could enter."""
    root = tmp_path / "work"
    root.mkdir(mode=0o755)
    with Workplace(str(root)).open() as folder:
        assert [stat.S_IMODE(os.stat(path).st_mode) for path in (folder, root)] == [0o700, 0o700]
        Path(folder, "file").write_text("text")
    assert [path.name for path in root.iterdir()] == [".lock"]
    with Workplace().open() as folder:
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert not os.path.exists(folder)


def test_a_sweep_leaves_what_is_used(tmp_path: Path) -> None:
    """[SURFACES: Registry] what no process uses is removed, with or without its lock; all else stays."""
    workplace = Workplace(str(tmp_path))
    for name in ("work-dead", "work-bare"):
        (tmp_path / name).mkdir()
    (tmp_path / "work-dead" / "SKILL.md").write_text("private")
    (tmp_path / "work-dead.lock").touch()
    (tmp_path / "other").mkdir()
    with workplace.open() as folder:
        workplace.sweep()
        assert {path.name for path in folders(tmp_path)} == {"other", os.path.basename(folder)}
    workplace.sweep()
    assert {path.name for path in tmp_path.iterdir()} == {"other", ".lock"}
    Workplace().sweep()


@pytest.mark.slow
def test_a_killed_server_leaves_nothing(tmp_path: Path) -> None:
    """[SURFACES: Registry] copies of uploads are below the registry's folder, and gone at the next start.

    The next test has a server of one process.
    """
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    root = tmp_path / "home" / ".skillc" / "registry" / "work"
    words = "--workers", "2"
    with serving(tmp_path / "home", *words, TMPDIR=str(temporary)) as server:
        with begin_upload(server):
            folder = wait_for_folder(root)
            assert (folder / "packed").exists()
            for pid in children(server):
                os.kill(int(pid), signal.SIGKILL)
            server.process.kill()
            server.process.wait()
        assert folder.exists()
    assert not [*temporary.glob("skillc-[!m]*")]
    with serving(tmp_path / "home", *words, token=server.token, TMPDIR=str(temporary)) as server:
        assert folders(root) == []
        with begin_upload(server):
            folder = wait_for_folder(root)
            with serving(tmp_path / "home", token=server.token) as other, other.client() as client:
                assert folders(root) == [folder]  # another server uses it
                assert client.post("/skills", json=body("payments/cards")).status_code == 201
                assert folders(root) == [folder]


@pytest.mark.slow
def test_a_killed_mirror_leaves_nothing(tmp_path: Path, stub: Stub) -> None:
    """[SURFACES: Registry] what another registry sends is below the registry's folder as well."""
    temporary, config = tmp_path / "tmp", tmp_path / "registry.toml"
    temporary.mkdir()
    config.write_text(f'[[mirror]]\nprefix = "community"\nurl = "{stub.url}"\n')
    root = tmp_path / "home" / ".skillc" / "registry" / "work"
    stub.gives(5.0)  # before it answers, so that the server waits
    place = serving(tmp_path / "home", "--config", str(config), TMPDIR=str(temporary))
    with place as server, connect(server, "GET /skills/community/pdf HTTP/1.1"):
        assert wait_for_folder(root)
        server.process.kill()
        server.process.wait()
    assert not [*temporary.glob("skillc-[!m]*"), *temporary.glob("skillc-mirror-*")]
    assert folders(root)
    Workplace(str(root)).sweep()
    assert not folders(root)


def children(server: Server) -> list[str]:
    path = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
    return path.read_text().split()
