"""What a sandbox will allow a command, in words for whoever is asked to approve it."""

from __future__ import annotations

from skillc.tools.launch import Launch
from skillc.tools.sandbox.access import home_of, working_paths
from skillc.tools.sandbox.worktrees import repository


def permissions(launch: Launch) -> list[str]:
    """What the command will be able to do, a line each."""
    if launch.sandbox == "none":
        return [
            "no sandbox: it can do everything that you can",
            "read, change and delete any of your files",
            "use the network",
        ]
    return [
        f"sandbox: {launch.sandbox}",
        f"read: system programs, the skill's folder {launch.skill_dir}, {_where(launch)}",
        f"write: {'nothing' if launch.read_only else _where(launch)}, besides a private temporary directory",
        f"network: {'yes, any host' if launch.network else 'none'}",
        f"time: {launch.timeout:g} s",
    ]


def _where(launch: Launch) -> str:
    if working_paths(launch.cwd, home_of(launch)) == [launch.cwd]:
        git = repository(launch.cwd)
        return f"the working directory {launch.cwd}{f' and its repository {git}' if git else ''}"
    return f"what is not hidden (no leading dot) in {launch.cwd}"
