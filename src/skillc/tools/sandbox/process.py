"""A command as a process, at any level of sandbox: its limits, its start, its signals and its end."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from skillc.errors import CannotRun
from skillc.tools.environment import read_bytes

PATIENCE = 10.0  # seconds that processes get to end after SIGKILL
# What one command may use.
PROCESSES = 512  # at once; beyond it the run is ended
FILE = 4 << 30  # bytes in one file; beyond it writing fails and the process gets SIGXFSZ
MEMORY = 8 << 30  # bytes of private memory a process, and of shared memory in all of them
FILES = 4096  # that a process has open; beyond it opening fails
SEARCH = 1.0  # seconds between two searches for orphans among all processes of the machine


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
    owns_home: bool = False  # HOME was made for this command, which may write it; it is not the user's
    reads: tuple[str, ...] = ()  # further folders that it may read


def list_limits(*, processes: bool) -> list[tuple[int, int]]:
    """Return the limits as the kernel takes them, never above those that already apply.

    RLIMIT_NPROC counts all processes of a user, so it only helps in a user namespace of the
    command's own (`processes`), and does not bind root. RLIMIT_AS would stop Node, Go and Java,
    which reserve far more than they use; RLIMIT_DATA counts what can be written.
    """
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: FILE}
    limits |= {resource.RLIMIT_DATA: MEMORY, resource.RLIMIT_NOFILE: FILES}
    if processes:
        limits[resource.RLIMIT_NPROC] = PROCESSES
    hard = {kind: resource.getrlimit(kind)[1] for kind in limits}
    return [
        (kind, value if hard[kind] == resource.RLIM_INFINITY else min(value, hard[kind]))
        for kind, value in limits.items()
    ]


class Process:
    """A command as a plain process in a session of its own; sandboxes override how it is found and ended."""

    def __init__(self, launch: Launch, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        assert process.stderr is not None
        self.launch = launch
        self.process = process
        self.streams = (process.stdout, process.stderr)
        self._tasks = count_tasks()
        self._next_search = 0.0

    def has_ended(self) -> bool:
        """Return whether the process has ended; it stays a zombie, so that its number is not reused."""
        if not hasattr(os, "waitid"):
            return self.process.poll() is not None
        try:
            return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # it has been waited for
            return True

    def find_excess(self) -> str:
        """Return which limit the command has passed, and has to be ended for; empty if none."""
        number = len(self.list_processes(PROCESSES))
        return f"it had more than {PROCESSES} processes at once" if number > PROCESSES else ""

    def list_processes(self, limit: int | None = None) -> list[int]:
        """Return the command's processes, without those that the sandbox needs for itself.

        Orphans are found by their session, which is slow: at once where there are many new processes,
        otherwise once a second. The number on the machine alone says little, since others end meanwhile.
        """
        pids = [self.process.pid, *list_descendants(self.process.pid, limit)]
        if limit is None:
            return pids
        tasks, now = count_tasks(), time.monotonic()
        if tasks - self._tasks > limit or (tasks > limit and now >= self._next_search):
            self._tasks, self._next_search = tasks, now + SEARCH
            pids = list({*pids, *list_session(self.process.pid)})
        return pids

    def terminate(self) -> None:
        """Send SIGTERM to all of the command's processes."""
        pids = self.list_processes()
        signal_each([self.process.pid], signal.SIGTERM, os.killpg)
        signal_each((pid for pid in pids if not self._is_in_group(pid)), signal.SIGTERM)

    def _is_in_group(self, pid: int) -> bool:
        with suppress(OSError):
            return os.getpgid(pid) == self.process.pid
        return False

    def kill(self) -> None:
        """Send SIGKILL to all of the command's processes that can still be found."""
        if self.process.returncode is not None:  # its number may be another's by now
            return
        pids = self.list_processes()
        # First the group, all at once, so that nothing forks in between.
        signal_each([self.process.pid], signal.SIGKILL, os.killpg)
        signal_each(pids, signal.SIGKILL)

    def exit_code(self, output: str) -> int:
        """Wait and return the exit code, signals from 128 on; raises what kept the command from starting."""
        code = self.process.wait()
        return code if code >= 0 else 128 - code

    def close(self) -> None:
        """End what is left and release what the run used."""
        self.kill()
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:  # a program of another user, such as sudo, which we can't end
            self.process.returncode = -signal.SIGKILL  # or Python would wait for it again
        for stream in self.streams:
            stream.close()


class SandboxProcess(Process):
    """A command below a process of its sandbox, which reports through a pipe how the command ended."""

    def __init__(self, launch: Launch, process: subprocess.Popen[bytes], status: int) -> None:
        super().__init__(launch, process)
        self._status = os.fdopen(status, "rb")
        self._root = process.pid  # the command's processes are those below it

    def list_processes(self, limit: int | None = None) -> list[int]:
        return list_descendants(self._root, limit) if self._root else []

    def find_excess(self) -> str:
        pids = self.list_processes(PROCESSES)
        if len(pids) <= PROCESSES and count_shared_memory(pids) > MEMORY:
            return f"it had more than {MEMORY >> 30} GiB of shared memory"
        return super().find_excess()

    def terminate(self) -> None:
        signal_each(self.list_processes(), signal.SIGTERM)

    def close(self) -> None:
        super().close()
        self._status.close()


def spawn(
    launch: Launch, argv: Sequence[str], env: dict[str, str], cwd: str | None = None, fds: Sequence[int] = ()
) -> subprocess.Popen[bytes]:
    """Start `argv` with no input, its output in two pipes, and no other descriptors but `fds`."""
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
            pass_fds=fds,
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
    descriptors = (file, status_end, control_end)
    try:
        with open(os.dup(file), "wb") as stream:
            stream.write(data)
        os.lseek(file, 0, os.SEEK_SET)
        process = spawn(launch, build_argv(*map(str, descriptors)), env, fds=descriptors)
    except BaseException:
        os.close(status)
        os.close(control)
        raise
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    return process, status, control


def start_error(launch: Launch, number: int) -> CannotRun:
    """Return the error for a command that the system refuses to start, with what to do about it."""
    reasons = {
        errno.ENOENT: "no such file, or its interpreter does not exist",
        errno.E2BIG: "its arguments are too long",
        errno.ENOEXEC: "not a program; a script needs a first line such as '#!/bin/sh'",
        errno.EACCES: "permission denied; is it executable?",
    }
    return CannotRun(launch.argv[0], reasons.get(number) or os.strerror(number))


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
    texts = [read_bytes(f"/proc/{pid}/task/{task}/children") for task in tasks]
    return [int(word) for text in texts for word in text.split()]


def count_tasks() -> int:
    """Return how many processes and threads the machine has; 0 where it does not say."""
    try:
        return int(read_bytes("/proc/loadavg").split()[3].partition(b"/")[2])
    except (IndexError, ValueError):
        return 0


def list_session(leader: int) -> list[int]:
    """Return all processes of a session, whatever their parents are."""
    numbers = [name for name in os.listdir("/proc") if name.isdigit()]
    fields = {name: read_bytes(f"/proc/{name}/stat").rpartition(b")")[2].split() for name in numbers}
    return [int(name) for name in numbers if fields[name][3:4] == [b"%d" % leader]]


def count_shared_memory(pids: Iterable[int]) -> int:
    """Return how many bytes of memory without a file processes share; RLIMIT_DATA does not count them.

    Sizes count, not what is in use: pages stay in memory when all processes have let go of them.
    """
    sizes = {pid: read_bytes(f"/proc/{pid}/statm").partition(b" ")[0] for pid in pids}
    bounds = {pid: int(size) * resource.getpagesize() for pid, size in sizes.items() if size}
    if sum(bounds.values()) <= MEMORY:  # the usual case, and the fast one
        return 0
    unknown = 0
    ends: dict[bytes, int] = {}  # by inode, since several processes have the same memory
    for pid, bound in bounds.items():
        lines = read_bytes(f"/proc/{pid}/maps").splitlines()
        if not lines and os.path.exists(f"/proc/{pid}"):
            unknown += bound
        for addresses, mode, offset, _, inode, *name in (line.split(None, 5) for line in lines):
            if mode.endswith(b"s") and name and name[0].startswith(b"/dev/zero"):
                first, _, last = addresses.partition(b"-")
                end = int(offset, 16) + int(last, 16) - int(first, 16)
                ends[inode] = max(ends.get(inode, 0), end)
    return unknown + sum(ends.values())


def signal_each(pids: Iterable[int], number: int, send: Callable[[int, int], None] = os.kill) -> None:
    """Send a signal to processes, or with `os.killpg` to groups."""
    for pid in pids:
        with suppress(OSError):  # it ended meanwhile, or is another user's by now
            send(pid, number)
