"""Build again whenever a file changes.

Polls sizes and times twice a second instead of using the system's notifications: that works on every file
system, needs no dependency, and 2,000 files cost a hundredth of a core.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from skillc.errors import SkillcError, unexpected
from skillc.library import Skill
from skillc.skills import list_files

INTERVAL = 0.5

Stamps = frozenset[tuple[str, tuple[int, int, int]]]


def watch(find: Callable[[], list[Skill]], build: Callable[[Skill], int]) -> int:
    """Build the skills that `find` returns, and each again when its files changed and came to rest."""
    skills = find()
    print(f"Watching {len(skills)} skill{'' if len(skills) == 1 else 's'}; Ctrl-C ends", file=sys.stderr)
    builds: dict[str, Stamps] = {}
    last: dict[str, Stamps] = {}
    try:
        while True:
            for skill in skills:
                now = _stamps(skill)
                is_stable = last.get(skill.source) == now  # the same twice: the writer has finished
                if builds.get(skill.source) != now and (is_stable or skill.source not in builds):
                    builds[skill.source] = now
                    _build(skill, build)
                last[skill.source] = now
            time.sleep(INTERVAL)
            skills = _refresh(find, skills)
    except KeyboardInterrupt:
        return 0


def _refresh(find: Callable[[], list[Skill]], last: list[Skill]) -> list[Skill]:
    """Return the skills to watch now; where they can't be listed for a moment, the last ones."""
    try:
        return find()
    except (OSError, SkillcError):
        return last


def _build(skill: Skill, build: Callable[[Skill], int]) -> None:
    """Build a skill; an error is reported and the watch goes on."""
    try:
        build(skill)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except Exception as error:
        print(unexpected(error).text(), file=sys.stderr)


def _stamps(skill: Skill) -> Stamps:
    try:
        return frozenset((file.name, file.stamp) for file in list_files(skill.source))
    except (OSError, SkillcError):
        return frozenset()
