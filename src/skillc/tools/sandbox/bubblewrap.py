"""The sandbox of bubblewrap: namespaces that hold only what the command may see."""

from __future__ import annotations

import functools
import json
import os
import resource
import select
import shutil
import signal
import subprocess
from typing import Any

from skillc.errors import CannotRun, SandboxUnavailable
from skillc.tools.launch import Launch
from skillc.tools.process_tree import descendants, signal_each
from skillc.tools.sandbox import seccomp
from skillc.tools.sandbox.access import HIDE, WRITE, access, home_of
from skillc.tools.sandbox.limits import TEMPORARY, limits
from skillc.tools.sandbox.process import PATIENCE, Started, spawn

PLACES = "/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin"  # not PATH, which may lead anywhere


def program() -> str | None:
    """Where bubblewrap is installed."""
    return shutil.which("bwrap", path=PLACES)


class Wrapped(Started):
    """A command in its own namespaces. Its first process is bubblewrap's: when that ends, all do."""

    def __init__(self, launch: Launch, process: subprocess.Popen[bytes], status: int, gate: int) -> None:
        super().__init__(launch, process)
        self._status = os.fdopen(status, "rb")
        self._first = 0
        self._first_end = -1
        self._trouble = ""
        try:
            self._first = int(self._next().get("child-pid", 0))
            if self._first:
                self._first_end = os.pidfd_open(self._first)
                for kind, value in limits(processes=True):
                    resource.prlimit(self._first, kind, (value, value))
        except ProcessLookupError:  # it failed to start, which its status will say
            pass
        except OSError as error:  # without limits it does not start
            self._trouble = f"its limits could not be set: {error.strerror}"
            process.kill()
            process.wait()
        finally:
            os.close(gate)  # behind which it has waited

    def _next(self) -> dict[str, Any]:
        line = self._status.readline(4096)
        try:
            value = json.loads(line or b"{}")
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    def processes(self, most: int | None = None) -> list[int]:
        return descendants(self._first, most) if self._first else []

    def terminate(self) -> None:
        signal_each(self.processes(), signal.SIGTERM)

    def kill(self) -> None:
        if self._first_end < 0:
            self.process.kill()
            return
        try:
            signal.pidfd_send_signal(self._first_end, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def exit_code(self, output: str) -> int:
        """bubblewrap only tells of an exit where the command was started; else `output` is its own."""
        status = self.process.wait()
        for _ in range(3):
            code = self._next().get("exit-code")
            if isinstance(code, int):
                return code
        said = self._trouble or output.strip().removeprefix("bwrap: ")
        if said.startswith("execvp "):
            raise CannotRun(self.launch.argv[0], said.rpartition(": ")[2])
        raise SandboxUnavailable(said or f"bubblewrap ended with status {status}")

    def close(self) -> None:
        super().close()
        if self._first_end >= 0:
            end = select.poll()
            end.register(self._first_end, select.POLLIN)
            end.poll(PATIENCE * 1000)  # it ends after all others of its namespace
            os.close(self._first_end)
        self._status.close()


def start(launch: Launch) -> Started:
    """Start the command in its sandbox."""
    bwrap = program()
    if bwrap is None:
        raise SandboxUnavailable("bubblewrap is not installed")
    status, status_end = os.pipe()
    gate_end, gate = os.pipe()
    rules = _memory_file(seccomp.program(network=launch.network, alone=False, read_only=launch.read_only))
    passed = (rules, status_end, gate_end)
    try:
        argv = [bwrap, *_options(launch), *_descriptors(*passed), "--", *launch.argv]
        env = dict(launch.env) | {"TMPDIR": temporary(launch)}
        process = spawn(launch, argv, env, pass_fds=passed)
    except BaseException:
        os.close(status)
        os.close(gate)
        raise
    finally:
        for descriptor in passed:
            os.close(descriptor)
    return Wrapped(launch, process, status, gate)


def _memory_file(data: bytes) -> int:
    descriptor = os.memfd_create("skillc")
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _descriptors(rules: int, status: int, gate: int) -> list[str]:
    return ["--seccomp", str(rules), "--json-status-fd", str(status), "--block-fd", str(gate)]


def temporary(launch: Launch) -> str:
    """Where the private temporary directory is: /tmp, unless that is the working directory."""
    return "/tmp" if launch.cwd != "/tmp" else "/run/tmp"  # noqa: S108 - of the sandbox, where it is empty


def _options(launch: Launch) -> list[str]:
    options = ["--unshare-all", *(["--share-net"] if launch.network else [])]
    options += ["--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    # /proc/sys asks for the user root and no capability: a kernel setting can name a program to start.
    options += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"]
    for _, step in sorted(_mounts(launch).items()):  # what is above comes before what is in it
        options += step
    home = home_of(launch)
    named = os.path.normpath(launch.env.get("HOME", home))
    if named != home:  # a link on the way to it
        options += ["--symlink", home, named]
    if launch.cwd == home:  # what is new at its top would be lost
        options += ["--remount-ro", home]
    return [*options, "--remount-ro", "/", "--chdir", launch.cwd]


def _mounts(launch: Launch) -> dict[str, list[str]]:
    """How each path is made, by path."""
    paths = access(launch)
    mounts = {path: _mount(path, paths[path]) for path in paths}
    for private in {home_of(launch), temporary(launch)} - {"/"}:
        if paths.get(private, HIDE) == HIDE:
            mounts[private] = _empty(private, TEMPORARY, "0700")
    return mounts


def _empty(path: str, size: int, mode: str) -> list[str]:
    """An empty directory in memory. Before 0.7 its size is the kernel's default, half of the memory."""
    known = version()
    sized = ["--size", str(size)] if known >= (0, 7) else []
    return [*sized, *(["--perms", mode] if known >= (0, 5) else []), "--tmpfs", path]


@functools.cache
def version() -> tuple[int, ...]:
    """The version of bubblewrap, asked once in a process; empty if it does not say."""
    found = subprocess.run(  # noqa: S603 - a program of the system, by its full name
        [str(program()), "--version"], capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    words = found.stdout.split()
    return tuple(int(part) for part in words[-1].split(".") if part.isdigit()) if words else ()


def _mount(path: str, mode: str) -> list[str]:
    if mode == HIDE and os.path.isdir(path):
        return _empty(path, 4096, "0000")
    if mode == HIDE:
        return ["--ro-bind", "/dev/null", path]
    if os.path.islink(path) and path.count("/") == 1:  # /bin, where systems have merged it with /usr/bin
        return ["--symlink", os.readlink(path), path]
    return ["--bind" if mode == WRITE else "--ro-bind", path, path]
