"""No sandbox: the command as a process of the user, in a session of its own."""

from __future__ import annotations

import shutil

from skillc.errors import CannotRun
from skillc.tools.launch import Launch
from skillc.tools.sandbox.process import Started, spawn

TIE = "setpriv"  # of util-linux: starts a program that dies with the process that started it


class Tied(Started):
    """A command that setpriv became, or could not become."""

    def exit_code(self, output: str) -> int:
        code = super().exit_code(output)
        if code in (126, 127) and output.startswith(f"{TIE}: "):
            raise CannotRun(self.launch.argv[0], output.strip().rpartition(": ")[2])
        return code


def start(launch: Launch) -> Started:
    """Start the command, tied to this process where that can be done without running code in between."""
    tie = shutil.which(TIE, path="/usr/bin:/bin")
    if tie is None:
        return Started(launch, spawn(launch, launch.argv, dict(launch.env), cwd=launch.cwd))
    argv = [tie, "--pdeathsig", "KILL", "--", *launch.argv]
    return Tied(launch, spawn(launch, argv, dict(launch.env), cwd=launch.cwd))
