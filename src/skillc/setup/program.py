"""The program `skc`: where it is, whether agents find it on the PATH that they have, and a link there."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from contextlib import suppress
from dataclasses import dataclass

from skillc import paths
from skillc.errors import SkillcError

SHELLS = ("bash", "dash", "fish", "ksh", "sh", "zsh")
SHELL_SECONDS = 5.0  # for the user's profile
MAX_PATH = 1 << 20  # bytes of what a shell prints
PATH_LINE = 'export PATH="$HOME/.local/bin:$PATH"'


@dataclass(frozen=True, slots=True)
class Link:
    """A link to `skc` that is to be made, or to go, at `path`; `line` is one for the shell's profile."""

    path: str = ""
    target: str = ""
    line: str = ""


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
    env = {name: os.environ[name] for name in names if name in os.environ} | {"PATH": paths.MINIMAL_PATH}
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


def own_link() -> str:
    """Return where the link to `skc` is that setup makes."""
    home = paths.user_home()
    return os.path.join(home, ".local", "bin", "skc") if home else ""


def find_program(link: Link) -> str:
    """Return the path of `skc` by which hooks start it: our link, which stays when skc is updated."""
    script, own = find_script(), own_link()
    if not script or any(part.startswith("archive-v") for part in script.split(os.sep)):
        text = "skc is not installed: it runs from a cache, or has no program"
        raise SkillcError(text, "hint: 'uv tool install skillc' or 'pipx install skillc' installs it")
    return own if link.path or (own and os.path.realpath(own) == os.path.realpath(script)) else script


def plan_link() -> Link:
    """Return the link by which a login shell finds this `skc`; an empty one where it finds one already."""
    script, own, login = find_script(), own_link(), read_login_path()
    path = login if login is not None else os.environ.get("PATH", "")
    if not script or not own or os.name == "nt" or shutil.which("skc", path=path):
        return Link()
    line = "" if os.path.dirname(own) in path.split(os.pathsep) else PATH_LINE
    return Link(line=line) if os.path.lexists(own) else Link(own, script, line)


def plan_unlink(target: str | None) -> Link:
    """Return the link that setup made to a target, if it is as it was made."""
    path = own_link()
    is_ours = target and os.path.islink(path) and os.readlink(path) == target
    return Link(path, target or "") if is_ours else Link()
