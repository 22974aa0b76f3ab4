"""The result of a check, and what all checks look at."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from skillc import paths
from skillc.text import one_line

OK, WARNING, ERROR = "ok", "warning", "error"


@dataclass(frozen=True, slots=True)
class Check:
    """A finding: `fix` is the command that mends it; `mend` does so itself where that is safe.

    `mend` returns what it did, and raises OSError or SkillcError.
    """

    name: str
    status: str
    message: str
    fix: str | None = None
    mend: Callable[[], str] | None = None

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "status": self.status, "message": self.message, "fix": self.fix}


@dataclass(frozen=True, slots=True)
class Place:
    """Where the examination is made: the working directory, and the homes of skc and of the user."""

    cwd: str
    home: str | None
    user_home: str | None

    @property
    def own(self) -> str | None:
        """The home's `.skillc`, which may not exist."""
        return os.path.join(self.home, paths.DIRECTORY) if self.home else None


def short(path: str) -> str:
    """Return a path for people: on one line, with `~` for the home."""
    home = paths.user_home()
    if home and home != os.sep and paths.is_inside(path, home):
        path = f"~{path[len(home) :]}"
    return one_line(path)
