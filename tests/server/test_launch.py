"""`skc serve` with a store, as a process: the first token, workers, signals, secrets."""

from __future__ import annotations

import os
import re
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from skillc.cli.commands import serve as command
from skillc.cli.syntax import parse
from skillc.errors import SkillcError
from skillc.registry.store import postgres
from tests.conftest import World
from tests.support.registry import Server, body, serving

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name != "posix", reason="signals and fork")]


def run(home: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "SKILLC_HOME": str(home)} | variables
    command = [sys.executable, "-m", "skillc", "serve", "--port", "0", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def children(server: Server) -> list[int]:
    path = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
    return [int(word) for word in path.read_text().split()]


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(1200):  # a minute: a busy machine takes long to start workers
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("workers", ["1", "2"])
def test_first_start(tmp_path: Path, workers: str) -> None:
    """[SURFACES: Registry] the first start prints an admin's token, once; SIGTERM ends it with status 0."""
    with serving(tmp_path, "--workers", workers) as server:
        assert server.token.startswith("skc_")
        with server.client() as client:
            assert client.post("/skills", json=body("payments/refunds")).status_code == 201
        assert server.stop() == 0
    with serving(tmp_path, "--workers", workers, token=server.token) as again:
        with again.client() as client:
            assert client.get("/skills/payments/refunds").json()["version"] == "0.1.0"
        assert again.stop(signal.SIGINT) == 0
        assert again.process.stdout is not None
        assert again.process.stdout.read() == ""
    assert (tmp_path / ".skillc" / "registry" / "registry.db").exists()
    assert all(line.startswith("{") for line in server.log.read_text().splitlines())


def test_token_file(tmp_path: Path) -> None:
    """[SURFACES: Registry] --admin-token-file has the token instead of stdout, for its owner alone."""
    file = tmp_path / "token"
    with serving(tmp_path, "--admin-token-file", str(file)) as server:
        assert server.token == ""
        secret = file.read_text().strip()
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        with server.client(params={}) as client:
            response = client.get("/whoami", headers={"Authorization": f"Bearer {secret}"})
        assert response.json()["subject"] == "admin"
    with serving(tmp_path, "--admin-token-file", str(tmp_path / "other")):
        assert not (tmp_path / "other").exists()  # the token is there already
    (tmp_path / "notes").write_text("mine")
    result = run(tmp_path / "new", "--admin-token-file", str(tmp_path / "notes"))
    assert (result.returncode, "E100" in result.stderr) == (1, True)
    assert (tmp_path / "notes").read_text() == "mine"
    result = run(tmp_path / "new", "--admin-token-file", str(tmp_path / "no" / "folder"))
    assert "error[E100]: --admin-token-file" in result.stderr


def test_token_file_that_others_opened(tmp_path: Path) -> None:
    """[SURFACES: Registry] a file that others can read or hold open gets no token: a new one does."""
    file = tmp_path / "token"
    file.touch()
    file.chmod(0o666)
    with file.open() as held, serving(tmp_path, "--admin-token-file", str(file)):
        assert held.read() == ""
        assert file.read_text().startswith("skc_")
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert not [*tmp_path.glob(".*.tmp")]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="root gives files to others")
def test_token_file_of_another_user(tmp_path: Path) -> None:
    """[SURFACES: Registry] a file of another user, or a link, gets no token; later starts need none."""
    file, link = tmp_path / "token", tmp_path / "link"
    file.touch()
    os.chown(file, 12345, 12345)
    link.symlink_to(tmp_path / "elsewhere")
    for path, why in ((file, "belongs to another user"), (link, "not a regular file")):
        result = run(tmp_path / "home", "--admin-token-file", str(path))
        assert (result.returncode, f"error[E100]: --admin-token-file {path}" in result.stderr) == (1, True)
        assert why in result.stderr
    assert file.read_bytes() == b""
    with serving(tmp_path / "home") as server:
        assert server.token
    with serving(tmp_path / "home", "--admin-token-file", str(file)):
        assert file.read_bytes() == b""


def test_files_are_private(tmp_path: Path) -> None:
    """[SURFACES: Registry] others can read nothing of a registry, also what an older program left open."""
    own = tmp_path / ".skillc" / "registry"
    with serving(tmp_path) as server, server.client() as client:
        assert client.post("/skills", json=body("payments/refunds")).status_code == 201
        wait_until(lambda: bool(client.get("/search", params={"q": "refunds"}).json()["results"]))
        assert find_open(own) == []
    folders = [path for path in own.rglob("*") if path.is_dir()]
    for path in own.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    with serving(tmp_path, token=server.token) as server, server.client() as client:
        wait_until(lambda: bool(client.get("/search", params={"q": "refunds"}).json()["results"]))
        private = {own / "registry.db", own / "blobs" / "sha256", *(own / "index").glob("*/*")}
        private |= {path for path in folders if path.parent.name == "index"}
        assert not private & {*find_open(own)}


def find_open(folder: Path) -> list[Path]:
    """What others have rights to, below a folder."""
    return [path for path in folder.rglob("*") if path.stat().st_mode & 0o077]


def test_hosts_and_sites(tmp_path: Path) -> None:
    """[SURFACES: Registry] requests for other hosts or ports are 421, from pages of other sites 403."""
    words = ("--url", "https://skills.example.com:8443", "--allow-host", "inner", "--allow-host", "deep:9000")
    with serving(tmp_path, *words) as server, server.client() as client:
        for host in ("skills.example.com:8443", "inner", "deep:9000"):
            assert client.get("/whoami", headers={"Host": host}).status_code == 200, host
        for host in ("skills.example.com:8444", "skills.example.com", "evil.example"):
            assert client.get("/whoami", headers={"Host": host}).status_code == 421, host
        for origin, status in (("https://skills.example.com:8443", 200), ("https://evil.example", 403)):
            assert client.get("/whoami", headers={"Origin": origin}).status_code == status
        assert client.post("/skills", headers={"Origin": "null"}, json=body("a")).status_code == 403


def test_a_lost_token(tmp_path: Path) -> None:
    """[SURFACES: Registry] the command in docs/registry.md makes a new token of the admin."""
    text = (Path(__file__).parent.parent.parent / "docs" / "registry.md").read_text()
    found = re.search(r'^python -c "(from skillc.registry import .*?)"$', text, re.MULTILINE | re.DOTALL)
    assert found
    with serving(tmp_path) as server, server.client() as client:
        variables = os.environ | {"HOME": str(tmp_path), "SKILLC_HOME": str(tmp_path)}
        command = [sys.executable, "-c", found[1]]
        secret = subprocess.run(command, env=variables, capture_output=True, text=True, check=True).stdout
        answer = client.get("/whoami", headers={"Authorization": f"Bearer {secret.strip()}"})
        assert answer.json()["permissions"] == [{"role": "admin", "prefix": ""}]


def test_a_worker_that_dies_is_started_again(tmp_path: Path) -> None:
    """[SURFACES: Registry] READY=1 when it answers; of several processes one may die; it is started again."""
    receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    receiver.bind(str(tmp_path / "notify"))
    receiver.settimeout(30)
    with receiver, serving(tmp_path, "--workers", "2", NOTIFY_SOCKET=str(tmp_path / "notify")) as server:
        assert receiver.recv(100) == b"READY=1"
        before = children(server)
        assert len(before) == 2
        os.kill(before[0], signal.SIGKILL)
        wait_until(lambda: len(children(server)) == 2 and before[0] not in children(server))
        for _ in range(20):
            with server.client() as client:
                assert client.get("/whoami").status_code == 200
        workers = children(server)
        assert server.stop() == 0
    assert not any(map(is_alive, workers))
    assert "worker 0 ended (SIGKILL) and is started again\n" in server.log.read_text()


def test_reload(tmp_path: Path) -> None:
    """[SURFACES: Registry] SIGHUP reads registry.toml again and replaces the workers, unless it is bad."""
    config = tmp_path / "registry.toml"
    config.write_text("")
    with serving(tmp_path, "--workers", "2", "--config", str(config)) as server, server.client() as client:
        assert client.post("/skills", json=body("payments/refunds")).status_code == 201
        reader = client.post("/tokens", json={"role": "reader"}).json()["token"]
        headers = {"Authorization": f"Bearer {reader}"}
        assert client.get("/skills/payments/refunds", headers=headers).status_code == 200
        before = children(server)

        config.write_text('[policy]\ndeny = "payments"\n')
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "nothing was reloaded: error[E071]" in server.log.read_text())
        assert children(server) == before

        config.write_text('[policy]\ndeny = ["payments"]\n')
        server.process.send_signal(signal.SIGHUP)
        wait_until(lambda: "reloaded: all workers are new" in server.log.read_text())
        assert len(children(server)) == 2
        assert not {*before} & {*children(server)}
        with server.client() as other:
            assert other.get("/skills/payments/refunds", headers=headers).status_code == 404
        assert server.stop() == 0


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    """[SURFACES: Registry] where the first process is killed, no worker stays."""
    with serving(tmp_path, "--workers", "2") as server:
        workers = children(server)
        server.process.kill()
        wait_until(lambda: not any(map(is_alive, workers)))


@pytest.fixture
def fails(world: World, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., str]]:
    """The line of the error with which the command ends, in this process; secrets are shown nowhere."""

    def fail(*words: str) -> str:
        with pytest.raises(SkillcError) as caught:
            command.run(parse(command.COMMAND, ["--port", "0", *words]))
        output = capsys.readouterr()
        assert "secret" not in caught.value.line() + output.out + output.err
        return caught.value.line()

    umask = os.umask(0o022)
    yield fail
    os.umask(umask)


def test_options(fails: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Registry] wrong options and stores are one coded line, before anything is served."""
    monkeypatch.setattr(postgres, "WAIT_SECONDS", 0.5)
    keys = {"ENDPOINT_URL": "http://127.0.0.1:1", "ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b"}
    for name, text in {**keys, "ALLOW_HTTP": "true"}.items():
        monkeypatch.setenv(f"AWS_{name}", text)
    cases = [
        (["--read-only", "--store", "x.db"], "E100"),
        (["--url", "skills.example.com"], "E100"),
        (["--url", "https://me:secret@example.com"], "E100"),
        (["--store", "mysql://me:secret@db/x", "--blobs", str(tmp_path / "b")], "E100"),
        (["--store", "postgresql://me:secret@127.0.0.1:1/x"], "E092"),
        (["--store", "postgresql://me:secret@127.0.0.1:1/x", "--blobs", str(tmp_path / "b")], "E092"),
        (["--store", str(tmp_path)], "E092"),
        (["--store", str(tmp_path / "x.db"), "--blobs", "s3://skills/x"], "E092"),
    ]
    assert [fails(*words)[6:10] for words, _ in cases] == [code for _, code in cases]


def test_store_from_the_environment(tmp_path: Path) -> None:
    """[SURFACES: Registry] SKILLC_STORE and SKILLC_BLOBS are for addresses that others may not see."""
    store, blobs = tmp_path / "s" / "team.db", tmp_path / "b"
    variables = {"SKILLC_STORE": str(store), "SKILLC_BLOBS": str(blobs)}
    with serving(tmp_path, **variables) as server, server.client() as client:
        assert client.post("/skills", json=body("a")).status_code == 201
    assert store.exists()
    assert any(blobs.rglob("*"))
