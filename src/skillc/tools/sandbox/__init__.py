"""What a command is kept from: bubblewrap where it works, else Landlock with seccomp, else nothing [D45].

docs/sandbox.md has the table of what each level stops; the tests try every cell of it.
"""

from __future__ import annotations

from skillc.tools.sandbox.access import permissions
from skillc.tools.sandbox.levels import BUBBLEWRAP, LANDLOCK, LEVELS, NONE, choose, explain, start
from skillc.tools.sandbox.limits import PROCESSES
from skillc.tools.sandbox.process import PATIENCE, Launch, Process

__all__ = [
    "BUBBLEWRAP",
    "LANDLOCK",
    "LEVELS",
    "NONE",
    "PATIENCE",
    "PROCESSES",
    "Launch",
    "Process",
    "choose",
    "explain",
    "permissions",
    "start",
]
