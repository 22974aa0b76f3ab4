"""What a terminal shows while a command works; and nothing anywhere else."""

from __future__ import annotations

import io
import os
import pty
import random
import re
import signal
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from skillc.cli.progress import ACTIVITIES, CLEAR, StatusLine
from skillc.cli.summaries import NAMES
from skillc.remotes.http.traffic import Traffic
from tests.conftest import World
from tests.support.git import Origin, Server, origin, server, template
from tests.support.http import Stub, entry, page, stub
from tests.support.terminal import show_on_terminal

__all__ = ["origin", "server", "stub", "template"]

SERVERS = {"mcp", "serve", "ui"}  # they say where they serve, and go on
LISTING = page({"skills": [entry("pdf", description="Fill forms")]})


@pytest.fixture
def team(world: World, stub: Stub) -> World:
    """A project whose one repository takes longer to answer than a command is silent."""
    stub.gives(1.2, LISTING)
    text = f'[[repositories]]\nname = "team"\ntype = "http"\nurl = "{stub.url}"\n'
    (world.project / ".skillc" / "skills.toml").write_text(text)
    return world


def test_activities() -> None:
    """[SURFACES: Terminal] Every command says what it is doing when it takes long."""
    assert set(NAMES) - set(ACTIVITIES) == SERVERS | {"completion"}
    assert set(ACTIVITIES) <= set(NAMES)


@pytest.mark.slow
def test_slow_server(team: World) -> None:
    """[SURFACES: Terminal] A command that waits names the repository, once where no line can be drawn
    over.
    """
    with ThreadPoolExecutor() as pool:  # they wait together
        commands = ("find form", "browse", "repo list", "inventory")
        shown = pool.map(lambda words: show_on_terminal(team, *words.split(), with_progress=True), commands)
    for text in shown:
        before, _, result = text.rpartition(CLEAR)
        assert f"{CLEAR}Asking team" in before
        assert "Asking" not in result
        assert "pdf" in result or "team" in result
    printed = show_on_terminal(team, "find", "form", env={"TERM": "dumb"}, with_progress=True)
    assert printed.count("Asking team\n") == 1
    assert "\r" not in printed
    assert "\x1b" not in printed


@pytest.mark.slow
def test_bytes_over_http(world: World, stub: Stub) -> None:
    """[SURFACES: Terminal] A download that takes long says from where, how much has come, and of how much."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr("pdf/SKILL.md", "---\nname: pdf\ndescription: Fill forms\n---\n# PDF\n")
        file.writestr("pdf/noise.bin", random.Random(1).randbytes(200_000))
    whole = page(data.getvalue())
    without_length = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + data.getvalue()
    words = ("add", f"{stub.url}/pdf.zip", "--yes")
    for answer, wanted in ((whole, r"  \d+ KB of 1\d\d KB"), (without_length, r"  \d+ KB(?! of)")):
        stub.gives(answer[:100_000], 1.2, answer[100_000:])
        shown = show_on_terminal(world, *words, with_progress=True)
        assert re.search(wanted, shown), shown
        assert f"{CLEAR}Fetching {stub.url}/pdf.zip" in shown
        assert " KB" not in shown.rpartition(CLEAR)[2]
    stub.gives(whole)
    assert " KB" not in world.ok(*words).stderr


@pytest.mark.slow
def test_bytes_over_git(world: World, origin: Origin, server: Server) -> None:
    """[SURFACES: Terminal] [D29] So does a fetch over git, with the number of objects that its pack has."""
    origin.write("skills/pdf/noise.bin", random.Random(1).randbytes(300_000).hex())
    origin.push("skills/pdf")
    server.fault = "pause"
    shown = show_on_terminal(world, "add", server.url, "--all", "--yes", with_progress=True)
    assert re.search(r"  \d+ KB, \d+ objects", shown), shown


def test_downloads() -> None:
    """[SURFACES: Terminal] What a server says is one short line; several downloads are added up."""
    traffic = Traffic()
    assert traffic.describe() == ""
    with traffic.follow(50_000) as one:
        one.remark = "Counting\x1b[2J " + "x" * 500
        assert len(traffic.describe()) <= 60
        assert "\x1b" not in traffic.describe()
        one.remark = ""
        one.add(20_000)
        assert traffic.describe() == "20 KB of 49 KB"
        with traffic.follow() as two:
            two.add(3 << 19)
            assert traffic.describe() == "1.5 MB"
        one.add(40_000)  # more than it said
        assert traffic.describe() == "1.6 MB"
    assert traffic.describe() == "1.6 MB"


@pytest.mark.slow
def test_interrupt_before_the_pager(team: World, stub: Stub) -> None:
    """[SURFACES: Terminal] Ctrl+C ends a command that waits: the pager starts when there is output."""
    stub.gives(600.0, LISTING)  # it waits no longer than this test takes
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "skillc", "browse"],
        cwd=team.project,
        env=team.env | {"TERM": "xterm", "PAGER": "less"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    os.close(terminal)
    shown = b""
    while b"Asking team" not in shown:
        shown += os.read(controller, 4096)
    while not stub.requests:  # on a busy machine, it is still on the way there
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    os.close(controller)


def test_status_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """[SURFACES: Terminal] The line makes way for output, and overwrites no line that has not ended."""
    controller, terminal = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    now = 10.0
    monkeypatch.setattr("skillc.cli.progress.monotonic", lambda: now)
    with open(terminal, "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        line = StatusLine()
        line.push("Reading")
        for text in ("whole\n", "", "part"):
            line.tick()
            line.make_way(text)
            stream.write(text)
            stream.flush()
            now += 0.9  # seconds, longer than the line waits
        line.tick()
        line.pop()
    seen = b""
    try:
        while piece := os.read(controller, 4096):
            seen += piece
    except OSError:  # the other end is closed
        pass
    os.close(controller)
    expected = f"{CLEAR}Reading{CLEAR}whole\r\n{CLEAR}Reading{CLEAR}{CLEAR}Reading{CLEAR}part"
    assert seen.decode() == expected
