"""The unit file for systemd: as systemd reads it, and started by one."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from skillc.cli.commands import serve
from skillc.cli.syntax import parse
from tests.support.systemd import System, booted

UNIT = Path(__file__).parent.parent.parent / "packaging" / "skillc.service"


def test_the_command_of_the_unit() -> None:
    """[SURFACES: Registry] the unit starts `skc serve` with options that it has."""
    found = re.search(
        r"^ExecStart=/opt/skillc/bin/skc serve (.*) \$SKILLC_OPTIONS$", UNIT.read_text(), re.MULTILINE
    )
    assert found
    arguments = parse(serve.COMMAND, found[1].split())
    assert (arguments.count("workers"), arguments.texts("trusted_proxy")) == (4, ["127.0.0.1"])


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd")
def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    """[SURFACES: Registry] systemd finds nothing wrong with the unit."""
    text = UNIT.read_text().replace("/opt/skillc/bin/skc", sys.executable)
    unit = tmp_path / "skillc.service"
    unit.write_text(text)
    command = ["systemd-analyze", "verify", "--man=no", str(unit)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    lines = [line for line in result.stderr.splitlines() if "skillc.service" in line]
    assert lines == []


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """A system on which docs/registry-team.md was followed, up to the start."""
    with booted(tmp_path_factory.mktemp("system")) as system:
        system.run("useradd", "--system", "--home-dir", "/var/lib/skillc", "skillc")
        units = system.root / "etc" / "systemd" / "system"
        shutil.copy(UNIT, units / "skillc.service")
        (system.root / "etc" / "skillc").mkdir()
        (system.root / "etc" / "skillc" / "registry.toml").write_text("")
        options = "--url https://skills.example.com --config /etc/skillc/registry.toml --workers 2"
        (system.root / "etc" / "skillc" / "registry.env").write_text(f'SKILLC_OPTIONS="{options}"\n')
        system.run("systemctl", "daemon-reload")
        yield system


def ask(system: System, path: str, *words: str) -> str:
    """Return the status of a request to the server, as its proxy sends it."""
    command = ["curl", "-so", "/dev/null", "-w", "%{http_code}", "-H", "Host: skills.example.com", *words]
    return system.run(*command, f"http://127.0.0.1:8080{path}", check=False)


def log(system: System) -> str:
    return system.run("journalctl", "--unit", "skillc", "--no-pager", "--output", "cat")


@pytest.mark.slow
def test_the_unit_runs(system: System) -> None:
    """[SURFACES: Registry] started by systemd it answers, reloads, comes back when killed, and stops."""
    system.run("systemctl", "enable", "--now", "skillc")
    assert ask(system, "/readyz") == "200"
    token = (system.root / "var" / "lib" / "skillc" / "admin-token").read_text().strip()
    assert ask(system, "/whoami", "-H", f"Authorization: Bearer {token}") == "200"
    assert ask(system, "/whoami") == "401"

    first = system.property("skillc", "MainPID")
    system.run("systemctl", "reload", "skillc")
    wait_for_log(system, "reloaded: all workers are new")
    assert system.property("skillc", "MainPID") == first
    assert ask(system, "/readyz") == "200"

    system.run("systemctl", "kill", "--signal=KILL", "--kill-who=main", "skillc")
    system.wait("skillc", "NRestarts", "1")
    system.wait("skillc", "ActiveState", "active")
    assert ask(system, "/whoami", "-H", f"Authorization: Bearer {token}") == "200"

    system.run("systemctl", "stop", "skillc")
    assert system.property("skillc", "Result") == "success"
    assert system.property("skillc", "ExecMainStatus") == "0"
    assert "is started again" not in log(system)
    assert system.run("pgrep", "-u", "skillc", check=False) == ""


@pytest.mark.slow
def test_what_the_unit_may_do(system: System) -> None:
    """[SURFACES: Registry] it publishes and finds within its limits, and can write in its own folder only."""
    system.run("systemctl", "start", "skillc")
    token = (system.root / "var" / "lib" / "skillc" / "admin-token").read_text().strip()
    header = ("-H", f"Authorization: Bearer {token}")
    skill_md = "---\nname: refunds\ndescription: Pay back\n---\n# Refunds\n"
    body = json.dumps({"id": "payments/refunds", "skill_md": skill_md})
    sent = ("-H", "Content-Type: application/json", "-d", body)
    assert ask(system, "/skills", *header, *sent) == "201"
    for path in ("/skills/payments/refunds/archive.tar.gz", "/search?q=pay", "/metrics", "/openapi.json"):
        assert ask(system, path, *header) == "200", path

    main = system.property("skillc", "MainPID")
    owner = [system.run("id", option, "skillc") for option in ("-u", "-g")]
    user = ("nsenter", "--target", main, "--mount", "--setuid", owner[0], "--setgid", owner[1])
    for folder in ("/etc", "/usr", "/opt", "/home", "/var/lib", "/root"):
        assert system.run(*user, "sh", "-c", f"touch {folder}/mine && echo written", check=False) == ""
    system.run(*user, "touch", "/var/lib/skillc/mine", "/tmp/mine")
    status = (system.root / "proc" / main / "status").read_text()
    assert "NoNewPrivs:\t1\n" in status
    assert "CapBnd:\t0000000000000000\n" in status


def wait_for_log(system: System, text: str) -> None:
    for _ in range(200):
        if text in log(system):
            return
        time.sleep(0.1)
    raise AssertionError(log(system))
