"""A command as a process, at any level of sandbox: start it, signal it, end it, learn how it ended."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from skillc.errors import CannotRun

PATIENCE = 10.0  # seconds that processes get to end after SIGKILL


@dataclass(frozen=True, slots=True)
class Launch:
    """Everything a run needs, decided before anything starts."""

    argv: tuple[str, ...]  # argv[0] is the absolute, resolved program
    cwd: str
    env: Mapping[str, str]
    skill_dir: str  # canonical
    timeout: float  # seconds
    network: bool
    read_only: bool
    sandbox: str  # "bubblewrap" | "landlock" | "none": the level that will be used


class Process:
    """A command as a plain process in a session of its own; sandboxes override how it is found and ended."""

    def __init__(self, launch: Launch, process: subprocess.Popen[bytes]) -> None:
        self.launch = launch
        self.process = process
        self._tasks_before = count_tasks()

    @property
    def stdout(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    @property
    def stderr(self) -> IO[bytes]:
        assert self.process.stderr is not None
        return self.process.stderr

    def has_ended(self) -> bool:
        """Return whether the process has ended; it stays a zombie, so that its number is not reused."""
        if not hasattr(os, "waitid"):
            return self.process.poll() is not None
        try:
            return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # it has been waited for
            return True

    def list_processes(self, limit: int | None = None) -> list[int]:
        """Return the command's processes, without those that the sandbox needs for itself.

        Orphans are found by their session, which is slow: only where there are many new processes.
        """
        pids = [self.process.pid, *list_descendants(self.process.pid, limit)]
        if limit is not None and count_tasks() - self._tasks_before > limit:
            pids = list({*pids, *list_session(self.process.pid)})
        return pids

    def terminate(self) -> None:
        """Send SIGTERM to all of the command's processes."""
        pids = self.list_processes()
        signal_group(self.process.pid, signal.SIGTERM)
        signal_each((pid for pid in pids if _group(pid) != self.process.pid), signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL to all of the command's processes that can still be found."""
        if self.process.returncode is not None:  # its number may be another's by now
            return
        pids = self.list_processes()
        signal_group(self.process.pid, signal.SIGKILL)  # all at once, so that nothing forks in between
        signal_each(pids, signal.SIGKILL)

    def exit_code(self, output: str) -> int:
        """Wait for the process and return its exit code; a signal counts from 128, as in shells.

        Raises what kept it from starting, which a sandbox may have said in its `output`.
        """
        code = self.process.wait()
        return code if code >= 0 else 128 - code

    def close(self) -> None:
        """End what is left and release what the run used."""
        self.kill()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:  # a program of another user, such as sudo, which we can't end
            self.process.returncode = -signal.SIGKILL  # or Python would wait for it again
        self.stdout.close()
        self.stderr.close()


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return 0


def spawn(
    launch: Launch,
    argv: Sequence[str],
    env: dict[str, str],
    *,
    cwd: str | None = None,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start `argv` with no input, its output in two pipes, and no descriptors but `pass_fds`."""
    try:
        return subprocess.Popen(  # noqa: S603 - running what a skill declares is what this is for
            argv,
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            close_fds=True,
            pass_fds=pass_fds,
            start_new_session=True,
        )
    except OSError as error:
        raise start_error(launch, error.errno or 0) from None
    except ValueError:
        raise CannotRun(launch.argv[0], "an argument or variable has a NUL byte") from None


def spawn_with_pipes(
    launch: Launch, data: bytes, env: dict[str, str], build_argv: Callable[[str, str, str], list[str]]
) -> tuple[subprocess.Popen[bytes], int, int]:
    """Start a program with a file that holds `data`, a pipe for its status, and a pipe to control it.

    `build_argv` gets the numbers of the three descriptors. Returns the process and our ends of the pipes.
    """
    file = os.memfd_create("skillc")
    status, status_end = os.pipe()
    control_end, control = os.pipe()
    passed = (file, status_end, control_end)
    try:
        with open(os.dup(file), "wb") as stream:
            stream.write(data)
        os.lseek(file, 0, os.SEEK_SET)
        process = spawn(launch, build_argv(*map(str, passed)), env, pass_fds=passed)
    except BaseException:
        os.close(status)
        os.close(control)
        raise
    finally:
        for descriptor in passed:
            os.close(descriptor)
    return process, status, control


def start_error(launch: Launch, number: int) -> CannotRun:
    """Return the error for a command that the system refuses to start, with what to do about it."""
    return CannotRun(launch.argv[0], _REASONS.get(number) or os.strerror(number))


_REASONS = {
    errno.ENOENT: "no such file, or its interpreter does not exist",
    errno.E2BIG: "its arguments are too long",
    errno.ENOEXEC: "not a program; a script needs a first line such as '#!/bin/sh'",
    errno.EACCES: "permission denied; is it executable?",
}


def list_descendants(pid: int, limit: int | None = None) -> list[int]:
    """Return the processes below `pid`, parents first; stop looking once there are more than `limit`."""
    pids = [pid]
    for parent in pids:
        pids += _children(parent)
        if limit is not None and len(pids) - 1 > limit:  # without `pid` itself
            break
    return pids[1:]


def _children(pid: int) -> list[int]:
    try:
        tasks = os.listdir(f"/proc/{pid}/task")
    except OSError:  # it ended meanwhile, or there is no /proc
        return []
    return [child for task in tasks for child in _task_children(pid, task)]


def _task_children(pid: int, task: str) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{task}/children", "rb") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def count_tasks() -> int:
    """Return how many processes and threads the machine has; 0 where it does not say."""
    try:
        with open("/proc/loadavg", "rb") as file:
            return int(file.read().split()[3].partition(b"/")[2])
    except (OSError, IndexError, ValueError):
        return 0


def list_session(leader: int) -> list[int]:
    """Return all processes of a session, whatever their parents are."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _session(name) == leader]


def _session(name: str) -> int | None:
    try:
        with open(f"/proc/{name}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[3])
    except OSError:
        return None


def signal_each(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:  # it ended meanwhile, or is another user's by now
            pass


def signal_group(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except OSError:  # it is empty by now
        pass
