"""The surroundings of a command: its program, its directory, its environment."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Mapping, Sequence

from skillc.errors import CannotRun
from skillc.paths import is_inside, user_home
from skillc.skills import is_left_out

ALLOWED = ("PATH", "HOME", "USER", "LANG", "LC_*", "TERM")
# The specification's list, and other names of secrets. It also applies to what is allowed, where it
# can only meet LC_*: nothing else is inherited at all.
BLOCKED = (
    *("*_TOKEN", "*_KEY", "*_SECRET", "AWS_*", "OPENAI_*", "ANTHROPIC_*"),
    *("*TOKEN*", "*SECRET*", "*PASSW*", "*CREDENTIAL*", "*APIKEY*", "*AUTH*"),
)
PATH = "/usr/local/bin:/usr/bin:/bin"  # where the caller has none
SHEBANG_BYTES = 256  # bytes of a #! line that the kernel reads
MAGIC = (  # how compiled programs begin
    *(b"\x7fELF" + bytes((size, order, 1)) for size in (1, 2) for order in (1, 2)),
    *(b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"MZ"),  # on macOS and Windows
)
# No folder can be there: approvals do not cover compiled Python, so none is read or written [D64].
NO_PYCACHE = os.path.join(os.devnull, "pycache")
CHAIN = 4  # scripts whose interpreter is a script, as deep as the kernel follows them


def build_environment(
    skill_name: str, skill_dir: str, mode: str, parent: Mapping[str, str]
) -> dict[str, str]:
    """Return the command's environment: the allowed variables of `parent`, and the skill's own [D42].

    >>> build_environment("pdf", "/s/pdf", "Dev", {"LC_ALL": "C", "LC_TOKEN": "x", "EDITOR": "vi"})["LC_ALL"]
    'C'
    """

    def matches(name: str, patterns: Sequence[str]) -> bool:
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)

    names = [name for name in parent if matches(name, ALLOWED) and not matches(name.upper(), BLOCKED)]
    env = {name: parent[name] for name in names}
    # A relative entry would mean another program in every directory.
    entries = [entry for entry in env.get("PATH", "").split(os.pathsep) if os.path.isabs(entry)]
    env["PATH"] = os.pathsep.join(entries) or PATH
    for prefix in ("SKILLC", "GIBBERISH"):
        env |= {f"{prefix}_SKILL_NAME": skill_name, f"{prefix}_SKILL_DIR": skill_dir, f"{prefix}_MODE": mode}
    return env | {"PYTHONPYCACHEPREFIX": NO_PYCACHE}


def find_working_directory(cwd: str, program: str) -> str:
    """Return where to run a program: the root of the git repository that `cwd` is in, else the home [D42]."""
    directory = os.path.realpath(cwd)
    while not _is_repository(directory):
        directory, below = os.path.dirname(directory), directory
        if directory == below:
            home = user_home()
            if home is None or not os.path.isdir(home):
                reason = "there is no home directory to run in; set HOME, or run in a git repository"
                raise CannotRun(program, reason)
            return os.path.realpath(home)
    return directory


def _is_repository(directory: str) -> bool:
    """Return whether git would accept the `.git` here: a directory with HEAD, or a pointer to one."""
    git = os.path.join(directory, ".git")
    if os.path.isfile(git):
        return read_bytes(git, 8) == b"gitdir: "
    return os.path.lexists(os.path.join(git, "HEAD"))


def read_bytes(path: str, size: int = -1) -> bytes:
    """Return the first bytes of a file, or all; none if it can't be read."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read(size)
    except OSError:
        return b""


def find_program(name: str, skill_dir: str, path: str) -> str:
    """Return the file to start [D41].

    With a `/` it is a file of the skill, links resolved. Without, it is the first on `path`, under the
    name it has there: programs with many names look at it, and so do virtual environments.
    """
    if not name or "\0" in name:
        raise CannotRun(name, "not a program's name")
    program = _find_in_skill(name, skill_dir) if "/" in name else find_on_path(name, path)
    if program is None:
        raise CannotRun(name, "not found in PATH")
    if reason := why_not_startable(program):
        raise CannotRun(name, reason)
    return program


def _find_in_skill(name: str, skill_dir: str) -> str:
    root = os.path.realpath(skill_dir)
    program = os.path.realpath(os.path.join(root, name))
    if program == root or not is_inside(program, root):
        raise CannotRun(name, "it is outside of the skill")
    if any(map(is_left_out, os.path.relpath(program, root).split(os.sep))):
        raise CannotRun(name, "it is in a folder that approvals do not cover")
    if not os.path.lexists(program):
        raise CannotRun(name, "no such file in the skill")
    if not os.path.isfile(program):
        raise CannotRun(name, "not a file")
    if not os.access(program, os.X_OK):
        raise CannotRun(name, "not executable; run 'chmod +x' on it")
    return program


def find_on_path(name: str, path: str) -> str | None:
    """Return where a program of that plain name is, in the absolute entries of `path` alone [D41]."""
    if "/" in name:
        return None
    candidates = (os.path.join(entry, name) for entry in path.split(os.pathsep) if os.path.isabs(entry))
    return next((file for file in candidates if os.path.isfile(file) and os.access(file, os.X_OK)), None)


def why_not_startable(program: str) -> str | None:
    """Return why the kernel would not start a file; None if it would.

    `execvp`, by which other programs start ours, hands what the kernel refuses to a shell, so such a
    file has to be refused before: nothing is ever run by a shell here.
    """
    try:
        with open(program, "rb", buffering=0) as file:
            start = file.read(SHEBANG_BYTES)
    except FileNotFoundError:
        return "no such file"
    except OSError as error:
        # A program may be executable and not readable. Then it is no script, and no shell gets it.
        return None if os.access(program, os.X_OK) else str(error.strerror)
    if not start.startswith((b"#!", *MAGIC)):
        return "not a program; a script needs a first line such as '#!/bin/sh'"
    words = _shebang_words(start)
    if words and not os.path.exists(words[0]):
        return f"its interpreter '{words[0]}' does not exist"
    return None


def _shebang_words(start: bytes) -> list[str]:
    """Return the words of a script's #! line: the interpreter and its argument; none for anything else."""
    if not start.startswith(b"#!"):
        return []
    line = start[2:].split(b"\n", 1)[0].strip(b" \t")
    return [os.fsdecode(word) for word in line.split(None, 1)]


def list_programs(program: str, path: str, is_trusted: Callable[[str], bool]) -> list[str]:
    """Return `program` and the programs that start it: its interpreter, what `env` finds for it in `path`.

    A script that is not trusted may name any path in its first line, so it only adds what is on `path`,
    by its plain name, or what is not trusted either.
    """
    programs = [program]
    for _ in range(CHAIN):
        words = _shebang_words(read_bytes(program, SHEBANG_BYTES))
        if words and os.path.basename(words[0]) == "env":
            words = words[1].removeprefix("-S").split() if len(words) > 1 else []
        if not words:
            break
        name = words[0]
        if "/" not in name:
            program = find_on_path(name, path) or ""
        elif os.path.isabs(name) and (is_trusted(program) or not is_trusted(os.path.normpath(name))):
            program = os.path.normpath(name)
        else:
            break
        programs += [program] if program else []
    return programs
