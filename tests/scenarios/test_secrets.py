"""No secret in any log, error, repr, cache or git config: tokens are planted, and searched for everywhere."""

from __future__ import annotations

import base64
import builtins
import json
import logging
import os
import pickle
import threading
import traceback
import warnings
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from skillc import (
    AgentFactory,
    BearerAuth,
    CompositeSkillSource,
    DefaultSkillEngine,
    GitSkillConfig,
    GitSkillSource,
    HeaderAuth,
    HttpSkillSource,
    HttpsToken,
    InMemorySkillSource,
    InvalidConfiguration,
    McpSkillSource,
    NamedSource,
    SkillDescriptor,
    SkillFilter,
    SkillId,
    SkillsConfig,
    SkillSource,
    SshKey,
    resolve_repositories,
)
from skillc.library.sources.source import ALL
from tests.conftest import World
from tests.scenarios.conftest import Origin, Server
from tests.scenarios.secrets import Planted
from tests.support.cases import each
from tests.support.git import serving
from tests.support.http import Chunks, Request, Stub, entry, page
from tests.support.skills import run
from tests.support.variables import allow_all

pytestmark = pytest.mark.slow

SECRETS = Planted(
    BEARER="tok-bearer-9f8e7d6c5b4a",
    HEADER="tok-header-1a2b3c4d5e6f",
    BASIC="tok-basic-0f1e2d3c4b5a",
    GIT="tok-git-a1b2c3d4e5f6",
    GIT_PASSWORD="tok-password-f6e5d4c3b2a1",
    GIT_USER="tok-user-b7c8d9e0f1a2",
    KEY="-----BEGIN OPENSSH PRIVATE KEY-----b3BlbnNzaC1rZXk",
    PASSPHRASE="phrase-of-the-key-5a6b",
    QUERY="tok-query-3c4d5e6f7a8b",
)

SIGNED = f"?part=1&X-Amz-Signature={SECRETS.secrets['QUERY']}&expires=5"
SENT = {"BEARER", "HEADER", "BASIC", "GIT", "GIT_PASSWORD", "GIT_USER"}
TIME_OUT = 0.1  # seconds; what hangs is to hang no longer
FAULTS = ("refused", "broken", "redirect", "hang", "vanished", "garbage")


class Surroundings:
    """Servers of both kinds that do what they are told, another origin, and an `ssh` that tells all."""

    def __init__(self, world: World, http: Stub, git: Server, other: Stub) -> None:
        self.world, self.http, self.git, self.other = world, http, git, other
        self.http_url, self.git_url = http.url, git.url
        self.key = world.home / "key"
        self.key.write_text(SECRETS.secrets["KEY"])
        self.ssh_log = world.root / "ssh.log"
        self.go("")

    def go(self, fault: str) -> None:
        """From now on behave like this; without a fault, as one should."""
        self.http.answer = _HTTP[fault](self)
        self.git.fault = {"refused": "401", "broken": "500", "hang": "hang", "garbage": "echo"}.get(fault, "")
        self.git.redirect = self.other.url if fault == "redirect" else ""
        nowhere = "http://127.0.0.1:9" if fault == "vanished" else ""
        self.http_url = nowhere or self.http.url
        self.git_url = f"{nowhere}/skills.git" if nowhere else self.git.url

    def address(self, url: str, user: str) -> str:
        return url.replace("http://", f"http://{user}@")

    def sources(self, time_out: float) -> dict[str, SkillSource]:
        """Every way to give a secret in Python."""
        http, git, secret = self.http_url, self.git_url, SECRETS.secrets
        cache, hosts = self.world.home / "python-cache", (self.other.url.removeprefix("http://"),)

        def repository(name: str, url: str, auth: HttpsToken | SshKey | None = None) -> GitSkillSource:
            where = cache / name
            config = GitSkillConfig(url, cache_dir=where, auth=auth, refresh_interval=0, time_out=time_out)
            return GitSkillSource(replace(config, allow_hosts=hosts))

        def server(url: str, auth: BearerAuth | HeaderAuth | None = None) -> HttpSkillSource:
            return HttpSkillSource(url, auth, 0.0, time_out=time_out, allow_hosts=hosts)

        return {
            "bearer": server(http, BearerAuth(secret["BEARER"])),
            "header": server(http, HeaderAuth("X-API-Key", secret["HEADER"])),
            "basic": server(self.address(http, f"me:{secret['BASIC']}")),
            "git": repository("git", git, HttpsToken(secret["GIT"])),
            "password": repository("password", self.address(git, f"me:{secret['GIT_PASSWORD']}")),
            "user": repository("user", self.address(git, secret["GIT_USER"])),
            "ssh": repository("ssh", "git@127.0.0.1:x.git", SshKey(self.key)),
        }

    def configure(self, fault: str = "") -> None:
        """Every way to give a secret in skills.toml: a variable in auth_token, url and ssh_key."""
        tables: list[dict[str, Any]] = [
            {"name": "bearer", "type": "http", "url": self.http_url, "auth_token": "${BEARER}"},
            {
                "name": "header",
                "type": "http",
                "url": self.http_url,
                "auth_token": "${HEADER}",
                "auth_header": "X-API-Key",
            },
            {"name": "basic", "type": "http", "url": self.address(self.http_url, "me:${BASIC}")},
            {"name": "git", "type": "git", "url": self.git_url, "auth_token": "${GIT}"},
            {
                "name": "password",
                "type": "git",
                "url": self.address(self.git_url, "me:${GIT_PASSWORD}"),
                "git_ref": "second",
            },
            {
                "name": "user",
                "type": "git",
                "url": self.address(self.git_url, "${GIT_USER}"),
                "git_ref": "third",
            },
            {"name": "ssh", "type": "git", "url": "git@127.0.0.1:x.git", "ssh_key": "${KEY_FILE}"},
        ]
        text = ""
        for table in tables:
            more = {"timeout_seconds": 1 if fault == "hang" else 60, "refresh_seconds": 0}
            lines = [f"{key} = {json.dumps(value)}" for key, value in (table | more).items()]
            text += "\n".join(["[[repositories]]", *lines, ""])
        (self.world.project / ".skillc" / "skills.toml").write_text(text)
        allow_all(self.world.home, self.world.project)

    def ssh_arguments(self) -> list[str]:
        """What ssh was started with; its environment is the caller's, who has the variables."""
        lines = self.ssh_log.read_text().splitlines()
        self.ssh_log.unlink()
        arguments = [line for line in lines if line.startswith("arguments: ")]
        assert arguments
        return arguments

    @property
    def env(self) -> dict[str, str]:
        return SECRETS.secrets | {"KEY_FILE": str(self.key)}


def _echo(request: Request) -> bytes:
    """All that was sent, and passwords in clear, as a careless server shows them."""
    sent = json.dumps(request.headers).encode()
    coded = request.headers.get("authorization", "").removeprefix("Basic ")
    return sent + (base64.b64decode(coded) if "Basic" in request.headers.get("authorization", "") else b"")


def _well(request: Request) -> Chunks:
    if request.path == "/skills/pdf":
        return [page(entry("pdf", body="Body."))]
    if request.path == "/skills":
        return [page({"skills": [entry("pdf"), entry("x/y"), {"id": "../bad"}]})]
    return [page({}, 404)]


_HTTP: dict[str, Callable[[Surroundings], Callable[[Request], Chunks]]] = {
    "": lambda at: _well,
    "refused": lambda at: lambda r: [page(_echo(r), 401, WWW_Authenticate="Bearer")],
    "broken": lambda at: lambda r: [page(_echo(r), 500)],
    "redirect": lambda at: lambda r: [page(b"", 302, Location=f"{at.other.url}{r.path}{SIGNED}")],
    "hang": lambda at: lambda r: [30.0],
    "vanished": lambda at: _well,
    "garbage": lambda at: lambda r: [page(b'{"skills": [{"id": "' + _echo(r).replace(b'"', b"'"))],
}

SSH = """#!/bin/sh
{ echo "arguments: $*"; env; } >> "$SSH_LOG"
echo "ssh: you are not welcome" >&2
exit 255
"""


@pytest.fixture
def around(world: World, origin: Origin, monkeypatch: pytest.MonkeyPatch) -> Iterator[Surroundings]:
    programs = world.root / "bin"
    programs.mkdir()
    (programs / "ssh").write_text(SSH)
    (programs / "ssh").chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    world.env["PATH"] = path
    monkeypatch.setenv("PATH", path)
    http, other = Stub(), Stub()
    with ExitStack() as ends:
        ends.callback(http.close)
        ends.callback(other.close)
        origin.git("push", "-q", "origin", "main:second", "main:third")
        git = ends.enter_context(serving(Server(origin.bare.parent)))
        made = Surroundings(world, http, git, other)
        world.env["SSH_LOG"] = str(made.ssh_log)
        monkeypatch.setenv("SSH_LOG", str(made.ssh_log))
        yield made


class Everything:
    """What was said, wherever: kept with where it came from, so that a leak can be named."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str]] = []

    def hear(self, where: str, *values: object) -> None:
        for value in values:
            self.said.append((where, value if isinstance(value, str) else f"{value!r} {value}"))

    def leaks(self) -> dict[str, list[str]]:
        return {where: found for where, text in self.said if (found := SECRETS.find(text))}

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Logs of every library at every level, records whole, and warnings."""
        heard = self

        class Ear(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                heard.hear(f"log of {record.name}", self.format(record), repr(vars(record)))

        root, ear = logging.getLogger(), Ear(logging.DEBUG)
        before = root.level
        root.setLevel(logging.DEBUG)
        root.addHandler(ear)
        try:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                yield
            heard.hear("warnings", *(str(warning) for warning in warned))
        finally:
            root.setLevel(before)
            root.removeHandler(ear)


def ask(
    heard: Everything, where: str, question: Callable[[], Coroutine[Any, Any, Any]], frames: bool = True
) -> None:
    """Put a question; its answer, or its error with all that led to it, is heard."""
    try:
        heard.hear(where, repr(run(question())))
    except Exception as error:
        heard.hear(where, error, *error.args, pickle.dumps(error).decode("latin-1"))
        heard.hear(where, "".join(traceback.format_exception(error)))
        told = traceback.TracebackException.from_exception(error, capture_locals=True)
        heard.hear(f"{where}, with the locals of every frame", "".join(told.format()) if frames else "")
        chain: BaseException | None = error
        while chain is not None:
            heard.hear(f"{where}, what led to it", chain, repr(chain.args))
            chain = chain.__cause__ or chain.__context__


def question_all(heard: Everything, name: str, source: SkillSource) -> None:
    """All that can be asked of a source, and of an engine over it."""
    heard.hear(f"repr of {name}", source)
    engine = DefaultSkillEngine(source)
    ask(heard, f"{name}.list", lambda: source.list())
    ask(heard, f"{name}.load", lambda: source.load(SkillId("pdf")))
    ask(heard, f"{name}.collections", lambda: source.collections())
    for more in ("diagnostics", "states"):
        if hasattr(source, more):
            ask(heard, f"{name}.{more}", getattr(source, more))
    ask(heard, f"{name}: turn", lambda: AgentFactory().skill_source(source).build_agent())
    ask(heard, f"{name}: inventory", lambda: engine.inventory_section())
    heard.hear(f"state of {name}", getattr(source, "error", None), getattr(source, "status", None))


def sent_with_credentials(around: Surroundings) -> set[str]:
    """Which secrets the servers were sent, so that none of this passes because nothing was sent."""
    requests = json.dumps([request.headers for request in around.http.requests])
    return {*SECRETS.find(requests), *SECRETS.find(json.dumps(around.git.authorized))}


@pytest.mark.parametrize("fault", ["", *FAULTS])
def test_in_python(around: Surroundings, fault: str) -> None:
    """[D24] [D28] [D29] it fails, it works, it fails and is stale: nothing is told anywhere."""
    heard = Everything()
    with heard.listening():
        around.go(fault)
        soon = TIME_OUT if fault == "hang" else 10.0
        for name, source in around.sources(soon).items():
            heard.hear(f"configuration of {name}", getattr(source, "config", ""))
            question_all(heard, name, source)
        around.go("")
        sources = around.sources(10.0)
        for name, source in sources.items():
            question_all(heard, name, source)
        around.go(fault)
        for name, source in around.sources(soon).items():  # which have something to serve
            old = sources[name]
            if isinstance(old, HttpSkillSource):
                old._remote.session.time_out, source = soon, old
            question_all(heard, name, source)
    for auth in (BearerAuth(SECRETS.secrets["BEARER"]), HeaderAuth("X-API-Key", SECRETS.secrets["HEADER"])):
        heard.hear("auth", auth)
    heard.hear("auth", HttpsToken(SECRETS.secrets["GIT"]))
    with pytest.raises(InvalidConfiguration) as refusal:  # it can't be used
        SshKey("key", SECRETS.secrets["PASSPHRASE"])
    heard.hear("refusal", refusal.value)
    heard.hear("what the other origin got", json.dumps([r.headers for r in around.other.requests]))
    heard.hear("what ssh was started with", around.ssh_log.read_text())
    assert heard.leaks() == {}
    around.key.unlink()
    assert SECRETS.search(around.world.root) == {}
    assert sent_with_credentials(around) >= SENT
    if fault == "redirect":
        assert around.other.requests


BROKEN = ("", 'auth_token = "${BEARER', 'auth_token = "${BEARER}${NOT_SET}"', "refresh_seconds = true")


def test_configured(around: Surroundings, monkeypatch: pytest.MonkeyPatch) -> None:
    """[D24] the same by way of skills.toml: the configuration itself holds names of variables alone."""
    for name, value in around.env.items():
        monkeypatch.setenv(name, value)
    heard = Everything()
    with heard.listening():
        for fault in ("broken", "", "garbage"):
            around.go(fault)
            around.configure()
            config = SkillsConfig.load()
            heard.hear("configuration", config, pickle.dumps(config).decode("latin-1"))
            question_all(heard, "composite", resolve_repositories(config))
        file = around.world.project / ".skillc" / "skills.toml"
        for broken in BROKEN:
            file.write_text(
                f'[[repositories]]\nname = "x"\ntype = "git"\nurl = "http://${{GIT}}@h:p"\n{broken}'
            )

            async def resolve() -> None:
                resolve_repositories(SkillsConfig.load())

            ask(heard, f"configuration with {broken}", resolve, frames=False)  # whose arguments it is
    heard.hear("arguments of ssh", *around.ssh_arguments())
    assert heard.leaks() == {}
    around.key.unlink()
    assert SECRETS.search(around.world.root) == {}
    assert sent_with_credentials(around) >= SENT


COMMANDS = (
    ("repo", "list"),
    ("doctor", "--library"),
    ("browse",),
    ("load", "pdf"),
    ("turn", "/pdf go"),
    ("inventory",),
)


@pytest.mark.parametrize("fault", sorted({*FAULTS} - {"broken"}))
def test_commands(around: Surroundings, fault: str) -> None:
    """[D24] [RFC-0005] stdout and stderr of every command over repositories, and what it leaves."""
    heard = Everything()

    def skc(*words: str) -> None:
        result = around.world.skc(*words, "--verbose", env=around.env)
        heard.hear(f"skc {' '.join(words)}", result.stdout, result.stderr)
        assert "Traceback" not in result.stderr

    around.go(fault)
    around.configure(fault)
    for words in COMMANDS[:3] if fault == "hang" else COMMANDS:  # each waits
        skc(*words, "--format", "json")
    around.go("")
    around.configure()
    skc("browse")
    around.go(fault)
    around.configure(fault)
    for words in COMMANDS[:2]:
        skc(*words)
    heard.hear("what the other origin got", json.dumps([r.headers for r in around.other.requests]))
    heard.hear("arguments of ssh", *around.ssh_arguments())
    assert heard.leaks() == {}
    around.key.unlink()
    assert SECRETS.search(around.world.root) == {}
    assert sent_with_credentials(around) >= SENT


def test_the_search_finds_what_is_there(tmp_path: Path) -> None:
    """[D24] planted on purpose, in every form and place that the tests above look at."""
    token = SECRETS.secrets["GIT"]
    forms = (
        token,
        f"http://me:{token}@host",
        base64.b64encode(f"x-access-token:{token}".encode()).decode(),
        base64.b64encode(f"me:{token}!".encode()).decode(),
        token.encode().hex(),
    )
    for form in forms:
        assert SECRETS.find(f"some {form} text") == ["GIT"]
    assert SECRETS.find("nothing to see") == []
    (tmp_path / "deep" / "config").mkdir(parents=True)
    (tmp_path / "deep" / "config" / "data").write_bytes(b"\x00\xff" + token.encode())
    (tmp_path / f"file-{token}").touch()
    (tmp_path / "link").symlink_to(f"/{token}")
    (tmp_path / "clean").write_text("clean")
    assert sorted(Path(path).name for path in SECRETS.search(tmp_path)) == ["data", f"file-{token}", "link"]

    heard = Everything()

    async def careless() -> None:
        logging.getLogger("some.library").debug("token %s", token)
        warnings.warn(f"beware of {token}", stacklevel=1)
        try:
            raise ValueError(token)
        except ValueError:
            raise KeyError("harmless") from None

    with heard.listening():
        ask(heard, "careless", careless)
    assert set(heard.leaks()) == {
        "log of some.library",
        "warnings",
        "careless, what led to it",
        "careless, with the locals of every frame",
    }


@each("status", [200, 302, 401, 404, 500])
def test_in_the_query_of_an_mcp_server(status: int) -> None:
    """[D24] its URL is logged by the libraries below: without what is secret, also when it is repeated."""
    heard, paths = Everything(), []

    class Repeating(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            paths.append(self.path)
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            error = {"code": 7, "message": f"no: {self.path}"}
            said = json.dumps({"jsonrpc": "2.0", "id": asked.get("id"), "error": error}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(said)))
            self.send_header("Location", f"http://127.0.0.1:{server.server_port}{self.path}")
            self.end_headers()
            self.wfile.write(said)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Repeating)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        secret = SECRETS.secrets["QUERY"]
        url = f"http://127.0.0.1:{server.server_port}/mcp?page=1&access_token={secret}"
        with heard.listening():
            source = McpSkillSource("c", url=url, time_out=10)
            ask(heard, "list", lambda: source.list(), frames=False)
            ask(heard, "states", CompositeSkillSource([NamedSource("c", source)]).states, frames=False)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert SECRETS.find(paths[0]) == ["QUERY"]
    assert any("access_token=***" in text for _, text in heard.said)
    assert not heard.leaks()


def test_in_the_words_of_a_source_of_ones_own() -> None:
    """[D24] what somebody else's source raises may have its URL in it."""

    class Careless(InMemorySkillSource):
        async def list(self, filter: SkillFilter = ALL) -> builtins.list[SkillDescriptor]:
            secret = SECRETS.secrets["QUERY"]
            raise ValueError(f"404 for url 'https://me:{secret}@example.com/x?api_key={secret}&page=2'")

    states = run(CompositeSkillSource([NamedSource("c", Careless([]))]).states())
    assert states[0].error == (
        "repository 'c' unavailable: ValueError: 404 for url 'https://***@example.com/x?api_key=***&page=2'"
    )
