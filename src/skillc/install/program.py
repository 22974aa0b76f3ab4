"""The program `skc`: where it is, and whether agents find it on the PATH that they have."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
from contextlib import suppress

SHELLS = ("bash", "dash", "fish", "ksh", "sh", "zsh")
SHELL_SECONDS = 5.0  # for the user's profile
MAX_PATH = 1 << 20  # bytes of what a shell prints
MINIMAL_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"  # what a desktop gives to what it starts


def find_script() -> str:
    """Return the `skc` of this installation; empty where there is none."""
    folders = (os.path.dirname(sys.executable), sysconfig.get_path("scripts"), os.path.dirname(sys.argv[0]))
    places = (os.path.join(os.path.abspath(folder), "skc") for folder in folders)
    return next((place for place in places if os.path.isfile(place) and os.access(place, os.X_OK)), "")


def read_login_path() -> str | None:
    """Return the PATH that the user's shell sets up at login; None where that can't be told in time."""
    shell = os.environ.get("SHELL", "")
    if os.name != "posix" or os.path.basename(shell) not in SHELLS or not os.path.isabs(shell):
        return None
    names = ("HOME", "USER", "LOGNAME", "SHELL", "LANG", "ZDOTDIR", "XDG_CONFIG_HOME")
    env = {name: os.environ[name] for name in names if name in os.environ} | {"PATH": MINIMAL_PATH}
    command = [shell, "-l", "-c", 'printf "\\n%s" "$PATH"']
    try:
        process = subprocess.Popen(  # noqa: S603 -- the user's own shell
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            cwd="/",
            start_new_session=True,
        )
    except OSError:
        return None
    try:
        output = process.communicate(timeout=SHELL_SECONDS)[0]
    except subprocess.TimeoutExpired:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=1)
        return None
    text = output[-MAX_PATH:].decode("utf-8", "surrogateescape").rpartition("\n")[2]
    return text if process.returncode == 0 and text.startswith("/") else None
