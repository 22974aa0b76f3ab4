"""The sandbox of a command: bubblewrap where it works, else Landlock with seccomp, else none [D45].

docs/sandbox-attempts.md has the table of what each level stops; the tests try every cell of it.
"""

from __future__ import annotations

from skillc.tools.sandbox.access import permissions
from skillc.tools.sandbox.levels import (
    BUBBLEWRAP,
    LANDLOCK,
    LEVELS,
    NONE,
    choose,
    describe_sandbox,
    explain,
    start,
)
from skillc.tools.sandbox.process import PATIENCE, PROCESSES, Launch, Process
