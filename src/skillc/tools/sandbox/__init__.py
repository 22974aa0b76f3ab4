"""The sandbox of a command: bubblewrap where it works, else Landlock with seccomp, else none [D45].

docs/sandbox.md has the table of what each level stops; the tests try every cell of it.
"""

from __future__ import annotations

from skillc.tools.sandbox.access import permissions as permissions
from skillc.tools.sandbox.levels import (
    BUBBLEWRAP as BUBBLEWRAP,
    LANDLOCK as LANDLOCK,
    LEVELS as LEVELS,
    NONE as NONE,
    choose as choose,
    describe_sandbox as describe_sandbox,
    explain as explain,
    start as start,
)
from skillc.tools.sandbox.process import (
    PATIENCE as PATIENCE,
    PROCESSES as PROCESSES,
    Launch as Launch,
    Process as Process,
)
