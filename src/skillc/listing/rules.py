"""How agents list skills: `agents.toml`, as measured with the real programs [SURFACES: What agents see]."""

from __future__ import annotations

import json
import os
import re
import shutil
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from itertools import islice

from skillc import paths
from skillc.compiler import agents_by_name
from skillc.errors import Diagnostic, warning
from skillc.toml import read_agents

CHARACTERS = 4  # of a token, by which agents count their budget
MAX_PACKAGE = 1 << 20  # bytes of a package.json
NUMBERS = re.compile(r"\d+(?:\.\d+)+")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rule:
    """How one agent lists skills. `agents.toml` says what each field means."""

    agent: str
    version: str
    measured: date
    program: str
    package: str
    user: tuple[str, ...]
    project: tuple[str, ...]
    first: str
    name: str
    line: str
    names: str = ""
    home: tuple[str, ...] = ()
    walk: bool = False
    share: float = 0
    setting: str = ""
    settings: tuple[str, ...] = ()
    variable: str = ""
    budget: int = 0
    overflow: str = ""
    counts: str = "characters"
    unit: int = 1
    longest: int = 0
    too_long: str = ""
    when: str = ""
    without: str = ""
    hidden_by: str = ""
    commands: str = ""
    plugins: tuple[str, ...] = ()
    own: Mapping[str, int] = field(default_factory=dict)

    def characters(self, window: int, share: float | None = None) -> int | None:
        """Return how many characters a listing may have; None for an agent that lists all.

        `share` is the part of the window that the user's settings give it.
        """
        if self.share:
            return int(window * (share or self.share)) * CHARACTERS
        return self.budget or None

    @property
    def free(self) -> str:
        """What costs nothing in a description: a line break takes no column."""
        return "\n" if self.counts == "columns" else ""

    def measure(self, text: str) -> int:
        """Return the size of a text as the agent counts it."""
        if self.counts == "bytes":
            return len(text.encode("utf-8", "replace"))
        if self.counts == "columns" and not text.isascii():
            return sum(map(_columns, text))
        return len(text)

    def user_folders(self) -> Iterator[str]:
        """Yield the folders in the user's home where it looks for skills."""
        return filter(None, map(self.place, self.user))

    def settings_files(self, cwd: str = "") -> Iterator[str]:
        """Yield the files of its settings: first those of the project in `cwd`, then the user's."""
        own, *others = self.settings or ("",)
        for name in others if cwd else ():
            yield os.path.join(cwd, name)
        if own and (path := self.place(own)):
            yield path

    def place(self, path: str) -> str:
        """Return where a path below the home is, unless a variable moves it; empty without a home."""
        home, (variable, own) = paths.user_home(), self.home or ("", "")
        moved = os.environ.get(variable, "") if variable else ""
        top, _, rest = path.partition("/")
        if moved and top == own:
            return os.path.join(os.path.abspath(moved), rest)
        return os.path.join(home, path) if home else ""

    def project_folders(self, cwd: str) -> Iterator[str]:
        """Yield the folders around the working directory where it looks for skills, the nearest first."""
        home = paths.user_home()
        directories = _walk_up(cwd) if self.walk else [cwd]
        for directory in directories:
            if directory != home:
                yield from (os.path.join(directory, folder) for folder in self.project)

    def is_installed(self) -> bool:
        """Return whether the agent is here: its program, or a folder of its own."""
        place = self.user.index(agents_by_name()[self.agent].user)
        own = next(islice(self.user_folders(), place, None), "")
        return shutil.which(self.program) is not None or bool(own and os.path.isdir(os.path.dirname(own)))


@cache
def read_rules() -> dict[str, Rule]:
    """Return the rules by the names of the agents. The table is part of the package and does not change."""
    return read_agents(os.path.join(os.path.dirname(__file__), "agents.toml"), Rule)


def find_version(rule: Rule) -> str | None:
    """Return the version of the agent that is here, from its files: it is not run."""
    program = shutil.which(rule.program)
    if program is None:
        return None
    path = os.path.realpath(program)
    if NUMBERS.fullmatch(os.path.basename(path)):  # as Claude Code's own installer keeps versions
        return os.path.basename(path)
    for _ in range(4):
        path = os.path.dirname(path)
        try:
            package = json.loads(paths.read_regular(os.path.join(path, "package.json"), MAX_PACKAGE))
        except (OSError, ValueError, RecursionError):
            continue
        if isinstance(package, dict) and package.get("name") == rule.package:
            return str(package.get("version"))[:100]
    return None


def check_version(rule: Rule, version: str | None) -> tuple[Diagnostic, ...]:
    """Return a warning where the agent that is here is newer than the one that was measured."""
    if version is None or _numbers(version) <= _numbers(rule.version):
        return ()
    return (warning("W100", rule.agent, rule.version, version),)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d{1,9}", version)[:4])


def _columns(character: str) -> int:
    if unicodedata.combining(character) or not character.isprintable():
        return int(character == "\n")
    return 1 + (unicodedata.east_asian_width(character) in "FW")


def _walk_up(cwd: str) -> list[str]:
    """Return the directories from `cwd` up to the root of its git repository; `cwd` alone without one."""
    directories = [cwd]
    while not os.path.lexists(os.path.join(directories[-1], ".git")):
        parent = os.path.dirname(directories[-1])
        if parent == directories[-1]:
            return [cwd]
        directories.append(parent)
    return directories
