"""Attempts to live on, to reach other processes, and to use up what there is."""

from __future__ import annotations

import ctypes
import fcntl
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from skillc.tools.process import run_program
from skillc.tools.sandbox import NONE
from tests.support import examples
from tests.tools.conftest import Bench
from tests.tools.escapes import attempt
from tests.tools.escapes.network import possible
from tests.tools.secrets import SECRET, SECRETS

DAEMON = "(setsid sh -c '{}' &) &"  # a double fork into a session of its own


@contextmanager
def victim(**env: str) -> Iterator[subprocess.Popen[bytes]]:
    """Another process of the same user."""
    with subprocess.Popen(
        ["sleep", "600", "--", env.pop("word", "0")], env=dict(os.environ) | env
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@attempt("a secret in the caller's environment")
def environment(bench: Bench) -> bool:
    bench.parent |= dict.fromkeys(SECRETS, SECRET)
    bench.parent["LANG"] = "C.UTF-8"
    return SECRET in bench.sh("env; cat /proc/self/environ").output


@attempt("a secret in the environment of another process")
def other_environment(bench: Bench) -> bool:
    secret = secrets.token_hex(8)
    with victim(PLANTED=secret) as other:
        look = f"cat /proc/{other.pid}/environ; grep -al {secret} /proc/[0-9]*/environ && echo found"
        found = bench.sh(f"({look}) 2>/dev/null")
        return secret in found.output or "found" in found.output


@attempt("the command lines of other processes")
def command_lines(bench: Bench) -> bool:
    word = f"0.{int(secrets.token_hex(8), 16)}"
    with victim(word=word):
        return word in bench.sh("cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -x '0\\.[0-9]*'").output


@attempt("a double-forked child that keeps the run from ending")
def keeps_the_pipe(bench: Bench) -> bool:
    found = bench.sh(f"{DAEMON.format('sleep 20')} echo done", timeout=15)
    return not found.success or found.output != "done\n"


@attempt("a double-forked child in its own session that lives on")
def lives_on(bench: Bench) -> bool:
    bench.sh(f"{DAEMON.format(BEAT)} while ! test -e beat; do sleep 0.05; done", read_only=False)
    return beating(bench.project / "beat")


BEAT = "for i in $(seq 400); do date > beat; sleep 0.05; done"


def beating(file: Path) -> bool:
    """Whether somebody still writes to a file, some time after they should have ended."""
    time.sleep(0.3)
    before = file.stat().st_mtime_ns
    for _ in range(15):
        time.sleep(0.05)
        if file.stat().st_mtime_ns != before:
            return True
    return False


def cancelled(bench: Bench, text: str) -> None:
    """Run a command, and cancel it as soon as its heart beats."""
    cancel = threading.Event()

    def wait() -> None:
        wait_for((bench.project / "beat").exists)
        cancel.set()

    waiting = threading.Thread(target=wait)
    waiting.start()
    end = run_program(bench.launch("sh", "-c", text, read_only=False), cancel, grace=0.5)  # 5 s for users
    waiting.join()
    assert end.reason


@attempt("processes that ignore SIGTERM")
def ignoring(bench: Bench) -> bool:
    (bench.project / "beat.sh").write_text(f"trap '' TERM\n{BEAT}\n")
    cancelled(bench, "trap '' TERM; (sh beat.sh & sh beat.sh) & sh beat.sh")
    return beating(bench.project / "beat")


@attempt("the same, in sessions of their own")
def ignoring_elsewhere(bench: Bench) -> bool:
    (bench.project / "beat.sh").write_text(f"trap '' TERM\n{BEAT}\n")
    cancelled(bench, "trap '' TERM; (setsid sh beat.sh &) & sleep 100; sleep 100")
    return beating(bench.project / "beat")


CALLER = """
import os, sys
from skillc.tools.process import run
from skillc.tools.sandbox import Launch
level, cwd, *argv = sys.argv[1:]
env = {"HOME": "/nonexistent", "PATH": os.defpath}
print(run(Launch(tuple(argv), cwd, env, cwd, 60.0, False, False, level)).output, end="")
"""


def caller(bench: Bench, *argv: str) -> list[str]:
    """A process that runs a command, as skc does."""
    return [sys.executable, "-c", CALLER, bench.level, str(bench.project), *argv]


def survives(bench: Bench, text: str) -> bool:
    beat = bench.project / "beat"
    with subprocess.Popen(caller(bench, "/bin/sh", "-c", text)) as process:
        wait_for(beat.exists)
        process.send_signal(signal.SIGKILL)
    return beating(beat)


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@attempt("living on when skc is killed")
def survives_itself(bench: Bench) -> bool:
    return survives(bench, BEAT)


@attempt("a child that lives on when skc is killed")
def survives_as_a_child(bench: Bench) -> bool:
    return survives(bench, f"sh -c '{BEAT}'; sleep 60")


# Not without end, should nothing stop it: each generation doubles, and 1024 sleep for a while. All of them
# hold the lock of the file, by the descriptor that they inherit.
BEGIN = """
import fcntl, os, time
bomb = os.open("bomb", os.O_RDWR | os.O_APPEND)
fcntl.flock(bomb, fcntl.LOCK_SH)
"""
BOMB = """
for generation in range(10):
    try:
        os.fork()
    except OSError:
        os._exit(1)
os.write(bomb, b"x")
time.sleep(200)
"""
# The same, but parents end at once, and the first process has none of the others below it.
ORPHANS = """
if os.fork():
    time.sleep(200)
    os._exit(0)
for generation in range(10):
    try:
        if os.fork() and os.fork():
            os._exit(0)
    except OSError:
        os._exit(1)
os.write(bomb, b"x")
time.sleep(200)
"""


@attempt("a fork bomb")
def bomb(bench: Bench) -> bool:
    return any(goes_off(bench, BEGIN + code) for code in (BOMB, ORPHANS))


def goes_off(bench: Bench, code: str) -> bool:
    """Whether a bomb got beyond the limit without an end, or goes on after its end.

    Nothing here depends on how fast the machine is: the time-out is below the time that the bomb sleeps,
    and the end of all its processes is seen by the lock that they held.
    """
    (bench.project / "bomb").write_text("")
    result = bench.python(code, read_only=False, timeout=150)
    with open(bench.project / "bomb", "rb") as file:
        wait_for(lambda: is_free(file.fileno()))
        size = len(file.read())
    return size > 512 and result.error != "ended: it had more than 512 processes at once"


def is_free(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@attempt("signals to other processes")
def signals(bench: Bench) -> bool:
    with victim() as other:
        bench.sh(f"kill -KILL {other.pid}")
        time.sleep(0.2)
        return other.poll() is not None


PTRACE = """
import ctypes, sys
print("ptrace", ctypes.CDLL(None).ptrace(0x4206, int(sys.argv[1]), None, None))
"""


@attempt("ptrace of other processes")
def ptrace(bench: Bench) -> bool:
    with victim() as other:
        return "ptrace -1" not in possible(bench, PTRACE, str(other.pid))


SHARED = """
import ctypes, sys
print("shared", ctypes.CDLL(None).shmget(int(sys.argv[1]), 0, 0))
"""


@attempt("shared memory of other processes")
def shared_memory(bench: Bench) -> bool:
    libc = ctypes.CDLL(None)
    key = secrets.randbelow(1 << 30) + 1
    segment = libc.shmget(key, 4096, 0o1600)
    if segment < 0:
        pytest.skip("this machine has no shared memory by number")
    try:
        return "shared -1" not in bench.python(SHARED, str(key)).output
    finally:
        libc.shmctl(segment, 0, None)


KEYS = """
import ctypes, platform
number = {"x86_64": 248, "aarch64": 217}[platform.machine()]
print("key", ctypes.CDLL(None).syscall(number, b"user", b"skillc-test", b"x", 1, -2))
"""


@attempt("the keys of the kernel's keyring")
def keys(bench: Bench) -> bool:
    return "key -1" not in possible(bench, KEYS)


# Harmless, the same for the whole machine, and one for each level, since these may be tried at once.
SETTINGS = {
    "bubblewrap": "stat_interval",
    "landlock": "dirtytime_expire_seconds",
    "none": "extfrag_threshold",
}


@attempt("settings of the kernel in /proc/sys, as root")
def kernel_settings(bench: Bench) -> bool:
    setting = Path("/proc/sys/vm", SETTINGS[bench.level])
    if not os.access(setting, os.W_OK):
        pytest.skip("this user can't change them anyway")
    before = setting.read_text()
    try:
        bench.sh(f"echo $(({before.strip()} + 7)) > {setting}", read_only=False)
        return setting.read_text() != before
    finally:
        setting.write_text(before)


@attempt("a user namespace of its own")
def namespace(bench: Bench) -> bool:
    found = bench.run("unshare", "--user", "--map-root-user", "true", read_only=False).success
    if bench.level == "none" and not found:
        pytest.skip("this machine has no user namespaces for this user")
    return found


# As root it may open any terminal by name; the one it was started from is what counts.
TYPING = """
import fcntl
try:
    fcntl.ioctl(open("/dev/tty", "w"), 0x5412, b"x")
    print("typed")
except OSError as error:
    print("refused", error)
"""


@attempt("typing into the terminal")
def typing(bench: Bench) -> bool:
    argv = caller(bench, sys.executable, "-I", "-S", "-c", TYPING)
    program = f"import pty, sys; sys.exit(pty.spawn({argv!r}) >> 8)"
    found = subprocess.run(
        [sys.executable, "-c", program], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    assert "typed" in found.stdout or "refused" in found.stdout
    return "typed" in found.stdout


MEMORY = """
import mmap
try:
    mmap.mmap(-1, 9 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000)
    print("memory 1")
except OSError:
    print("memory -1")
"""


@attempt("8 GiB of memory in a process")
def memory(bench: Bench) -> bool:
    return "memory -1" not in possible(bench, MEMORY)


# Nothing is written to it, so it costs the machine nothing.
SHARED_MEMORY = (
    "keep = mmap.mmap(-1, 9 << 30, flags=SHARED | mmap.MAP_ANONYMOUS)",
    "keep = [mmap.mmap(-1, 1 << 30, flags=SHARED | mmap.MAP_ANONYMOUS) for _ in range(9)]",
    "keep = mmap.mmap(os.open('/dev/zero', os.O_RDWR), 9 << 30, flags=SHARED)",
    "for _ in range(4): os.fork()\nkeep = mmap.mmap(-1, 1 << 30, flags=SHARED | mmap.MAP_ANONYMOUS)",
    "for _ in range(3): os.truncate(os.memfd_create('x'), 3 << 30)",
    "assert ctypes.CDLL(None).shmget(0, ctypes.c_size_t(9 << 30), 0o11600) >= 0",
)


@attempt("more than 8 GiB of shared memory")
def much_shared_memory(bench: Bench) -> bool:
    begin = "import ctypes, mmap, os, time\nSHARED = mmap.MAP_SHARED | 0x4000  # MAP_NORESERVE\n"
    end = "\ntime.sleep(2)\nprint('kept')"
    return any("kept" in bench.python(begin + code + end).output for code in SHARED_MEMORY)


WEIGHED = """
import resource
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
small = Launch(("/bin/true",), cwd, env, cwd, 60.0, False, False, level)
run(small)
before = peak()
found = run(Launch(tuple(argv), cwd, env, cwd, 300.0, False, False, level))
print(peak() - before, found.truncated, found.exit_code, len(found.output))
"""


@attempt("10 GB of output")
def much_output(bench: Bench) -> bool:
    code = CALLER.rpartition("print")[0] + WEIGHED
    argv = [sys.executable, "-c", code, bench.level, str(bench.project)]
    # What reads it is the same at each level, and as much for each piece: a fiftieth of it shows the same.
    size = "10G" if bench.level == NONE and examples.is_complete else "200M"
    command = ["/usr/bin/head", "-c", size, "/dev/zero"]
    found = subprocess.run([*argv, *command], capture_output=True, text=True, check=True).stdout.split()
    assert found[1:3] == ["True", "0"]
    return int(found[0]) > 5 * 1024 or int(found[3]) > 5000  # KiB; characters


@attempt("output that never ends")
def endless_output(bench: Bench) -> bool:
    found = bench.run("yes", timeout=1)
    return found.error != "timed out after 1 s" or len(found.output) > 5000
