"""A run: its envelope, its output within bounds, its end."""

from __future__ import annotations

import json
import os
import threading
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from skillc.errors import CannotRun, SandboxUnavailable
from skillc.tools.process import GRACE, HEAD, MAX_JSON, TAIL, Output, run
from tests.support.cases import each
from tests.tools.conftest import Bench
from tests.tools.escapes.processes import wait_for


def test_envelopes(bench: Bench) -> None:
    """[TOOLS §4.3] [TOOLS §4.1] [D43] [D42] the envelope of a good run and of one that fails; values that
    only behave like text.
    """
    found = bench.run("echo", "a b", "$HOME;ls").as_json()
    assert found.pop("duration_ms") >= 0
    good = {"success": True, "exit_code": 0, "truncated": False, "sandbox": bench.level}
    assert found == good | {"output": "a b $HOME;ls\n"}
    found = bench.sh("echo no repository >&2; exit 3").as_json()
    assert found.pop("duration_ms") >= 0
    bad = {"success": False, "exit_code": 3, "error": "Command failed with exit code 3"}
    assert found == good | bad | {"output": "no repository\n"}
    found = bench.sh("kill -SEGV $$").as_json()  # a signal counts from 128, as in shells
    assert (found["exit_code"], found["error"]) == (139, "Command failed with exit code 139 (SIGSEGV)")
    launch = bench.launch("sh", "-c", 'echo "$0 $WHO"', "word")
    env: dict[str, str] = {Name(name): Name(value) for name, value in launch.env.items()}
    env[Name("WHO")] = Name("me")
    argv = tuple(Name(word) for word in launch.argv)
    named = run(replace(launch, argv=argv, env=env, cwd=Name(launch.cwd), skill_dir=Name(launch.skill_dir)))
    assert named.output == "word me\n"


@pytest.mark.slow
def test_both_streams(bench: Bench) -> None:
    """[D43] [TOOLS §4.1] stderr is merged as it arrives."""
    found = bench.sh("echo 1; sleep 0.3; echo 2 >&2; sleep 0.3; echo 3")
    assert found.output == "1\n2\n3\n"


def test_parsed(bare: Bench) -> None:
    """[TOOLS §4.4] [D43] [D45] JSON on stdout is parsed, whatever is on stderr; a level that does not
    exist is none.
    """
    for value in ({"status": "ok", "count": 5}, [1, 2.5, None], None, 7):
        found = bare.sh(f"echo warning >&2; echo '{json.dumps(value)}'").as_json()
        assert found["parsed"] == value
        assert "warning" in found["output"]
    launch = bare.launch("true")
    with pytest.raises(SandboxUnavailable, match="cage"):
        run(replace(launch, sandbox="cage"))


@each(
    "stdout",
    ["", " ", "text", "{", "NaN", "[Infinity]", '{"a":1} {}', '["\\ud800"]', "[" * 100_000, "1" * 5000],
)
def test_not_parsed(stdout: str) -> None:
    """[D43] [TOOLS §4.4] what is not JSON, or could not be written as JSON again, is only output."""
    output = Output()
    output.add(stdout.encode(), stdout=True)
    assert output.parse_json() is None


def test_parsed_up_to_a_mebibyte() -> None:
    """[D43] complete stdout alone is parsed, up to 1 MiB of it."""
    for size, parsed in ((MAX_JSON, True), (MAX_JSON + 1, False)):
        output = Output()
        text = b'"' + b"x" * (size - 2) + b'"'
        for start in range(0, size, 65536):
            output.add(b"noise", stdout=False)
            output.add(text[start : start + 65536], stdout=True)
        assert (output.parse_json() is not None) is parsed


@given(st.lists(st.binary(max_size=3000), max_size=8))
def test_any_pieces(pieces: list[bytes]) -> None:
    """[D43] [TOOLS §4.2] in any pieces: the first and the last 2048 bytes, cut, then decoded."""
    output = Output()
    for piece in pieces:
        output.add(piece, stdout=False)
    whole = b"".join(pieces)
    cut = len(whole) - HEAD - TAIL
    if cut <= 0:
        assert output.text() == whole.decode("utf-8", "replace")
        assert not output.truncated
    else:
        head, tail = whole[:HEAD].decode("utf-8", "replace"), whole[-TAIL:].decode("utf-8", "replace")
        assert output.text() == f"{head}\n... [truncated {cut} bytes] ...\n{tail}"
        assert output.truncated


def test_what_a_command_gets(bench: Bench) -> None:
    """[D42] no input, its directory, who it runs for, and no descriptors but three, whatever is inherited."""
    assert bench.run("cat").output == ""
    found = bench.sh('pwd; echo "$SKILLC_SKILL_NAME $GIBBERISH_MODE $SKILLC_SKILL_DIR"')
    assert found.output == f"{bench.project}\nprobe Global {bench.skill}\n"
    read, write = os.pipe()
    os.set_inheritable(write, True)
    try:
        found = bench.sh("ls /proc/self/fd")
    finally:
        os.close(read)
        os.close(write)
    assert found.output.split() == ["0", "1", "2", "3"]  # the last is ls's own


def test_what_can_not_be_started(bench: Bench) -> None:
    """[D42] [D45] [TOOLS §9.3] what the system refuses is E064 at every level, never run by a shell."""
    path = bench.skill / "x"
    for data, reason in ((b"no script at all", "needs a first line"), (b"\x7fELF rubbish", "not a program")):
        path.write_bytes(data)
        path.chmod(0o755)
        with pytest.raises(CannotRun, match=reason) as caught:
            bench.run("./x")
        assert caught.value.code == "E064"
    with pytest.raises(CannotRun):
        bench.run("true", "x" * 3_000_000)
    bench.script("echo hi")
    launch = bench.launch("./scripts/probe.sh")
    (bench.skill / "scripts" / "probe.sh").unlink()  # it is gone by the time it is started
    with pytest.raises(CannotRun):
        run(launch)

    def changed() -> None:
        raise SandboxUnavailable("the skill changed")

    with pytest.raises(SandboxUnavailable):  # what is checked at the last moment
        bench.run("touch", str(bench.project / "started"), read_only=False, check=changed)
    launch = bench.launch("true")
    bench.project.rmdir()  # which is empty
    with pytest.raises(CannotRun, match="working directory"):
        run(launch)


@pytest.mark.slow
def test_time_out(bench: Bench) -> None:
    """[D44] [TOOLS §5.3] [TOOLS §9.3] at the time-out it is asked to end, and what it said is kept."""
    found = bench.sh("trap 'echo asked; exit 0' TERM; echo begun; sleep 60 & wait", timeout=1)
    assert found.output == "begun\nasked\n"
    assert (found.success, found.exit_code) == (False, None)
    assert found.error == "timed out after 1 s"
    assert found.interruption is not None
    assert found.interruption.line() == "error[E065]: timed out after 1 s"
    assert found.as_json()["code"] == "E065"


@pytest.mark.slow
def test_cancelled(bench: Bench) -> None:
    """[D44] [TOOLS §5.3] the same on cancellation."""
    assert GRACE == 5
    cancel = threading.Event()

    def wait() -> None:
        wait_for((bench.project / "begun").exists)
        cancel.set()

    begun = threading.Thread(target=wait)
    begun.start()
    found = bench.sh("echo begun; touch begun; exec sleep 60", read_only=False, cancel=cancel)
    begun.join()
    assert found.output == "begun\n"
    assert found.exit_code is None
    assert found.interruption is not None
    assert found.interruption.line().startswith("error[E065]: cancelled after ")


def test_from_another_thread(bench: Bench) -> None:
    """[D45] [D43] runs in threads at once do not meet; a run gives back all descriptors, failing too."""
    outputs: list[str] = []
    threads = [
        threading.Thread(target=lambda number=number: outputs.append(bench.run("echo", str(number)).output))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outputs) == [f"{number}\n" for number in range(8)]
    bench.run("true")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        bench.run("true")
        with pytest.raises(CannotRun):
            bench.run("true", "x" * 3_000_000)
    assert len(os.listdir("/proc/self/fd")) == before


class Name(str):
    """Text of a class of its own, as names of skills are."""

    __slots__ = ()
