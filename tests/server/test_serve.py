"""`skc serve` as a process: its URL, signals, ports that are taken, and our source as its client."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest

from skillc.cli.commands import serve as command
from skillc.cli.syntax import parse
from skillc.errors import InvalidOption, SkillcError
from skillc.library.sources import HttpSkillSource
from skillc.remotes.http import BearerAuth
from tests.conftest import World
from tests.support.forks import serving_skc
from tests.support.skills import run, skill
from tests.support.variables import allow_all


@contextmanager
def serving(world: World, *words: str, token: str = "") -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The URL that the command prints, and its process."""
    words = ("serve", "--read-only", "--port", "0", *words)
    env = world.env | ({"SKILLC_SERVE_TOKEN": token} if token else {})
    with serving_skc(words, cwd=world.project, env=env, stderr=subprocess.PIPE) as (url, process):
        yield url, process


@pytest.fixture
def library(world: World) -> World:
    for path in ("extraction/email", "extraction/medical/diagnosis", "pdf"):
        skill(world.store, path)
    (world.store / "extraction" / "COLLECTION.md").write_text("Entities\n")
    return world


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
        assert "SKILL.md" in library.ok("sources", "extraction/email", cwd=other, env=secret).stdout
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


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it(library: World, number: signal.Signals) -> None:
    """[LIB: Wire Format (Meerkat Skills API)] status 0, nothing on stderr, with a client still connected."""
    with (
        serving(library) as (url, process),
        httpx2.Client(base_url=url, trust_env=False, verify=False) as client,
    ):
        assert client.get("/healthz").status_code == 200
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (0, "", "")


def test_a_port_that_is_taken(library: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D21] one coded line for a port in use; E100 for ports that are none, and wrong options."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        error = fails("--read-only", "--port", port)
    assert error.line() == (
        f"error[E999]: cannot listen on 127.0.0.1 port {port}: Address already in use;"
        " choose another port with --port"
    )
    for port in ("x", "-1", "65536", "1e3", "٣", ""):
        assert isinstance(fails("--read-only", f"--port={port}"), InvalidOption)
    assert isinstance(fails("--read-only", "--public-read"), InvalidOption)
    monkeypatch.setenv("SKILLC_SERVE_TOKEN", "t")
    assert "cannot listen on 203.0.113.1" in fails("--read-only", "--host", "203.0.113.1").message


@pytest.mark.slow
def test_token(library: World) -> None:
    """[SURFACES: Serving] with a token, only a request that sends it; it is shown nowhere."""
    with serving(library, token="s3cret") as (url, process):
        for given in (None, "Bearer", "Bearer s3cre", "Bearer s3cret2", "Basic s3cret", "s3cret"):
            headers = {"Authorization": given} if given else {}
            answer = httpx2.get(f"{url}/skills", headers=headers, trust_env=False, verify=False)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer"), given
            assert answer.json()["error"]["code"] == "E100"
        assert httpx2.get(f"{url}/healthz", trust_env=False, verify=False).status_code == 200
        remote = HttpSkillSource(url, auth=BearerAuth("s3cret"))
        assert len(run(remote.list())) == 6
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
        assert "s3cret" not in out + err


@pytest.mark.slow
def test_log(library: World) -> None:
    """[SURFACES: Serving] what an answer does not say is on stderr: one line, without control characters."""
    gone = library.root / "go\x1bne"
    (library.project / ".skillc" / "skills.toml").write_text(
        '[[repositories]]\nname = "away"\ntype = "filesystem"\nrequired = true\n'
        f"path = {json.dumps(str(gone))}\n"
    )
    with serving(library) as (url, process):
        answer = httpx2.get(f"{url}/skills", trust_env=False, verify=False)
        assert answer.json()["error"]["message"] == "a repository is unavailable; the server's log says more"
        assert answer.status_code == 503
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert err.startswith("GET /skills: error[E200]: repository 'away' unavailable: ")
    assert err.count("\n") == 1
    assert err.rstrip("\n").isprintable()


def test_others_need_a_token(library: World) -> None:
    """[SURFACES: Serving] what other machines could reach is not served without a token."""
    for host in ("0.0.0.0", "::", "192.0.2.7", "example.com", "127.example.com"):
        error = fails("--read-only", "--port", "0", "--host", host)
        assert (error.code, "SKILLC_SERVE_TOKEN" in error.message) == ("E100", True)


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="no IPv6")
def test_names(library: World) -> None:
    """[SURFACES: Serving] at `::` a client names the address that it connects to, or a name."""
    with serving(library, "--host", "::", "--allow-host", "skills.example", token="t") as (url, _):
        port = url.rpartition(":")[2]
        for address in ("127.0.0.1", "[::1]"):
            for name, status in (("", 200), ("skills.example", 200), ("evil.example", 421)):
                headers = {"Authorization": "Bearer t"} | ({"Host": name} if name else {})
                answer = httpx2.get(
                    f"http://{address}:{port}/skills", headers=headers, trust_env=False, verify=False
                )
                assert answer.status_code == status, (address, name)


def fails(*words: str) -> SkillcError:
    with pytest.raises(SkillcError) as caught:
        command.run(parse(command.COMMAND, words))
    return caught.value
