"""The sandbox of Landlock: rules of the kernel for files, beside a seccomp filter for the rest.

Needs no program, no privilege and no namespaces: Linux 6.2 or newer (ABI 3, the first that guards
truncation) on x86_64 or aarch64. Signals to other processes are refused from ABI 6 on, Linux 6.12.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.abc
import marshal
import os
import signal
import subprocess
import sys
import tempfile
from typing import Any

from skillc.errors import SandboxUnavailable
from skillc.tools.launch import Launch
from skillc.tools.process_tree import descendants, signal_each
from skillc.tools.sandbox import seccomp, supervisor
from skillc.tools.sandbox.access import HIDE, WRITE, access
from skillc.tools.sandbox.limits import limits
from skillc.tools.sandbox.process import PATIENCE, Started, cannot_run, spawn
from skillc.tools.sandbox.removal import remove

BEGIN = """
import marshal, sys
source, status, control = map(int, sys.argv[1:])
names = {"__name__": "supervisor"}
with open(source, "rb") as file:
    exec(marshal.load(file), names)
    plan = marshal.load(file)
names["main"](plan, status, control)
"""
LEAST = 3  # the ABI below which this is no sandbox

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _IOCTL_DEV = 1, 1 << 1, 1 << 2, 1 << 3, 1 << 15
_DEVICES = 1 << 6 | 1 << 11  # making device files
_TRUNCATE = 1 << 14
_ALL = (1 << 15) - 1  # what ABI 3 knows
_READING = _EXECUTE | _READ_FILE | _READ_DIR
_WRITING = _ALL & ~_DEVICES
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_TCP, _SCOPES = 0b11, 0b11  # bind and connect; abstract sockets and signals

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


def abi() -> int:
    """The version of Landlock that the kernel offers; 0 if none."""
    if sys.platform != "linux":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(supervisor.CREATE_RULESET, None, ctypes.c_long(0), ctypes.c_long(1))))


class Confined(Started):
    """A command below its supervisor, which ends everything when its pipe is closed."""

    def __init__(
        self, launch: Launch, process: subprocess.Popen[bytes], status: int, control: int, private: str
    ) -> None:
        super().__init__(launch, process)
        self._status = os.fdopen(status, "rb")
        self._control = control
        self._private = private

    def processes(self, most: int | None = None) -> list[int]:
        return descendants(self.process.pid, most)

    def terminate(self) -> None:
        signal_each(self.processes(), signal.SIGTERM)

    def kill(self) -> None:
        if self._control >= 0:
            os.close(self._control)
            self._control = -1

    def exit_code(self, output: str) -> int:
        self.process.wait()
        what, _, value = self._status.readline(4096).decode("utf-8", "replace").strip().partition(" ")
        if what == "exit":
            return int(value) if int(value) >= 0 else 128 - int(value)
        if what == "exec":
            raise cannot_run(self.launch, int(value))
        raise SandboxUnavailable(f"Landlock: {value or output.strip() or 'its supervisor was killed'}")

    def close(self) -> None:
        self.kill()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            super().kill()
        super().close()
        self._status.close()
        remove(self._private)


def start(launch: Launch) -> Started:
    """Start the command below a supervisor that confines it."""
    private = tempfile.mkdtemp(prefix="skillc-run-")
    try:
        return _start(launch, private)
    except BaseException:
        remove(private)
        raise


def _start(launch: Launch, private: str) -> Started:
    env = dict(launch.env) | {"TMPDIR": private, "HOME": os.path.join(private, "home")}
    os.mkdir(env["HOME"], 0o700)
    source = _memory_file(_code() + marshal.dumps(_plan(launch, env, private)))
    status, status_end = os.pipe()
    control_end, control = os.pipe()
    passed = (source, status_end, control_end)
    try:
        argv = [sys.executable, "-I", "-S", "-c", BEGIN, *map(str, passed)]
        process = spawn(launch, argv, {}, pass_fds=passed)
    except BaseException:
        os.close(status)
        os.close(control)
        raise
    finally:
        for descriptor in passed:
            os.close(descriptor)
    return Confined(launch, process, status, control, private)


@functools.cache
def _code() -> bytes:
    """The supervisor as code: what this process would import, never a file that was compiled before."""
    loader = supervisor.__loader__
    assert isinstance(loader, importlib.abc.InspectLoader)
    return marshal.dumps(loader.get_code(supervisor.__name__))


def _memory_file(data: bytes) -> int:
    descriptor = os.memfd_create("skillc")
    with open(os.dup(descriptor), "wb") as file:
        file.write(data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _plan(launch: Launch, env: dict[str, str], private: str) -> dict[str, Any]:
    """What the supervisor is to do, in values that marshal knows."""
    version = abi()
    handled = _ALL | (_IOCTL_DEV if version >= 5 else 0)
    tcp = _TCP if version >= 4 and not launch.network else 0
    scopes = _SCOPES if version >= 6 else 0
    return {
        "argv": [_plain(word) for word in launch.argv],
        "env": {_plain(name): _plain(value) for name, value in env.items()},
        "cwd": _plain(launch.cwd),
        "limits": limits(processes=False),
        "handled": (handled, tcp, scopes),
        "size": 24 if version >= 6 else 16 if version >= 4 else 8,
        "rules": [
            (_plain(path), *allowed) for path, *allowed in (*_rules(access(launch)), *_always(private))
        ],
        "seccomp": seccomp.program(network=launch.network, alone=True, read_only=launch.read_only),
    }


def _plain(text: str) -> str:
    """Text that may be of a class of its own, as marshal takes it."""
    return str.__str__(text)


def _always(private: str) -> list[tuple[str, int, int]]:
    devices = [(path, 0, _READ_FILE | _WRITE_FILE) for path in DEVICES]
    return [(private, _WRITING, 0), ("/proc", _READING, 0), *devices]


def _rules(paths: dict[str, str]) -> list[tuple[str, int, int]]:
    """What is allowed below a path (if it is a directory, and if it is a file).

    Rules add up and never take away, so a directory that has something hidden in it is opened entry
    by entry, and the skill's folder can be written where it is in a working directory that can be.
    """
    rules = []
    for path, mode in paths.items():
        if mode != HIDE:
            allowed = _WRITING if mode == WRITE else _READING
            hidden = [other for other, its in paths.items() if its == HIDE]
            rules += [(part, allowed, allowed & _OF_FILES) for part in _around(path, hidden)]
    return rules


def _around(path: str, hidden: list[str]) -> list[str]:
    """`path`, or, where something below it is hidden, everything in it that is not."""
    inside = os.path.join(path, "")
    below = [other for other in hidden if other.startswith(inside)]
    if path in hidden:
        return []
    if not below:
        return [path]
    try:
        names = os.listdir(path)
    except OSError:
        return []
    return [part for name in sorted(names) for part in _around(inside + name, hidden)]
