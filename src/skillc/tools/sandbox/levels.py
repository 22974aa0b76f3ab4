"""Which levels of sandbox work on this machine, what the others lack, and starting a command at one."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable

from skillc.errors import CannotRun, SandboxUnavailable, SkillcError
from skillc.tools.launch import Launch
from skillc.tools.sandbox import bare, seccomp
from skillc.tools.sandbox.process import Started
from skillc.tools.shebang import on_path, refusal

BUBBLEWRAP, LANDLOCK, NONE = "bubblewrap", "landlock", "none"
LEVELS = (BUBBLEWRAP, LANDLOCK, NONE)

TRIAL = 10.0  # seconds in which a sandbox has to start a command that does nothing


def choose() -> str:
    """The best level that works here, tried once in a process."""
    return next(level for level in LEVELS if _missing(level) is None)


def explain() -> list[str]:
    """What each level that does not work here lacks, and how to get it."""
    return [f"{level}: {missing}" for level in LEVELS if (missing := _missing(level)) is not None]


def start(launch: Launch) -> Started:
    """Start a command at the level that was decided, and at no other."""
    if launch.sandbox not in LEVELS:
        raise SandboxUnavailable(f"there is no level '{launch.sandbox}'")
    if not os.path.isdir(launch.cwd):
        raise CannotRun(launch.argv[0], f"its working directory '{launch.cwd}' does not exist")
    if reason := refusal(launch.argv[0]):
        raise CannotRun(launch.argv[0], reason)
    return _starter(launch.sandbox)(launch)


def _starter(level: str) -> Callable[[Launch], Started]:
    # Imported here: where the level is not used, it is not loaded, nor has to be loadable.
    if level == BUBBLEWRAP:
        from skillc.tools.sandbox import bubblewrap

        return bubblewrap.start
    if level == LANDLOCK:
        from skillc.tools.sandbox import landlock

        return landlock.start
    return bare.start


@functools.cache
def _missing(level: str) -> str | None:
    """Why a level does not work here and what to do about it; None if it works, which has been tried."""
    if level == NONE:
        return None
    if sys.platform != "linux":
        return "only on Linux"
    if not seccomp.supported():
        return f"not on {os.uname().machine}: only on {' and '.join(seccomp.MACHINES)}"
    lacking = _without_bubblewrap() if level == BUBBLEWRAP else _without_landlock()
    return lacking or _tried(level)


def _without_bubblewrap() -> str | None:
    from skillc.tools.sandbox import bubblewrap

    if bubblewrap.program() is not None:
        return None
    return (
        "not installed; install the package 'bubblewrap' ('apt install bubblewrap', 'dnf install bubblewrap')"
    )


def _without_landlock() -> str | None:
    from skillc.tools.sandbox import landlock

    version = landlock.abi()
    if version >= landlock.LEAST:
        return None
    if version:
        return f"the kernel has ABI {version}; Linux 6.2 or newer has the ABI {landlock.LEAST} that is needed"
    return "the kernel does not offer it; Linux 6.2 or newer does, with 'landlock' in its lsm= parameter"


def _tried(level: str) -> str | None:
    nothing = on_path("true", "/usr/bin:/bin:/run/current-system/sw/bin")
    if nothing is None:
        return "there is no program 'true' to try it with"
    env = {"HOME": "/nonexistent", "PATH": os.path.dirname(nothing)}
    launch = Launch((nothing,), "/", env, os.path.dirname(nothing), TRIAL, False, True, level)
    try:
        started = _starter(level)(launch)
        try:
            said = started.process.communicate(timeout=TRIAL)[1].decode("utf-8", "replace")
            code = started.exit_code(said)
        finally:
            started.close()
    except (SkillcError, OSError, subprocess.TimeoutExpired) as error:
        return f"{getattr(error, 'message', error)}{_advice(level)}"
    return None if code == 0 else f"a command that does nothing ended with status {code}{_advice(level)}"


def _advice(level: str) -> str:
    """The usual reason, if a setting of this machine gives it away."""
    if level == BUBBLEWRAP:
        for name, bad, change in _SETTINGS:
            try:
                with open(f"/proc/sys/{name}", encoding="ascii") as file:
                    if file.read().strip() == bad:
                        return f"; user namespaces are off: 'sysctl {change}' as root turns them on"
            except OSError:
                continue
    return "; in a container, its seccomp profile or missing privileges may forbid it"


_SETTINGS = (
    ("kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
    ("user/max_user_namespaces", "0", "user.max_user_namespaces=10000"),
    ("kernel/apparmor_restrict_unprivileged_userns", "1", "kernel.apparmor_restrict_unprivileged_userns=0"),
)
