"""What one command may use up, as numbers, stated once."""

from __future__ import annotations

import resource

PROCESSES = 512  # at once; beyond it the run is ended
FILE = 4 << 30  # bytes in one file; beyond it writing fails and the process gets SIGXFSZ
MEMORY = 8 << 30  # bytes of private memory a process; beyond it allocating fails
FILES = 4096  # that a process has open; beyond it opening fails
TEMPORARY = 4 << 30  # bytes in bubblewrap's private /tmp and home; beyond it writing fails


def limits(*, processes: bool) -> list[tuple[int, int]]:
    """The limits as the kernel knows them, never above those that hold already.

    RLIMIT_NPROC counts all processes of a user, so it only says something in a user namespace of
    the command's own (`processes`), and nothing about root. RLIMIT_AS would stop Node, Go and Java,
    which reserve far more than they use; RLIMIT_DATA counts what can be written.
    """
    wanted = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, FILE),
        (resource.RLIMIT_DATA, MEMORY),
        (resource.RLIMIT_NOFILE, FILES),
    ]
    if processes:
        wanted.append((resource.RLIMIT_NPROC, PROCESSES))
    return [(kind, _at_most(kind, value)) for kind, value in wanted]


def _at_most(kind: int, value: int) -> int:
    hard = resource.getrlimit(kind)[1]
    return value if hard == resource.RLIM_INFINITY else min(value, hard)
