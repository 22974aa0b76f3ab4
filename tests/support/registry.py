"""A registry behind HTTP: an application with a client, `skc serve` as a process, archives to publish."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from skillc.registry import SYSTEM, Registry, Role
from skillc.server import ServerSettings, create_registry_app
from tests.support.client import AppClient
from tests.support.forks import start_skc


def skill_md(name: str = "refunds", text: str = "Text.", **fields: str) -> str:
    more = "".join(f"{key}: {value}\n" for key, value in fields.items())
    return f"---\nname: {name}\ndescription: What {name} is for\n{more}---\n# {name}\n\n{text}\n"


def body(skill_id: str, text: str = "Text.", files: Mapping[str, bytes] | None = None, **fields: Any) -> Any:
    """What `POST /skills` takes."""
    encoded = {path: b64encode(data).decode() for path, data in (files or {}).items()}
    return {
        "id": skill_id,
        "skill_md": skill_md(skill_id.rpartition("/")[2], text),
        "files": encoded,
        **fields,
    }


def token(registry: Registry, role: Role = Role.ADMIN, prefix: str = "", owner: str = "admin") -> str:
    """A new token of an owner that has an admin's grant."""
    registry.accounts.create_first_admin()
    return registry.accounts.create_token(SYSTEM, role, prefix, owner=owner).secret


class Client(AppClient):
    """A client with a token of a role; `Client(registry, None)` has none."""

    def __init__(
        self,
        registry: Registry,
        role: Role | None = Role.ADMIN,
        prefix: str = "",
        settings: ServerSettings | None = None,
    ) -> None:
        headers = {} if role is None else {"Authorization": f"Bearer {token(registry, role, prefix)}"}
        super().__init__(create_registry_app(registry, settings), headers=headers)


def fault(response: httpx2.Response | Any) -> tuple[int, str]:
    """The status and the code of an error, which is a problem of RFC 9457."""
    assert response.headers["content-type"] == "application/problem+json", response.text
    value = response.json()
    assert value["status"] == response.status_code
    assert value["detail"] == value["error"]["message"]
    return response.status_code, value["error"]["code"]


@dataclass
class Server:
    """`skc serve` as a process: its address, the token that it printed, and where its stderr goes."""

    url: str
    token: str
    process: subprocess.Popen[str]
    log: Path

    def client(self, **options: Any) -> httpx2.Client:
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        return httpx2.Client(
            base_url=self.url, headers=headers, timeout=30, trust_env=False, verify=False, **options
        )

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)


def free_port() -> int:
    """A port that nothing listens on: for a server that is told its own address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        number: int = listener.getsockname()[1]
        return number


@contextmanager
def serving(home: Path, *words: str, token: str = "", **variables: str) -> Iterator[Server]:
    """A server of the registry in a home; `token` is for a registry that has printed its token before."""
    coverage = {name: text for name, text in os.environ.items() if name.startswith(("COV", "AWS_"))}
    home.mkdir(parents=True, exist_ok=True)
    log = home / "server.log"
    places = {"PATH": os.environ["PATH"], "HOME": str(home), "SKILLC_HOME": str(home)}
    with log.open("ab") as stderr:
        process = start_skc(
            ["serve", *(() if "--port" in words else ("--port", "0")), *words],
            cwd=home,
            env=coverage | places | {"LANG": "C.UTF-8"} | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr.fileno(),
            encoding="utf-8",
        )
    with process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if ": skc_" in line:
                token = line.rpartition(" ")[2].strip()
                line = process.stdout.readline()
            assert line.startswith("Serving on http://"), (line, log.read_text())
            yield Server(line.removeprefix("Serving on ").strip(), token, process, log)
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
