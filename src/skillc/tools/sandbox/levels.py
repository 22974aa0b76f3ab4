"""The levels of sandbox: which work on this machine, what the others lack, and how to start at one."""

from __future__ import annotations

import functools
import importlib
import os
import shutil
import subprocess
import sys
from types import ModuleType

from skillc.errors import CannotRun, SandboxUnavailable, SkillcError
from skillc.tools.environment import find_on_path, read_bytes, why_not_startable
from skillc.tools.sandbox import seccomp
from skillc.tools.sandbox.process import Launch, Process, spawn

BUBBLEWRAP, LANDLOCK, NONE = "bubblewrap", "landlock", "none"
LEVELS = (BUBBLEWRAP, LANDLOCK, NONE)
TRIAL = 10.0  # seconds in which a sandbox has to start a command that does nothing
TIE = "setpriv"  # of util-linux: starts a program that dies with the process that started it

_SETTINGS = (  # of the kernel that switch user namespaces off: name, value, how to change it
    ("kernel/unprivileged_userns_clone", b"0", "kernel.unprivileged_userns_clone=1"),
    ("user/max_user_namespaces", b"0", "user.max_user_namespaces=10000"),
    ("kernel/apparmor_restrict_unprivileged_userns", b"1", "kernel.apparmor_restrict_unprivileged_userns=0"),
)


def choose() -> str:
    """Return the best level that works here, tried once in a process."""
    return next(level for level in LEVELS if _find_obstacle(level) is None)


def explain() -> list[str]:
    """Return what each level that does not work here lacks, and how to get it."""
    return [f"{level}: {obstacle}" for level in LEVELS if (obstacle := _find_obstacle(level)) is not None]


def describe_sandbox() -> tuple[str, list[str]]:
    """Return the best level that works here, and what the others lack."""
    return choose(), explain()


def start(launch: Launch) -> Process:
    """Start a command at the level that was decided, and at no other."""
    if launch.sandbox not in LEVELS:
        raise SandboxUnavailable(f"there is no level '{launch.sandbox}'")
    if not os.path.isdir(launch.cwd):
        raise CannotRun(launch.argv[0], f"its working directory '{launch.cwd}' does not exist")
    if reason := why_not_startable(launch.argv[0]):
        raise CannotRun(launch.argv[0], reason)
    return _start(launch)


def _start(launch: Launch) -> Process:
    if launch.sandbox == NONE:
        return start_without_sandbox(launch)
    process: Process = _load(launch.sandbox).start(launch)
    return process


def _load(level: str) -> ModuleType:
    # A level that is not used is not loaded, nor has to be loadable on this system.
    return importlib.import_module(f"skillc.tools.sandbox.{level}")


class SetprivProcess(Process):
    """A command that setpriv became, or could not become."""

    def exit_code(self, output: str) -> int:
        code = super().exit_code(output)
        if code in (126, 127) and output.startswith(f"{TIE}: "):
            raise CannotRun(self.launch.argv[0], output.strip().rpartition(": ")[2])
        return code


def start_without_sandbox(launch: Launch) -> Process:
    """Start the command as a process of the user, tied to this one where setpriv is installed."""
    tie = shutil.which(TIE, path="/usr/bin:/bin")
    argv = [*([tie, "--pdeathsig", "KILL", "--"] if tie else []), *launch.argv]
    process = spawn(launch, argv, dict(launch.env), cwd=launch.cwd)
    return SetprivProcess(launch, process) if tie else Process(launch, process)


@functools.cache
def _find_obstacle(level: str) -> str | None:
    """Return why a level does not work here and what to do about it; None if a trial succeeded."""
    if level == NONE:
        return None
    if sys.platform != "linux":
        return "only on Linux"
    if not seccomp.is_supported():
        return f"not on {os.uname().machine}: only on {' and '.join(seccomp.MACHINES)}"
    obstacle: str | None = _load(level).find_obstacle()
    return obstacle or _try(level)


def _try(level: str) -> str | None:
    """Run a command that does nothing; return what went wrong, or None."""
    program = find_on_path("true", "/usr/bin:/bin:/run/current-system/sw/bin")
    if program is None:
        return "there is no program 'true' to try it with"
    directory = os.path.dirname(program)
    env = {"HOME": "/nonexistent", "PATH": directory}
    launch = Launch((program,), "/", env, directory, TRIAL, False, True, level)
    try:
        process = _start(launch)
        try:
            output = process.process.communicate(timeout=TRIAL)[1].decode("utf-8", "replace")
            code = process.exit_code(output)
        finally:
            process.close()
    except (SkillcError, OSError, subprocess.TimeoutExpired) as error:
        return f"{getattr(error, 'message', error)}{_advice(level)}"
    return None if code == 0 else f"a command that does nothing ended with status {code}{_advice(level)}"


def _advice(level: str) -> str:
    """Return the usual reason, if a setting of this machine gives it away."""
    for name, value, change in _SETTINGS if level == BUBBLEWRAP else ():
        if read_bytes(f"/proc/sys/{name}").strip() == value:
            return f"; user namespaces are off: 'sysctl {change}' as root turns them on"
    return "; in a container, its seccomp profile or missing privileges may forbid it"
