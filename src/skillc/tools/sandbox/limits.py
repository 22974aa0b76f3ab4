"""What one command may use: each limit a number, stated once."""

from __future__ import annotations

import resource

PROCESSES = 512  # at once; beyond it the run is ended
FILE = 4 << 30  # bytes in one file; beyond it writing fails and the process gets SIGXFSZ
MEMORY = 8 << 30  # bytes of private memory a process; beyond it allocating fails
FILES = 4096  # that a process has open; beyond it opening fails
TEMPORARY = 4 << 30  # bytes in bubblewrap's private /tmp and home; beyond it writing fails


def list_limits(*, processes: bool) -> list[tuple[int, int]]:
    """Return the limits as the kernel takes them, never above those that already apply.

    RLIMIT_NPROC counts all processes of a user, so it only helps in a user namespace of the
    command's own (`processes`), and does not bind root. RLIMIT_AS would stop Node, Go and Java,
    which reserve far more than they use; RLIMIT_DATA counts what can be written.
    """
    limits = [
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, FILE),
        (resource.RLIMIT_DATA, MEMORY),
        (resource.RLIMIT_NOFILE, FILES),
    ]
    if processes:
        limits.append((resource.RLIMIT_NPROC, PROCESSES))
    hard = {kind: resource.getrlimit(kind)[1] for kind, _ in limits}
    return [
        (kind, value if hard[kind] == resource.RLIM_INFINITY else min(value, hard[kind]))
        for kind, value in limits
    ]
