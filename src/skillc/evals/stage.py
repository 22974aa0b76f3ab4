"""A place for one run of an agent: a home, a configuration and a working directory of its own.

All that differs between two arms is the skill. It is put there as skc deploys it, or as its folder, and
always without the cases that it is judged by.

    <stage>/                  HOME of the run
    <stage>/.claude/skills/   the skill, and the library beside it
    <stage>/work/             where the agent works
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import skillc
from skillc import atomic, paths, tools as sandbox
from skillc.errors import SkillcError
from skillc.evals.agents import Runner
from skillc.evals.places import remove_place
from skillc.library import Skill
from skillc.listing import read_rules
from skillc.paths import CASES_FOLDER
from skillc.setup import find_script
from skillc.skills import SourceFile, list_tree, resolve_inside
from skillc.skills.cases import Case

MAX_COPY = 50_000_000  # bytes of a skill of the library beside it; of a larger one, its SKILL.md is there
BUILD_SECONDS = 120.0
MAX_ANSWER = 8 << 20  # bytes that skc prints
OWN_CODE = os.path.dirname(os.path.dirname(os.path.abspath(skillc.__file__)))  # which `skc show` needs, too

_PLAIN = {"LANG": "C.UTF-8", "USER": "user", "SHELL": "/bin/sh", "TERM": "dumb"}


def is_home_hidden() -> bool:
    """Return whether runs can't see the user's home on this machine."""
    return sandbox.describe_sandbox()[0] == sandbox.BUBBLEWRAP


class Stage:
    """The folder of one run: its home, where it works, the agent's own folder, and that for skills."""

    def __init__(self, root: str, shared: Stages) -> None:
        self.root, self.runner, self.credentials = root, shared.runner, shared.credentials
        self.work = os.path.join(root, "work")
        self.folder = os.path.normpath(os.path.join(root, self.runner.folder))
        self.skills = os.path.join(root, self.runner.skills)
        entries = [os.path.dirname(find_script()), *os.environ.get("PATH", "").split(os.pathsep)]
        own = {self.runner.variable: self.folder} if self.runner.variable else {}
        home = {"HOME": root, "PATH": os.pathsep.join(filter(os.path.isabs, dict.fromkeys(entries)))}
        # The whole environment of the run; nothing else of the user's is in it.
        self.env = {**home, **_PLAIN, **self.runner.environment, **shared.passed_on, **own}

    def is_intact(self) -> bool:
        """Return whether its folders are no links, which may lead to the user's home."""
        return all(os.path.realpath(path) == path for path in (self.work, self.folder))

    def remove_credentials(self) -> None:
        """Take the files with credentials out again, before anything of the run is kept."""
        for file in self.credentials if self.is_intact() else ():
            atomic.discard(os.path.join(self.folder, os.path.basename(file)))

    def launch(
        self, argv: tuple[str, ...], timeout: float, *, network: bool = True, reads: tuple[str, ...] = ()
    ) -> sandbox.Launch:
        """Return how a program is run here: without the user's home, where that can be hidden.

        What stubs call needs our Python, which version managers keep below the home.
        """
        home = os.path.realpath(paths.user_home() or os.devnull)
        own = [path for path in (sys.prefix, sys.base_prefix) if not paths.is_inside(home, path)]
        return sandbox.Launch(
            argv=argv,
            cwd=self.work,
            env=self.env,
            skill_dir=OWN_CODE,
            timeout=timeout,
            network=network,
            read_only=False,
            sandbox=sandbox.BUBBLEWRAP if is_home_hidden() else sandbox.NONE,
            owns_home=True,
            reads=(*own, *reads),
        )


@dataclass(frozen=True, slots=True)
class Stages:
    """What all runs of a skill with an agent share."""

    place: str
    runner: Runner
    skill: Skill
    library: Sequence[str]  # folders of the skills beside it
    credentials: Sequence[str]  # files
    passed_on: Mapping[str, str]
    raw: bool

    @contextmanager
    def open(self, skill: str, case: Case | None = None) -> Iterator[Stage]:
        """Make the place of one run, which is gone afterwards; `skill` is empty in the arm without it."""
        stage = Stage(os.path.join(self.place, os.urandom(6).hex()), self)
        try:
            self._furnish(stage, skill, case)
            yield stage
        finally:
            remove_place(stage.root)

    def _furnish(self, stage: Stage, skill: str, case: Case | None) -> None:
        os.mkdir(stage.root, mode=0o700)
        os.mkdir(stage.work, mode=0o700)
        os.makedirs(stage.skills)
        for file, text in self.runner.files.items():
            atomic.write(os.path.join(stage.folder, file), text.encode(), private=True)
        for file in self.credentials:
            with open(file, "rb") as source:
                atomic.write(os.path.join(stage.folder, os.path.basename(file)), source.read(), private=True)
        for other in self.library:
            if os.path.basename(other) != self.skill.name:
                with suppress(OSError, SkillcError):  # one that can't be read is none for the agent either
                    copy_skill(other, os.path.join(stage.skills, os.path.basename(other)), MAX_COPY)
        if skill and self.raw:
            copy_skill(skill, os.path.join(stage.skills, self.skill.name))
        elif skill:
            copy_skill(skill, os.path.join(stage.root, paths.DIRECTORY, "skills", self.skill.name))
            ask_skc(stage, "build", self.skill.name, "--target", self.runner.target or stage.skills)
        for file in case.files if case else ():
            place = resolve_inside(self.skill.source, file)
            target = os.path.join(stage.work, os.path.basename(place))
            if os.path.isdir(place):
                _copy_files(list_tree(place, hidden=True, strict=False)[0], target)
            else:
                shutil.copy(place, target)


def ask_skc(stage: Stage, *words: str) -> Any:
    """Run skc in the home of a stage and return its JSON; raises SkillcError.

    In the sandbox: an agent may have left code there that Python loads, or settings that name a command.
    """
    argv = (sys.executable, "-sP", "-m", "skillc", *words, "--format", "json")
    launch = stage.launch(argv, BUILD_SECONDS, network=False)
    launch = replace(launch, env={**launch.env, "PYTHONPATH": OWN_CODE})
    end = sandbox.run_program(launch, keep=MAX_ANSWER)
    if end.reason or end.code or end.output.stdout is None:
        lines = end.output.text().strip().splitlines() or [f"status {end.code}"]
        raise SkillcError(f"'skc {words[0]}' failed in '{stage.root}': {end.reason or lines[-1]}")
    try:
        return json.loads(end.output.stdout)
    except ValueError as error:
        raise SkillcError(f"'skc {words[0]}' printed no JSON in '{stage.root}': {error}") from None


def copy_skill(source: str, target: str, limit: int | None = None) -> None:
    """Copy a skill without its cases and what is never installed.

    Links become what they lead to, and those that leave the skill may lead to anything: they are left out. A
    skill that is larger than the limit is copied as its SKILL.md and the files by which agents list it.
    """
    files = list_tree(source, hidden=True, strict=False)[0]
    if limit is not None and sum(file.size for file in files) > limit:
        files = [file for file in files if file.name.lower().startswith(("skill.md", "agents/"))]
    _copy_files((file for file in files if not file.name.startswith(f"{CASES_FOLDER}/")), target)


def _copy_files(files: Iterable[SourceFile], target: str) -> None:
    os.makedirs(target, exist_ok=True)
    for file in files:
        place = os.path.join(target, file.name)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.copy(file.path, place)


def find_library(runner: Runner) -> list[str]:
    """Return the folders of the other skills that the user's agent has; the first of a name counts."""
    rule = read_rules().get(runner.target)
    found: dict[str, str] = {}
    for top in rule.user_folders() if rule else ():
        for name in paths.list_names(top):
            if os.path.isfile(os.path.join(top, name, paths.SKILL_FILE)):
                found.setdefault(name, os.path.join(top, name))
    return list(found.values())
