"""`skc login` and `skc logout`."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys

import pytest

from tests.cli.calls import as_json, fails, ok
from tests.conftest import World
from tests.support.cases import each
from tests.support.http import Request, Stub, page

SECRET = "skc_0123456789abcdef_s3cr3t"
ADA = {"subject": "ada", "permissions": [{"role": "publisher", "prefix": "pay"}], "expires_at": "2027-01-01"}


def whoami(request: Request) -> list[bytes]:
    """A registry that knows one token."""
    if request.headers.get("authorization") != f"Bearer {SECRET}":
        return [page({"error": {"code": "E090", "message": "it needs a valid token"}}, 401)]
    return [page(ADA)]


@pytest.fixture
def registry(stub: Stub) -> Stub:
    stub.answer = whoami
    return stub


def stored(world: World) -> str:
    path = world.home / ".skillc" / "credentials.json"
    return path.read_text() if path.exists() else ""


def test_with_a_variable(world: World, registry: Stub) -> None:
    """[SURFACES: Registry] `login --token-env` tries the token, stores it, and does not print it."""
    run = world.ok("login", f"{registry.url}/", "--token-env", "TEAM", env={"TEAM": SECRET})
    roles = "publisher below pay, no role elsewhere"
    until = "; the token is valid until 2027-01-01"
    assert run.stdout == f"Logged in to {registry.url} as ada ({roles}){until}\n"
    assert registry.paths() == ["/whoami"]
    assert SECRET in stored(world)
    listing = as_json("login")
    assert listing == {"registries": [{"registry": registry.url, "subject": "ada"}]}
    assert ok("login").stdout.splitlines()[1].split() == [registry.url, "ada"]
    assert as_json("logout", registry.url)["removed"] is True
    assert "not logged in" in ok("logout", registry.url).stdout
    assert SECRET not in stored(world)
    assert "no registry" in ok("login").stdout


def test_with_stdin(world: World, registry: Stub) -> None:
    """[SURFACES: Registry] `login --token-stdin` reads the first line."""
    command = [sys.executable, "-m", "skillc", "login", registry.url, "--token-stdin", "--format", "json"]
    run = subprocess.run(
        command, cwd=world.project, env=world.env, input=f"{SECRET}\nmore", capture_output=True, text=True
    )
    assert json.loads(run.stdout) == {"registry": registry.url, **ADA}
    assert SECRET not in run.stdout + run.stderr


def test_on_a_terminal(world: World, registry: Stub) -> None:
    """[SURFACES: Registry] on a terminal the token is asked for, and not shown."""
    controller, terminal = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "skillc", "login", registry.url],
        cwd=world.project,
        env=world.env,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    ) as process:
        os.close(terminal)
        shown = b""
        while b"Token for" not in shown:
            shown += os.read(controller, 4096)
        os.write(controller, f"{SECRET}\n".encode())
        while b"Logged in" not in shown:
            shown += os.read(controller, 4096)
    os.close(controller)
    assert process.returncode == 0
    assert SECRET.encode() not in shown


@each(
    ("words", "reason"),
    [
        ((), "--token-env or --token-stdin"),
        (("--token-env", "NONE"), "not set"),
        (("--token-env", "TEAM", "--token-stdin"), "exclude each other"),
        (("--token-env", "ODD"), "no token"),
    ],
)
def test_no_token(world: World, registry: Stub, words: tuple[str, ...], reason: str) -> None:
    """[SURFACES: Registry] without a token, E100 says how to give one; nothing is asked or stored."""
    run = world.fails("E100", "login", registry.url, *words, env={"TEAM": SECRET, "ODD": "a b"})
    assert reason in run.stderr
    assert registry.requests == []
    assert "E100" in fails("E100", "login", "--token-env", "TEAM").stderr


def test_wrong_token(world: World, registry: Stub) -> None:
    """[SURFACES: Registry] a wrong token is E090, and not stored; a home that takes no file is E071."""
    run = world.fails("E090", "login", registry.url, "--token-env", "TEAM", env={"TEAM": "wr0ng-token"})
    assert f"skc login {registry.url}" in run.stderr
    assert "missing, wrong, expired or revoked" in run.stderr
    assert f"{registry.url}/account" in run.stderr
    assert "wr0ng" not in run.stdout + run.stderr + stored(world)
    shutil.rmtree(world.home / ".skillc", ignore_errors=True)
    (world.home / ".skillc").write_text("a file, no folder")
    run = world.fails("E071", "login", registry.url, "--token-env", "TEAM", env={"TEAM": SECRET})
    assert "SKILLC_TOKEN" in run.stderr
    assert SECRET not in run.stderr


def test_no_registry(world: World, stub: Stub) -> None:
    """[SURFACES: Registry] a server that is no registry, or is not there, is E092, and nothing is stored.

    An address below or beside that of a registry says what is wrong with it.
    """
    words = ("--token-env", "TEAM")
    world.fails("E092", "login", stub.url, *words, env={"TEAM": SECRET})
    run = world.fails("E092", "login", "http://127.0.0.1:1", *words, env={"TEAM": SECRET})
    assert "check the address" in run.stderr
    for error in ({"error": {"code": "E100", "message": "no such path"}}, b"<h1>404</h1>"):
        stub.gives(page(error, 404))
        run = world.fails("E092", "login", f"{stub.url}/skills", *words, env={"TEAM": SECRET})
        assert "there is no registry of skillc's at this address" in run.stderr
    assert stored(world) == ""


def test_in_the_clear(world: World) -> None:
    """[SURFACES: Registry] a token is not sent over http to another machine."""
    run = world.fails(
        "E100", "login", "http://skills.example.com", "--token-env", "TEAM", env={"TEAM": SECRET}
    )
    assert "use https" in run.stderr
