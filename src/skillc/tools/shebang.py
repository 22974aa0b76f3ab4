"""The first line of a script: which program the kernel starts for it."""

from __future__ import annotations

import os

LINE = 256  # bytes of a #! line that the kernel reads
PROGRAMS = (  # how compiled programs begin
    *(b"\x7fELF" + bytes((size, order, 1)) for size in (1, 2) for order in (1, 2)),
    *(b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ"),  # on macOS and Windows
)
CHAIN = 4  # scripts whose interpreter is a script, as deep as the kernel follows them


def interpreter(path: str) -> list[str]:
    """The words of a script's #! line: the interpreter and its argument; none for anything else."""
    try:
        with open(path, "rb", buffering=0) as file:
            first = file.read(LINE)
    except OSError:
        return []
    if not first.startswith(b"#!"):
        return []
    line = first[2:].split(b"\n", 1)[0].strip(b" \t")
    return [os.fsdecode(word) for word in line.split(None, 1)]


def refusal(path: str) -> str | None:
    """Why the kernel would not start a file; None if it would.

    It has to be known before: `execvp`, by which other programs start ours, hands what the kernel
    refuses to a shell, and nothing is ever run by a shell here.
    """
    try:
        with open(path, "rb", buffering=0) as file:
            first = file.read(8)
    except FileNotFoundError:
        return "no such file"
    except OSError as error:
        # A program may be executable and not readable; it is no script then, and has no shell to fear.
        return None if os.access(path, os.X_OK) else str(error.strerror)
    if not first.startswith((b"#!", *PROGRAMS)):
        return "not a program; a script needs a first line such as '#!/bin/sh'"
    words = interpreter(path)
    if words and not os.path.exists(words[0]):
        return f"its interpreter '{words[0]}' does not exist"
    return None


def chain(program: str, path: str, *, believed: bool) -> list[str]:
    """`program` and the programs that start it: its interpreter, what `env` finds for it in `path`.

    A script that is not `believed` can only name what is on `path`; itself and others are left out.
    """
    found = [program] if believed else []
    for _ in range(CHAIN):
        words = interpreter(program)
        if not words:
            break
        program = words[0]
        if os.path.basename(program) == "env" and len(words) > 1:
            named = words[1].removeprefix("-S").split()
            program = (on_path(named[0], path) or "") if named else ""
            believed = True
        if not program or not believed:
            break
        found.append(program)
    return found


def on_path(name: str, path: str) -> str | None:
    """Where a program of that name is, in the absolute entries of `path` alone [D41]."""
    for directory in path.split(os.pathsep):
        if os.path.isabs(directory):
            candidate = os.path.join(directory, name)
            if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
                return candidate
    return None
