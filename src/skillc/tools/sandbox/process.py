"""A command that was started, at whatever level: how to signal it, end it, and learn how it ended."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
from collections.abc import Sequence
from typing import IO

from skillc.errors import CannotRun
from skillc.tools.launch import Launch
from skillc.tools.process_tree import all_tasks, descendants, of_session, signal_each, signal_group

PATIENCE = 10.0  # seconds for processes to end that have got SIGKILL


class Started:
    """A command as a bare process in a session of its own; a sandbox's `Started` knows more ways."""

    def __init__(self, launch: Launch, process: subprocess.Popen[bytes]) -> None:
        self.launch = launch
        self.process = process
        self._before = all_tasks()

    @property
    def stdout(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    @property
    def stderr(self) -> IO[bytes]:
        assert self.process.stderr is not None
        return self.process.stderr

    def ended(self) -> bool:
        """Whether the command's process has ended; its number stays taken, so that no other gets it."""
        if not hasattr(os, "waitid"):
            return self.process.poll() is not None
        try:
            return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # it has been waited for
            return True

    def processes(self, most: int | None = None) -> list[int]:
        """The command's processes, without those that the sandbox needs for itself.

        Orphans are found by their session, which takes long: only where there are many new processes.
        """
        found = [self.process.pid, *descendants(self.process.pid, most)]
        if most is not None and all_tasks() - self._before > most:
            found = list({*found, *of_session(self.process.pid)})
        return found

    def terminate(self) -> None:
        """SIGTERM to all of the command's processes."""
        left = self.processes()
        signal_group(self.process.pid, signal.SIGTERM)
        signal_each((pid for pid in left if _group(pid) != self.process.pid), signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL to all of the command's processes that can still be found."""
        if self.process.returncode is not None:  # its number may be another's by now
            return
        left = self.processes()
        signal_group(self.process.pid, signal.SIGKILL)  # at one blow, so that nothing forks meanwhile
        signal_each(left, signal.SIGKILL)

    def exit_code(self, output: str) -> int:
        """How the command ended, once its process has; a signal counts from 128, as in shells.

        Raises what kept it from starting, which a sandbox may have said in its `output`.
        """
        code = self.process.wait()
        return code if code >= 0 else 128 - code

    def close(self) -> None:
        """End what is left, and give back what the run held."""
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
    """Start `argv` with nothing to read, its output in two pipes, and no descriptors but `pass_fds`."""
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
        raise cannot_run(launch, error.errno or 0) from None
    except ValueError:
        raise CannotRun(launch.argv[0], "an argument or variable has a NUL byte") from None


def cannot_run(launch: Launch, number: int) -> CannotRun:
    """The system's refusal to start the command, in words that say what to do."""
    return CannotRun(launch.argv[0], _REASONS.get(number) or os.strerror(number))


_REASONS = {
    errno.ENOENT: "no such file, or its interpreter does not exist",
    errno.E2BIG: "its arguments are too long",
    errno.ENOEXEC: "not a program; a script needs a first line such as '#!/bin/sh'",
    errno.EACCES: "permission denied; is it executable?",
}
