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
from contextlib import suppress
from typing import Any

from skillc.errors import CannotRun, SandboxUnavailable
from skillc.paths import is_inside
from skillc.tools.sandbox import cgroup, seccomp
from skillc.tools.sandbox.access import HIDE, WRITE, access_rules, list_homes, rule_for
from skillc.tools.sandbox.process import PATIENCE, Launch, SandboxProcess, list_limits, spawn_with_pipes

PLACES = "/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin"  # not PATH, which may lead anywhere
TEMPORARY = 4 << 30  # bytes in the private /tmp and home; beyond it writing fails
SHARED = 1 << 30  # bytes in /dev/shm


def find_bubblewrap() -> str | None:
    """Return where bubblewrap is installed."""
    return shutil.which("bwrap", path=PLACES)


def find_obstacle() -> str | None:
    """Return what it lacks on this machine and how to get it; None if a trial has to show."""
    install = "install the package 'bubblewrap' ('apt install bubblewrap', 'dnf install bubblewrap')"
    return None if find_bubblewrap() else f"not installed; {install}"


class BubblewrapProcess(SandboxProcess):
    """A command in its own namespaces. Their first process is bubblewrap's: when that ends, all end."""

    def __init__(self, launch: Launch, process: subprocess.Popen[bytes], status: int, gate: int) -> None:
        super().__init__(launch, process, status)
        self._root = 0
        self._root_fd = -1
        self._error = ""
        self._group = cgroup.create()
        try:
            self._root = int(self._read_status().get("child-pid", 0))
            if self._root:
                self._root_fd = os.pidfd_open(self._root)
                for kind, value in list_limits(processes=True):
                    resource.prlimit(self._root, kind, (value, value))
                if self._group:
                    cgroup.add(self._group, self._root)
                with open(f"/proc/{self._root}/oom_score_adj", "w") as file:
                    file.write("1000")  # where memory runs out, it is the first to go
        except (ProcessLookupError, FileNotFoundError):  # it failed to start; its status will say why
            pass
        except OSError as error:  # without limits it does not start
            self._error = f"its limits could not be set: {error.strerror}"
            process.kill()
            process.wait()
        finally:
            os.close(gate)  # lets the command start

    def _read_status(self) -> dict[str, Any]:
        with suppress(ValueError):
            value = json.loads(self._status.readline(4096))
            return value if isinstance(value, dict) else {}
        return {}

    def kill(self) -> None:
        if self._root_fd < 0:
            self.process.kill()
            return
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._root_fd, signal.SIGKILL)

    def exit_code(self, output: str) -> int:
        """Return the code that the status pipe has; without one nothing started, and `output` says why."""
        status = self.process.wait()
        for _ in range(3):
            code = self._read_status().get("exit-code")
            if isinstance(code, int):
                return code
        reason = self._error or output.strip().removeprefix("bwrap: ")
        if reason.startswith("execvp "):
            raise CannotRun(self.launch.argv[0], reason.rpartition(": ")[2])
        raise SandboxUnavailable(reason or f"bubblewrap ended with status {status}")

    def close(self) -> None:
        super().close()
        if self._root_fd >= 0:
            poll = select.poll()
            poll.register(self._root_fd, select.POLLIN)
            poll.poll(PATIENCE * 1000)  # it ends after all others of its namespace
            os.close(self._root_fd)
        if self._group:
            cgroup.remove(self._group)


def start(launch: Launch) -> BubblewrapProcess:
    bwrap = find_bubblewrap()
    if bwrap is None:
        raise SandboxUnavailable("bubblewrap is not installed")
    rules = seccomp.build_filter(network=launch.network, alone=False, read_only=launch.read_only)
    env = dict(launch.env) | {"TMPDIR": _temporary_directory(launch)}

    def build_argv(rules: str, status: str, gate: str) -> list[str]:
        descriptors = ["--seccomp", rules, "--json-status-fd", status, "--block-fd", gate]
        return [bwrap, *_options(launch), *descriptors, "--", *launch.argv]

    return BubblewrapProcess(launch, *spawn_with_pipes(launch, rules, env, build_argv))


def _temporary_directory(launch: Launch) -> str:
    """Return where the private temporary directory is: /tmp, unless that is the working directory."""
    return "/tmp" if launch.cwd != "/tmp" else "/run/tmp"  # noqa: S108 - of the sandbox, where it is empty


def _options(launch: Launch) -> list[str]:
    options = ["--unshare-all", *(["--share-net"] if launch.network else [])]
    options += ["--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    # Root may write /proc/sys without any capability, and a kernel setting can name a program to start.
    options += ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"]
    options += ["--dev", "/dev", *_mount_empty("/dev/shm", SHARED, "1777"), "--remount-ro", "/dev"]  # noqa: S108
    mounts = _list_mounts(launch)
    for path in sorted(mounts):  # a directory comes before what is in it
        options += mounts[path]
    if launch.cwd in list_homes(launch):  # what is new at its top would be lost
        options += ["--remount-ro", launch.cwd]
    return [*options, "--remount-ro", "/", "--chdir", launch.cwd]


def _list_mounts(launch: Launch) -> dict[str, list[str]]:
    """Return the options for each path: what the rules open, and the private directories."""
    rules = access_rules(launch)
    in_use = [launch.cwd, *(path for path, mode in rules.items() if mode != HIDE)]
    mounts = {path: _mount(path, mode, in_use) for path, mode in rules.items()}
    private = [_temporary_directory(launch)]
    for home in [] if launch.owns_home else list_homes(launch)[:1]:  # the first is the command's own
        name = os.path.normpath(launch.env.get("HOME", home))
        if os.path.realpath(name) == home != name and rule_for(name, rules) in (None, HIDE):
            mounts[name] = ["--symlink", home, name]  # HOME is a link, or has one on the way
        if os.path.isdir(home) or rule_for(home, rules) is None:
            private.append(home)
    for path in private:
        if rules.get(path, HIDE) == HIDE:
            mounts[path] = _mount_empty(path, TEMPORARY, "0700")
    return mounts


def _mount_empty(path: str, size: int, mode: str) -> list[str]:
    """Mount an empty directory in memory. Before 0.7 its size is the kernel's default, half of the memory."""
    version = read_version()
    options = ["--size", str(size)] if version >= (0, 7) else []
    return [*options, *(["--perms", mode] if version >= (0, 5) else []), "--tmpfs", path]


@functools.cache
def read_version() -> tuple[int, ...]:
    """Return the version of bubblewrap, asked once in a process; empty if it does not say."""
    argv = [str(find_bubblewrap()), "--version"]
    result = subprocess.run(argv, capture_output=True, check=False)  # noqa: S603 - a program of the system
    words = result.stdout.split()
    return tuple(int(part) for part in words[-1].split(b".") if part.isdigit()) if words else ()


def _mount(path: str, mode: str, in_use: list[str]) -> list[str]:
    """Return the options for one rule; `in_use` are the paths that have to be reached."""
    if mode == HIDE and os.path.isdir(path):
        return _mount_empty(path, 4096, "0555" if any(is_inside(other, path) for other in in_use) else "0000")
    if mode == HIDE:
        return ["--ro-bind", "/dev/null", path]
    if os.path.islink(path) and path.count("/") == 1:  # /bin, where systems have merged it with /usr/bin
        return ["--symlink", os.readlink(path), path]
    return ["--bind" if mode == WRITE else "--ro-bind", path, path]
