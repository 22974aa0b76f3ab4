"""Checks of the machine: versions, libraries, the sandbox, and whether agents find the command `skc`."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import suppress
from importlib import metadata

from skillc import __version__
from skillc.errors import install_command, required_libraries
from skillc.install.doctor.check import ERROR, OK, WARNING, Check, Place, short
from skillc.quotes import shell_quote
from skillc.startup import sqlite
from skillc.tools import describe_sandbox

SHELLS = ("bash", "dash", "fish", "ksh", "sh", "zsh")
SHELL_SECONDS = 5.0  # for the user's profile
MAX_PATH = 1 << 20  # bytes of what a shell prints
_PROFILES = {"zsh": "~/.zprofile", "bash": "~/.bash_profile", "fish": "~/.config/fish/config.fish"}
MINIMAL = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"  # what a desktop gives to what it starts


def check_versions(place: Place) -> Iterator[Check]:
    connection = sqlite.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5(a)")
        has_index = True
    except sqlite.Error:
        has_index = False
    finally:
        connection.close()
    text = f"skc {__version__}, Python {platform.python_version()}, SQLite {sqlite.sqlite_version}"
    if has_index:
        yield Check("versions", OK, f"{text} with FTS5")
    else:
        yield Check("versions", ERROR, f"{text} without FTS5, which builds need; use another Python")


def check_libraries(place: Place) -> Iterator[Check]:
    """Check that what every installation brings is there: an upgrade that was cut short leaves gaps."""
    missing = [name for name in required_libraries() if not _is_installed(name)]
    if missing:
        text = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed"
        yield Check("libraries", ERROR, text, install_command())
    yield Check("libraries", OK, "all are installed")


def _is_installed(name: str) -> bool:
    try:
        return bool(metadata.version(name))
    except metadata.PackageNotFoundError:
        return False


def check_sandbox(place: Place) -> Iterator[Check]:
    level, obstacles = describe_sandbox()
    reasons = "; ".join(obstacles)
    if level == "none":
        message = f"no sandbox works here, so tools of skills that are not trusted do not run: {reasons}"
        yield Check("sandbox", WARNING, message)
    else:
        yield Check("sandbox", OK, f"{level} ({reasons})" if reasons else level)


def check_path(place: Place) -> Iterator[Check]:
    """Look for `skc` where agents do: in the PATH of a login shell, and in that of desktop programs."""
    script = find_script()
    here = shutil.which("skc")
    login = read_login_path()
    program = shutil.which("skc", path=login) if login is not None else here
    fix = _link_command(script, login or os.environ.get("PATH", ""), place.user_home)
    if program is None and here is None:
        yield Check("path", ERROR, "agents that read a skill call 'skc', and it is not on the PATH", fix)
    elif program is None:
        text = f"'{short(here or '')}' is on the PATH here, but not in a login shell, as agents get it"
        yield Check("path", WARNING, text, fix)
    elif script and os.path.realpath(program) != os.path.realpath(script):
        text = f"agents call '{short(program)}', which is not this one, '{short(script)}'"
        yield Check("path", WARNING, text, fix)
    elif sys.platform == "darwin" and shutil.which("skc", path=MINIMAL) is None:
        text = f"'{short(program)}' is not on the PATH of programs that the desktop starts ({MINIMAL})"
        yield Check("path", WARNING, text, _link_command(script, MINIMAL, None))
    else:
        yield Check("path", OK, f"agents find '{short(program)}'")


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
    env = {name: os.environ[name] for name in names if name in os.environ} | {"PATH": MINIMAL}
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


def _link_command(script: str, path: str, home: str | None) -> str | None:
    """Return what puts `skc` on a PATH: a link in a directory of the user's that is on it, else a line."""
    if not script:
        return "uv tool install skillc"
    own = os.path.join(home, ".local", "bin") if home else "/usr/local/bin"
    sudo = "" if home else "sudo "
    link = f"{sudo}ln -sf {shell_quote(script)} {shell_quote(os.path.join(own, 'skc'))}"
    if own in path.split(os.pathsep):
        return f"mkdir -p {shell_quote(own)} && {link}" if home else link
    if not home:
        return link
    line = f'export PATH="{own}:$PATH"'
    profile = _PROFILES.get(os.path.basename(os.environ.get("SHELL", "")), "~/.profile")
    return f"mkdir -p {shell_quote(own)} && {link} && echo {shell_quote(line)} >> {profile}"
