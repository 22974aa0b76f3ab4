"""Where a command runs and what it is told: its program, its directory, its environment."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Mapping

from skillc.errors import CannotRun, PathEscapes, SkillcError
from skillc.paths import user_home
from skillc.tools.shebang import on_path, refusal

ALLOWED = ("PATH", "HOME", "USER", "LANG", "LC_*", "TERM")
# The specification's list, and what else is called a secret. It counts even for what is allowed,
# where it can only meet LC_*: nothing else is inherited at all.
BLOCKED = (
    *("*_TOKEN", "*_KEY", "*_SECRET", "AWS_*", "OPENAI_*", "ANTHROPIC_*"),
    *("*TOKEN*", "*SECRET*", "*PASSW*", "*CREDENTIAL*", "*APIKEY*", "*AUTH*"),
)
PATH = "/usr/local/bin:/usr/bin:/bin"  # where the caller has none


def environment(skill_name: str, skill_dir: str, mode: str, parent: Mapping[str, str]) -> dict[str, str]:
    """What the command finds in its environment: the allowed of `parent`, and who it runs for [D42].

    >>> environment("pdf", "/s/pdf", "Dev", {"LC_ALL": "C", "LC_TOKEN": "x", "EDITOR": "vi"})["LC_ALL"]
    'C'
    """
    found = {name: value for name, value in parent.items() if inherited(name)}
    found["PATH"] = absolute_path(found.get("PATH", ""))
    for prefix in ("SKILLC", "GIBBERISH"):
        found |= {
            f"{prefix}_SKILL_NAME": skill_name,
            f"{prefix}_SKILL_DIR": skill_dir,
            f"{prefix}_MODE": mode,
        }
    return found


def inherited(name: str) -> bool:
    """Whether a variable of the caller reaches the command."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in ALLOWED) and not any(
        fnmatch.fnmatchcase(name.upper(), pattern) for pattern in BLOCKED
    )


def absolute_path(path: str) -> str:
    """`path` without the entries that would mean another program in every directory."""
    kept = [entry for entry in path.split(os.pathsep) if os.path.isabs(entry)]
    return os.pathsep.join(kept) or PATH


def working_directory(cwd: str) -> str:
    """The root of the git repository that `cwd` is in, else the home directory [D42]."""
    directory = os.path.realpath(cwd)
    while not _is_repository(directory):
        parent = os.path.dirname(directory)
        if parent == directory:
            return _home()
        directory = parent
    return directory


def _is_repository(directory: str) -> bool:
    """Whether a directory has a `.git` that git would take: a directory with HEAD, or a pointer to one."""
    git = os.path.join(directory, ".git")
    if os.path.isfile(git):
        try:
            with open(git, "rb") as file:
                return file.read(8) == b"gitdir: "
        except OSError:
            return False
    return os.path.lexists(os.path.join(git, "HEAD"))


def _home() -> str:
    home = user_home()
    if home is None or not os.path.isdir(home):
        raise SkillcError("there is no home directory to run in; set HOME, or run in a git repository")
    return os.path.realpath(home)


def find_program(program: str, skill_dir: str, path: str) -> str:
    """The file to start [D41].

    With a `/` it is a file of the skill, links resolved. Without, it is what `path` has first, under
    the name it has there: programs with many names look at it, and so do virtual environments.
    """
    if not program or "\0" in program:
        raise CannotRun(program, "not a program's name")
    found = _of_skill(program, skill_dir) if "/" in program else on_path(program, path)
    if found is None:
        raise CannotRun(program, "not found in PATH")
    if reason := refusal(found):
        raise CannotRun(program, reason)
    return found


def _of_skill(program: str, skill_dir: str) -> str:
    root = os.path.realpath(skill_dir)
    found = os.path.realpath(os.path.join(root, program))
    if not found.startswith(os.path.join(root, "")):
        raise PathEscapes(program)
    if not os.path.lexists(found):
        raise CannotRun(program, "no such file in the skill")
    if not os.path.isfile(found):
        raise CannotRun(program, "not a file")
    if not os.access(found, os.X_OK):
        raise CannotRun(program, "not executable; run 'chmod +x' on it")
    return found
