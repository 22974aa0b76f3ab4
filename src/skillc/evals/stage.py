"""A place for one run of an agent: a home, a configuration and a working directory of its own.

All that differs between two arms is the skill. It is put there as skc deploys it, or as its folder, and
always without the cases that it is judged by.

    <stage>/                  HOME of the run
    <stage>/.claude/skills/   the skill, and the library beside it
    <stage>/work/             where the agent works
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import skillc
from skillc import paths
from skillc.errors import InvalidOption, SkillcError
from skillc.evals.agents import Runner
from skillc.setup import find_script
from skillc.skills import is_left_out, resolve_inside
from skillc.skills.cases import CASES_FOLDER, Case

WORK = "work"
_SHARED = "/var/tmp" if os.name == "posix" else os.environ.get("PROGRAMDATA", "C:\\")  # noqa: S108
_SECRETS = frozenset(("KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS"))
MAX_COPY = (
    50_000_000  # bytes of one skill of the library beside it; a larger one is listed, with its SKILL.md alone
)
BUILD_SECONDS = 120


@dataclass(frozen=True)
class Stage:
    """The folder of one run; `skills` is where the agent looks for skills."""

    root: str
    runner: Runner
    passed_on: Mapping[str, str]  # variables with credentials

    @property
    def work(self) -> str:
        return os.path.join(self.root, WORK)

    @property
    def skills(self) -> str:
        return os.path.join(self.root, self.runner.skills)

    @cached_property
    def env(self) -> dict[str, str]:
        """The whole environment of the run; nothing else of the user's is in it."""
        script = find_script()
        entries = [os.path.dirname(script)] if script else []
        entries += [entry for entry in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(entry)]
        own = (
            {self.runner.variable: os.path.join(self.root, self.runner.folder)}
            if self.runner.variable
            else {}
        )
        return {
            "HOME": self.root,
            "PATH": os.pathsep.join(dict.fromkeys(entries)),
            "LANG": "C.UTF-8",
            "USER": "user",
            "SHELL": "/bin/sh",
            "TERM": "dumb",
            **self.runner.environment,
            **self.passed_on,
            **own,
        }


def credentials_of(runner: Runner, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that an agent signs in with, and no others: it does what a skill tells it."""
    clouds = (starts for switch, starts in runner.clouds.items() if environ.get(switch))
    starts = (*runner.keys, *chain.from_iterable(clouds))
    return {name: value for name, value in environ.items() if name.startswith(starts)}


def is_secret(name: str) -> bool:
    """Return whether a variable of this name holds a secret."""
    words = name.upper().split("_")
    return (
        any(word in words for word in ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS"))
        or "APIKEY" in words
    )


def find_workspace(named: str, cwd: str) -> str:
    """Return the folder for runs and results, made if it is not there; raises InvalidOption.

    Codex refuses to work below the temporary directory, and Claude Code reads CLAUDE.md of all folders above.
    """
    default = os.path.join(_SHARED, f"skc-eval-{os.getuid() if hasattr(os, 'getuid') else 'user'}")
    if not named and os.path.islink(default):  # all users may write where it is
        raise _refuse(default, "is a link; remove it, or name another folder")
    path = os.path.realpath(os.path.join(cwd, os.path.expanduser(named) if named else default))
    home = paths.user_home()
    if home and paths.is_inside(path, os.path.realpath(home)):
        raise _refuse(path, "is below your home, whose CLAUDE.md agents would read; name another folder")
    if paths.is_inside(path, os.path.realpath(tempfile.gettempdir())):
        raise _refuse(path, "is temporary, and Codex refuses to work there; name another folder")
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        status = os.lstat(path)
    except OSError as error:
        raise _refuse(path, f"can't be made: {error.strerror}") from None
    if hasattr(os, "getuid") and status.st_uid != os.getuid():
        raise _refuse(path, "belongs to another user; name a folder of your own")
    if stat.S_IMODE(status.st_mode) & 0o077 and not named:
        os.chmod(path, 0o700)
    return path


def _refuse(path: str, reason: str) -> InvalidOption:
    return InvalidOption(f"--workspace '{path}' {reason}")


def make_stage(
    root: str,
    runner: Runner,
    *,
    skill: str,
    name: str,
    case: Case | None,
    case_source: str,
    library: Iterable[str],
    credentials: Iterable[str],
    raw: bool,
    passed_on: Mapping[str, str],
) -> Stage:
    """Make the place of one run; `skill` is the folder of the skill, or empty in the arm without it."""
    stage = Stage(root, runner, passed_on)
    os.makedirs(stage.work, mode=0o700)
    os.chmod(root, 0o700)
    folder = os.path.join(root, runner.folder)
    os.makedirs(stage.skills, exist_ok=True)
    for file, text in runner.files.items():
        _write_private(os.path.join(folder, file), text.encode())
    for file in credentials:
        with open(file, "rb") as source:
            _write_private(os.path.join(folder, os.path.basename(file)), source.read())
    for other in library:
        if os.path.basename(other) != name:
            copy_skill(other, os.path.join(stage.skills, os.path.basename(other)), MAX_COPY)
    if skill and raw:
        copy_skill(skill, os.path.join(stage.skills, name))
    elif skill:
        copy_skill(skill, os.path.join(root, paths.DIRECTORY, "skills", name))
        ask_skc(stage, "build", name, "--target", runner.target or stage.skills)
    for file in case.files if case else ():
        place = resolve_inside(case_source, file)
        target = os.path.join(stage.work, os.path.basename(place))
        if os.path.isdir(place):
            shutil.copytree(place, target, ignore=_leave_links_out(case_source), dirs_exist_ok=True)
        else:
            shutil.copy(place, target)
    return stage


def remove_credentials(stage: Stage, credentials: Iterable[str]) -> None:
    """Take the files with credentials out again, before anything of the run is kept."""
    for file in credentials:
        path = os.path.join(stage.root, stage.runner.folder, os.path.basename(file))
        if os.path.lexists(path):
            os.unlink(path)


def ask_skc(stage: Stage, *words: str) -> str:
    """Run skc in the home of a stage and return what it prints; raises SkillcError."""
    env = {**stage.env, "PYTHONPATH": os.path.dirname(os.path.dirname(skillc.__file__))}
    try:
        run = subprocess.run(  # noqa: S603 -- ourselves
            [sys.executable, "-m", "skillc", *words],
            cwd=stage.work,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=BUILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SkillcError(f"'skc {words[0]}' took more than {BUILD_SECONDS} s in '{stage.root}'") from None
    if run.returncode:
        lines = run.stderr.strip().splitlines() or [f"status {run.returncode}"]
        raise SkillcError(f"'skc {words[0]}' failed in '{stage.root}': {lines[-1]}")
    return run.stdout


def copy_skill(source: str, target: str, limit: int | None = None) -> None:
    """Copy a skill without its cases and what is never installed; links become what they lead to.

    One that is larger than the limit is copied as its SKILL.md and the files by which agents list it.
    """
    real = os.path.realpath(source)
    whole = limit is None or _is_smaller(real, limit)
    leave_links_out = _leave_links_out(real)

    def leave_out(directory: str, names: list[str]) -> list[str]:
        out = [name for name in names if is_left_out(name)] + leave_links_out(directory, names)
        if os.path.samefile(directory, real):
            kept = names if whole else [name for name in names if name.lower() in ("skill.md", "agents")]
            out += [name for name in names if name not in kept or name == CASES_FOLDER]
        return out

    shutil.copytree(real, target, ignore=leave_out, ignore_dangling_symlinks=True, dirs_exist_ok=True)


def _leave_links_out(root: str) -> Callable[[str, list[str]], list[str]]:
    """Return what `copytree` asks: links that leave a skill may lead to anything, and are left out."""
    real = os.path.realpath(root)

    def leave_out(directory: str, names: list[str]) -> list[str]:
        places = {name: os.path.realpath(os.path.join(directory, name)) for name in names}
        return [name for name, place in places.items() if not paths.is_inside(place, real)]

    return leave_out


def _is_smaller(folder: str, limit: int) -> bool:
    size = 0
    for directory, _, names in os.walk(folder):
        for name in names:
            try:
                size += os.lstat(os.path.join(directory, name)).st_size
            except OSError:
                continue
            if size > limit:
                return False
    return True


def _write_private(path: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(data)
