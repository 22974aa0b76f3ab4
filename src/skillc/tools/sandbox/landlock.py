"""The sandbox of Landlock: rules of the kernel for files, beside a seccomp filter for the rest.

Needs no program, no privilege and no namespaces: Linux 6.2 or newer (ABI 3, the first that guards
truncation) on x86_64 or aarch64. Signals to other processes are refused from ABI 6 on, Linux 6.12.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.abc
import itertools
import marshal
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from skillc.errors import SandboxUnavailable
from skillc.paths import is_inside
from skillc.tools.sandbox import cgroup, seccomp, supervisor
from skillc.tools.sandbox.access import DEVICES, HIDE, WRITE, access_rules
from skillc.tools.sandbox.process import (
    PATIENCE,
    Launch,
    SandboxProcess,
    list_limits,
    spawn_with_pipes,
    start_error,
)

# What starts the supervisor. It runs before each command, so it imports as little as it can.
BEGIN = """
import marshal, sys
source, status, control = map(int, sys.argv[1:])
names = {"__name__": "supervisor"}
with open(source, "rb") as file:
    exec(marshal.load(file), names)
    plan = marshal.load(file)
names["main"](plan, status, control)
"""
MIN_ABI = 3  # below it this is no sandbox

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _IOCTL_DEV = 1, 1 << 1, 1 << 2, 1 << 3, 1 << 15
_DEVICES = 1 << 6 | 1 << 11  # making device files
_TRUNCATE = 1 << 14
_ALL = (1 << 15) - 1  # what ABI 3 knows
_READING = _EXECUTE | _READ_FILE | _READ_DIR
_WRITING = _ALL & ~_DEVICES
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_TCP, _SCOPES = 0b11, 0b11  # bind and connect; abstract sockets and signals


def abi() -> int:
    """Return the version of Landlock that the kernel offers; 0 if none."""
    if sys.platform != "linux":
        return 0
    libc = ctypes.CDLL(None, use_errno=True)
    return max(0, int(libc.syscall(supervisor.CREATE_RULESET, None, ctypes.c_long(0), ctypes.c_long(1))))


def find_obstacle() -> str | None:
    """Return what it lacks on this machine and how to get it; None if a trial has to show."""
    version = abi()
    if version >= MIN_ABI:
        return None
    if version:
        return f"the kernel has ABI {version}; Linux 6.2 or newer has the ABI {MIN_ABI} that is needed"
    return "the kernel does not offer it; Linux 6.2 or newer does, with 'landlock' in its lsm= parameter"


class LandlockProcess(SandboxProcess):
    """A command below its supervisor, which ends everything when its pipe is closed."""

    def __init__(
        self,
        launch: Launch,
        process: subprocess.Popen[bytes],
        status: int,
        control: int,
        private: str,
        group: str | None,
    ) -> None:
        super().__init__(launch, process, status)
        self._control = control
        self._private = private
        self._group = group

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
            raise start_error(self.launch, int(value))
        raise SandboxUnavailable(f"Landlock: {value or output.strip() or 'its supervisor was killed'}")

    def close(self) -> None:
        self.kill()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            super().kill()
        super().close()
        _clean_up(self._private, self._group)


def start(launch: Launch) -> LandlockProcess:
    """Start the command below a supervisor that confines it."""
    private = tempfile.mkdtemp(prefix="skillc-run-")
    group = cgroup.create()
    try:
        env = dict(launch.env) | {"TMPDIR": private, "HOME": os.path.join(private, "home")}
        os.mkdir(env["HOME"], 0o700)
        data = _supervisor_code() + marshal.dumps(_plan(launch, env, private, group))
        start_python = [sys.executable, "-I", "-S", "-c", BEGIN]
        pipes = spawn_with_pipes(launch, data, {}, lambda *descriptors: [*start_python, *descriptors])
        return LandlockProcess(launch, *pipes, private, group)
    except BaseException:
        _clean_up(private, group)
        raise


def _clean_up(private: str, group: str | None) -> None:
    remove_tree(private)
    if group:
        cgroup.remove(group)


@functools.cache
def _supervisor_code() -> bytes:
    """Return the supervisor's code, by the loader of this process and not from a compiled file."""
    loader = supervisor.__loader__
    assert isinstance(loader, importlib.abc.InspectLoader)
    return marshal.dumps(loader.get_code(supervisor.__name__))


def _plan(launch: Launch, env: dict[str, str], private: str, group: str | None) -> dict[str, Any]:
    """Return what the supervisor is to do, in values that marshal takes: no subclass of str, for one."""
    plain = str.__str__
    version = abi()
    files = _ALL | (_IOCTL_DEV if version >= 5 else 0)
    tcp = _TCP if version >= 4 and not launch.network else 0
    scopes = _SCOPES if version >= 6 else 0
    return {
        "argv": [plain(word) for word in launch.argv],
        "env": {plain(name): plain(value) for name, value in env.items()},
        "cwd": plain(launch.cwd),
        "limits": list_limits(processes=False),
        "members": os.path.join(group, cgroup.MEMBERS) if group else "",
        "restrictions": (files, tcp, scopes),
        "size": 24 if version >= 6 else 16 if version >= 4 else 8,
        "rules": [(plain(path), *rights) for path, *rights in _rules(launch, private)],
        "seccomp": seccomp.build_filter(network=launch.network, alone=True, read_only=launch.read_only),
    }


def _rules(launch: Launch, private: str) -> list[tuple[str, int, int]]:
    """Return the rights at each path: below it if it is a directory, and if it is a file.

    Rules add up and never take away, so a directory that has something hidden in it is opened entry
    by entry, and the skill's folder can be written where it is in a working directory that can be.
    """
    rules = [(private, _WRITING, 0), ("/proc", _READING, 0)]
    rules += [(path, 0, _READ_FILE | _WRITE_FILE) for path in DEVICES]
    modes = access_rules(launch)
    secrets = [path for path, mode in modes.items() if mode == HIDE]
    for path, mode in modes.items():
        rights = _WRITING if mode == WRITE else _READING
        rules += [(part, rights, rights & _OF_FILES) for part in _list_around(path, secrets)]
    return rules


def _list_around(path: str, secrets: list[str]) -> list[str]:
    """Return `path`, or, where something below it is to be hidden, everything else in it.

    Links are left out: a rule for one would open what it leads to.
    """
    if path in secrets:
        return []
    if not any(is_inside(other, path) for other in secrets):
        return [path]
    try:
        names = os.listdir(path)
    except OSError:
        return []
    entries = [os.path.join(path, name) for name in sorted(names)]
    return [part for entry in entries if not os.path.islink(entry) for part in _list_around(entry, secrets)]


def remove_tree(root: str) -> None:
    """Remove a command's private directory, however deep, without recursion or following links.

    Deep trees have paths that are too long to name, so each directory is entered by its descriptor,
    and its directories are moved up to the root, where names stay short.
    """
    prefix = os.urandom(8).hex()  # the command can't have guessed it
    free_names = (f".{prefix}-{number}" for number in itertools.count())
    with suppress(OSError):  # a rest may stay; it is in the system's temporary directory
        top = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            while names := os.listdir(top):
                for name in names:
                    if not _unlink(name, top):
                        _flatten(name, top, free_names)
            os.rmdir(root)
        finally:
            os.close(top)


def _unlink(name: str, directory: int) -> bool:
    try:
        os.unlink(name, dir_fd=directory)
    except IsADirectoryError:
        return False
    return True


def _flatten(name: str, top: int, free_names: Iterator[str]) -> None:
    """Remove one directory of `top`: its files are deleted, its directories move to `top`."""
    os.chmod(name, 0o700, dir_fd=top)
    directory = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=top)
    try:
        for entry in os.listdir(directory):
            if not _unlink(entry, directory):
                os.chmod(entry, 0o700, dir_fd=directory)
                os.rename(entry, next(free_names), src_dir_fd=directory, dst_dir_fd=top)
    finally:
        os.close(directory)
    os.rmdir(name, dir_fd=top)
