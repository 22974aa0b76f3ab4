"""The files in deploy/: read as their programs would, and what they start, started without a container."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from skillc.cli.commands import serve
from skillc.cli.syntax import Arguments, parse
from tests.support import s3 as support_s3
from tests.support.postgres import Cluster
from tests.support.registry import free_port

ROOT = Path(__file__).parent.parent.parent
DEPLOY = ROOT / "deploy"
VARIABLE = re.compile(r"\$\{[A-Z_]+:-([^}]*)\}")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="a shell")


def instructions() -> list[tuple[str, str]]:
    """The instructions of the Containerfile: a word, and the rest of its line."""
    lines = [line for line in (DEPLOY / "Containerfile").read_text().splitlines() if line and line[0] != "#"]
    assert not any(line.endswith("\\") or line[0].isspace() for line in lines)
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def last(word: str) -> str:
    return [rest for name, rest in instructions() if name == word][-1]


def compose() -> dict[str, Any]:
    value: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return value


def options(words: list[str]) -> Arguments:
    return parse(serve.COMMAND, [VARIABLE.sub(r"\1", word) for word in words])


def test_the_image() -> None:
    """[SURFACES: Registry] no root, known options and extras, files that are there, a health check."""
    user = last("USER").partition(":")[0]
    assert int(user) > 0
    assert any(f"--uid {user} " in rest for word, rest in instructions() if word == "RUN")
    home = last("VOLUME")
    assert f"SKILLC_HOME={home}" in last("ENV").split()
    arguments = options(json.loads(last("CMD")))
    assert (arguments.text("host"), arguments.text("port")) == ("0.0.0.0", last("EXPOSE"))
    assert (arguments.optional("admin_token_file") or "").startswith(f"{home}/")
    assert f":{last('EXPOSE')}/readyz" in last("HEALTHCHECK")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    text = (DEPLOY / "Containerfile").read_text()
    wanted = re.findall(r"--extra (\S+)", text)
    assert set(wanted) == {"registry", "postgres", "sso"} <= project["optional-dependencies"].keys()
    for word, rest in instructions():
        if word == "COPY" and "--from" not in rest:
            *sources, _ = [part for part in shlex.split(rest) if not part.startswith("--")]
            assert all((ROOT / source).exists() for source in sources), rest
    entry = json.loads(last("ENTRYPOINT"))[0]
    assert f"deploy/start /usr/local/bin/{entry}" in text


def test_the_services() -> None:
    """[SURFACES: Registry] services, volumes, secrets and ports fit each other, and what skc serve knows."""
    value = compose()
    assert set(value["services"]) == {"registry", "postgres", "s3"}
    for name, service in value["services"].items():
        assert set(service.get("depends_on", ())) <= set(value["services"]), name
        assert set(service["secrets"]) <= set(value["secrets"]), name
        assert {volume.partition(":")[0] for volume in service["volumes"]} <= set(value["volumes"]), name
    registry = value["services"]["registry"]
    arguments = options(registry["command"])
    assert registry["ports"] == [f"127.0.0.1:8080:{arguments.text('port')}"]
    assert (arguments.text("port"), arguments.optional("url")) == (last("EXPOSE"), "http://localhost:8080")
    assert registry["volumes"][0].endswith(f":{last('VOLUME')}")
    assert (ROOT / "deploy" / registry["build"]["context"] / registry["build"]["dockerfile"]).exists()
    store, blobs = registry["environment"]["SKILLC_STORE"], registry["environment"]["SKILLC_BLOBS"]
    postgres = value["services"]["postgres"]["environment"]
    assert store == f"postgresql://{postgres['POSTGRES_USER']}@postgres/{postgres['POSTGRES_DB']}"
    bucket = blobs.removeprefix("s3://").partition("/")[0]
    script = value["services"]["s3"]["entrypoint"][-1]
    assert f"mkdir -p /data/{bucket}\n" in script
    assert (
        registry["environment"]["AWS_ENDPOINT_URL"].rpartition(":")[2]
        == re.findall(r"--port :(\d+)", script)[0]
    )
    subprocess.run(["sh", "-n", "-c", script.replace("$$", "$")], check=True)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The variables of the container, and a folder of secrets."""
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    (secrets / "not-a-variable").write_text("ignored")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "skc").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m skillc "$@"\n')
    (programs / "skc").chmod(0o755)
    return {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "SKILLC_HOME": str(tmp_path),
        "SECRETS": str(secrets),
    }


@pytest.fixture
def s3(tmp_path: Path) -> Iterator[support_s3.S3]:
    if reason := support_s3.why_not():
        pytest.skip(reason)
    with support_s3.running_s3(tmp_path / "s3") as server:
        yield server


@pytest.mark.slow
def test_the_start(environment: dict[str, str], cluster: Cluster, s3: support_s3.S3, tmp_path: Path) -> None:
    """[SURFACES: Registry] with the compose file's options, variables and secrets it checks and serves."""
    registry = compose()["services"]["registry"]
    for name in registry["secrets"]:
        text = s3.environment.get(name, "unused: the test's PostgreSQL trusts all")
        (tmp_path / "secrets" / name).write_text(f"{text}\n")
    address = {
        "AWS_ENDPOINT_URL": s3.environment["AWS_ENDPOINT_URL"],
        "SKILLC_STORE": cluster.create_schema(),
    }
    port = str(free_port())
    words = [VARIABLE.sub(r"\1", word).replace("8080", port) for word in registry["command"]]
    words = [word.replace("/var/lib/skillc", str(tmp_path)) for word in words]
    with subprocess.Popen(
        [str(DEPLOY / "start"), *words],
        env=environment | registry["environment"] | address,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(5)]
            assert [line.split()[0] for line in lines[:4]] == ["ok"] * 4, lines
            assert lines[4] == f"Serving on http://0.0.0.0:{port}\n"
            token = (tmp_path / "admin-token").read_text().strip()
            url = f"http://127.0.0.1:{port}/whoami"
            headers = {"Authorization": f"Bearer {token}", "Host": f"localhost:{port}"}
            assert httpx2.get(url, headers=headers, trust_env=False).json()["subject"] == "admin"
            health = json.loads(last("HEALTHCHECK").partition(" CMD ")[2])
            check = [sys.executable, *(word.replace("8080", port) for word in health[1:])]
            assert subprocess.run(check, check=False, timeout=60).returncode == 0
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
            assert subprocess.run(check, check=False, timeout=60, stderr=subprocess.DEVNULL).returncode == 1
        finally:
            process.kill()


def test_a_start_that_fails(environment: dict[str, str], tmp_path: Path) -> None:
    """[SURFACES: Registry] where the check fails, nothing is served and nothing is made."""
    (tmp_path / "secrets" / "SKILLC_BLOBS").write_text(str(tmp_path / "bin" / "skc" / "blobs"))
    command = [str(DEPLOY / "start"), "--port", "0"]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert run.returncode == 1
    assert "error  blobs    error[E092]: " in run.stdout
    assert "Serving on" not in run.stdout
    assert not (tmp_path / ".skillc").exists()
