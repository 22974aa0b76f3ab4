"""`skc serve` as a process: its URL, signals, ports that are taken, and our source as its client."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import httpx2
import pytest

from skillc.cli.commands import serve as command
from skillc.cli.syntax import parse
from skillc.errors import InvalidOption, SkillcError
from skillc.library.http import HttpSkillSource
from skillc.workspace import Workspace
from tests.conftest import World
from tests.support.skills import run, skill
from tests.support.variables import allow_all

RUN = "import sys, skillc.cli as cli; cli.NAMES = (*cli.NAMES, 'serve'); sys.exit(cli.main())"


def start(world: World, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", RUN, "serve", *words],
        cwd=world.project,
        env=world.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


@contextmanager
def serving(world: World, *words: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The URL that the command prints, and its process."""
    with start(world, "--read-only", "--port", "0", *words) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("Serving on http://127.0.0.1:"), line
            yield line.removeprefix("Serving on ").strip(), process
        finally:
            process.kill()


@pytest.fixture
def library(world: World) -> World:
    for path in ("extraction/email", "extraction/medical/diagnosis", "pdf"):
        skill(world.store, path)
    (world.store / "extraction" / "COLLECTION.md").write_text("Entities\n")
    return world


def test_the_configured_library(library: World) -> None:
    """[LIB: Wire Format (Meerkat Skills API)] [D28] our source sees there what the local library holds."""
    local = Workspace().engine().source
    with serving(library) as (url, _):
        remote = HttpSkillSource(url, name="served")
        skills = [replace(found, source_name="") for found in run(local.list())]
        assert len(skills) == 6  # and the embedded ones
        assert run(remote.list()) == skills
        assert run(remote.collections()) == run(local.collections())
        for found in skills:
            document = run(local.load(found.id))
            assert run(remote.load(found.id)) == replace(document, descriptor=found)
        turn = httpx2.post(f"{url}/turns", json={"message": "/pdf go"}, trust_env=False).json()
    assert turn["message"].endswith("</skill>\n\ngo")


@pytest.mark.slow
def test_as_a_repository(library: World) -> None:
    """[D24] [D28] [LIB: Configuration file: .rkat/skills.toml] a server in skills.toml, another down."""
    other = library.root / "other"
    (other / ".skillc").mkdir(parents=True)
    secret = {"ELEPHANT": "s3cr3t-0123456789"}
    with serving(library) as (url, _):
        (other / ".skillc" / "skills.toml").write_text(
            f'[[repositories]]\nname="elephant"\ntype="http"\nurl="{url}/"\n'
            'auth_header="X-API-Key"\nauth_token="${ELEPHANT}"\n'
            '[[repositories]]\nname="down"\ntype="http"\nurl="http://127.0.0.1:1"\nauth_token="${ELEPHANT}"\n'
        )
        allow_all(library.home, other)
        assert "About pdf" in library.ok("browse", cwd=other, env=secret).stdout
        assert library.ok("load", "extraction/email", cwd=other, env=secret).stdout.startswith("<skill id=")
        listed = library.ok("repo", "list", "--format", "json", cwd=other, env=secret)
        library.fails("E200", "browse", cwd=other)
    states = json.loads(listed.stdout)["repositories"]
    assert [(s["name"], s["type"], s["status"], s["skills"]) for s in states[:2]] == [
        ("elephant", "http", "ok", 6),
        ("down", "http", "unavailable", 0),
    ]
    assert states[1]["error"] == "repository 'down' unavailable: Connection refused"
    gone = library.fails("E200", "browse", "--verbose", cwd=other, env=secret)
    for text in (listed.stdout, listed.stderr, gone.stdout, gone.stderr):
        assert secret["ELEPHANT"] not in text


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it(library: World, number: signal.Signals) -> None:
    """[LIB: Wire Format (Meerkat Skills API)] status 0, nothing on stderr, with a client still connected."""
    with serving(library) as (url, process), httpx2.Client(base_url=url, trust_env=False) as client:
        assert client.get("/healthz").status_code == 200
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
        assert (process.returncode, out, err) == (0, "", "")


def test_a_port_that_is_taken(library: World) -> None:
    """[D21] one coded line, for a port in use and for an address that is not ours."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with start(library, "--read-only", "--port", port) as process:
            out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (1, "")
    assert err == f"error[E999]: cannot listen on 127.0.0.1 port {port}: Address already in use\n"


def fails(*words: str) -> SkillcError:
    with pytest.raises(SkillcError) as caught:
        command.run(parse(command.COMMAND, words))
    return caught.value


def test_only_reading_yet(library: World) -> None:
    """[D21] E100 without --read-only, and for ports that are none."""
    error = fails()
    assert isinstance(error, InvalidOption)
    assert "skc serve --read-only" in error.message
    for port in ("x", "-1", "65536", "1e3", "٣", ""):
        assert fails("--read-only", f"--port={port}").code == "E100"
    assert "cannot listen on 203.0.113.1" in fails("--read-only", "--host", "203.0.113.1").message


@pytest.mark.parametrize("missing", ["uvicorn", "starlette"])
def test_without_the_extra(library: World, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """[LIB: Wire Format (Meerkat Skills API)] says what to install."""
    for name in [name for name in sys.modules if name.startswith("skillc.server.")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in sys.modules if name.split(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    error = fails("--read-only", "--port", "0")
    assert error.line() == (
        "error[E201]: 'skc serve' needs Starlette and uvicorn: pip install 'skillc[server]'"
    )
