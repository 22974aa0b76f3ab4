"""Build again whenever a file changes.

Looks at size and times twice a second, as the compiler does, rather than asking the system to
be told: that works on every file system, needs nothing installed, and 2,000 files cost a
hundredth of a core.
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
    """Build what `find` gives, and each skill again when its files have changed and come to rest."""
    skills = find()
    print(f"Watching {len(skills)} skill{'' if len(skills) == 1 else 's'}; Ctrl-C ends", file=sys.stderr)
    built: dict[str, Stamps] = {}
    last: dict[str, Stamps] = {}
    try:
        while True:
            for skill in skills:
                now = _stamps(skill)
                settled = last.get(skill.source) == now  # the same twice: whoever writes has finished
                if built.get(skill.source) != now and (settled or skill.source not in built):
                    built[skill.source] = now
                    _build(skill, build)
                last[skill.source] = now
            time.sleep(INTERVAL)
            skills = _found(find, skills)
    except KeyboardInterrupt:
        return 0


def _found(find: Callable[[], list[Skill]], last: list[Skill]) -> list[Skill]:
    """What there is to watch now: new skills come along, one that is gone for a moment stays."""
    try:
        return find()
    except (OSError, SkillcError):
        return last


def _build(skill: Skill, build: Callable[[Skill], int]) -> None:
    """An error is reported and the watch goes on."""
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
