"""Git repositories, and a server for them on loopback."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from dulwich.objects import Blob, Commit, Tree
from dulwich.protocol import pkt_line
from dulwich.refs import Ref
from dulwich.repo import Repo

GIT_ENV = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{
        f"GIT_{who}_{what}": "someone@localhost"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    },
}


class Origin:
    """A repository that somebody works in and pushes to `bare`, which is what is served."""

    def __init__(self, root: Path) -> None:
        self.bare = root / "served" / "skills.git"
        self.work = root / "work"

    def make(self) -> None:
        root = self.work.parent
        self.git("init", "-q", "--bare", "-b", "main", str(self.bare), at=root)
        self.git("init", "-q", "-b", "main", str(self.work), at=root)
        self.git("remote", "add", "origin", "../served/skills.git")

    def git(self, *words: str, at: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *words], cwd=at or self.work, env=GIT_ENV, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def write(self, path: str, text: str | bytes) -> None:
        file = self.work / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)

    def skill(self, path: str, body: str = "Body.") -> None:
        name = path.rpartition("/")[2]
        self.write(f"{path}/SKILL.md", f"---\nname: {name}\ndescription: About {name}\n---\n{body}\n")

    def push(self, *skills: str, tag: str = "") -> str:
        """Commit what was written, and skills besides; gives the commit."""
        for path in skills:
            self.skill(path)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "change")
        if tag:
            self.git("tag", "-a", tag, "-m", tag)
        self.git("push", "-q", "-f", "--tags", "origin", "main")
        return self.git("rev-parse", "HEAD")

    def push_tree(self, tree: Tree, *blobs: Blob | Tree) -> None:
        """Make a commit with a tree that git itself would not make."""
        with Repo(str(self.bare)) as repo:
            commit = Commit()
            commit.tree = tree.id
            commit.author = commit.committer = b"someone <someone@localhost>"
            commit.author_time = commit.commit_time = 1
            commit.author_timezone = commit.commit_timezone = 0
            commit.message = b"hostile"
            for made in (*blobs, tree, commit):
                repo.object_store.add_object(made)
            repo.refs[Ref(b"refs/heads/main")] = commit.id


class Server(ThreadingHTTPServer):
    """`git http-backend` on loopback, with a password and with faults."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, root: Path) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.root = root
        self.token = ""
        self.fault = ""
        self.redirect = ""
        self.moves: dict[str, str] = {}  # paths of repositories that have a new one
        self.requests: list[str] = []
        self.authorized: list[str] = []
        self.halfway = threading.Event()
        self.end = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_port}/skills.git"

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of a client that went away, nor of git's refusals: commands here share this stderr."""
        if not isinstance(sys.exception(), OSError | subprocess.CalledProcessError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    @property
    def fetches(self) -> int:
        return sum(1 for line in self.requests if line.startswith("fetch"))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, body: bytes) -> None:
        fetching = b"command=fetch" in body
        self.server.requests.append(f"{'fetch' if fetching else 'ask'} {self.path}")
        self.server.authorized.append(self.headers.get("Authorization", ""))
        if self.server.redirect:
            self.send_response(302)
            self.send_header("Location", self.server.redirect + self.path)
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif any(self.path.startswith(path) for path in self.server.moves):
            path = next(path for path in self.server.moves if self.path.startswith(path))
            self.send_response(301)
            self.send_header("Location", self.server.moves[path] + self.path.removeprefix(path))
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.server.fault == "hang":
            self.server.end.wait(20)
            self.close_connection = True
        elif self.server.fault == "drip":
            self._drip()
        elif self.server.fault.isdigit():
            self.send_error(int(self.server.fault))
        elif self.server.fault == "lie":
            self._advertise(b"../../../x refs/heads/main\0shallow\n")
        elif self.server.fault == "echo":
            sent = self.headers["Authorization"]
            self._advertise(f"ERR no: {sent} {base64.b64decode(sent.split()[1]).decode()}\n".encode())
        elif self.server.fault == "html":
            self._send({"Content-Type": "text/html"}, b"<h1>Not git</h1>")
        elif self._allowed():
            self._backend(body, self.server.fault if fetching else "")

    def _advertise(self, line: bytes) -> None:
        lines = [b"# service=git-upload-pack\n", None, line, None]
        kind = "application/x-git-upload-pack-advertisement"
        self._send({"Content-Type": kind}, b"".join(map(pkt_line, lines)))

    def _allowed(self) -> bool:
        pair = base64.b64encode(f"x-access-token:{self.server.token}".encode()).decode()
        if not self.server.token or self.headers.get("Authorization") == f"Basic {pair}":
            return True
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.send_header("Content-Length", "0")
        self.end_headers()
        return False

    def _backend(self, body: bytes, fault: str) -> None:
        path, _, query = self.path.partition("?")
        env = GIT_ENV | {
            "GIT_PROJECT_ROOT": str(self.server.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "REMOTE_ADDR": "127.0.0.1",
        }
        done = subprocess.run(["git", "http-backend"], env=env, input=body, capture_output=True, check=True)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
        self._send(headers, content, fault)

    def _send(self, headers: dict[str, str], content: bytes, fault: str = "") -> None:
        self.send_response(int(headers.pop("Status", "200").split()[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        half = len(content) // 2
        self.wfile.write(content[:half] if fault else content)
        self.wfile.flush()
        if fault == "pause":
            self.server.end.wait(2.5)
            self.wfile.write(content[half:])
            return
        if fault:
            self.close_connection = True
            self.server.halfway.set()
        if fault == "stall":
            self.server.end.wait(20)

    def _drip(self) -> None:
        try:
            while not self.server.end.wait(0.02):
                self.wfile.write(b"x")
                self.wfile.flush()
        except OSError:
            pass
        self.close_connection = True


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository that every test gets a copy of."""
    root = tmp_path_factory.mktemp("template")
    made = Origin(root)
    made.make()
    made.write("extraction/COLLECTION.md", "Taking things out\n")
    made.push("extraction/email", "pdf", tag="v1")
    return root


@pytest.fixture
def origin(template: Path, tmp_path: Path) -> Origin:
    shutil.copytree(template, tmp_path, dirs_exist_ok=True, symlinks=True)
    return Origin(tmp_path)


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.end.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def server(origin: Origin) -> Iterator[Server]:
    with serving(Server(origin.bare.parent)) as made:
        yield made


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"
