"""The check of skills-lock.json: do the stores hold what it says?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial

from skillc import paths
from skillc.errors import InvalidConfiguration
from skillc.install.doctor.check import ERROR, OK, WARNING, Check, Place, short
from skillc.install.lock import DAMAGED, accept_entry, find_root, is_home, lock_file
from skillc.install.verify import ABSENT, DIFFERENT, INCOMPLETE, check_lock
from skillc.text import count_of

FIXES = {ABSENT: "skc install", INCOMPLETE: "skc install", DIFFERENT: "skc verify"}


def check_locks(place: Place) -> Iterator[Check]:
    """Compare the stores of the project and of the home with their locks."""
    locks = [root for root in _roots(place) if os.path.lexists(lock_file(root))]
    for root in locks:
        try:
            problems = check_lock(root)
        except InvalidConfiguration as error:
            yield Check("lock", ERROR, error.message)
            continue
        for problem in problems:
            text = f"'{problem.id}' and '{short(lock_file(root))}' disagree: {problem.problem}"
            if problem.problem == DAMAGED:
                yield Check("lock", ERROR, text, "skc doctor --fix", partial(accept_entry, root, problem.id))
                continue
            fix = FIXES.get(problem.problem, "skc lock --check")
            yield Check("lock", WARNING, text, f"{fix}{' --global' if is_home(root) else ''}")
    number = count_of(len(locks), "lock")
    yield Check("lock", OK, f"{number} as installed" if locks else "there is no skills-lock.json")


def _roots(place: Place) -> list[str]:
    """Return the project whose lock counts here, if there is one, and the home."""
    has_any = place.home is not None or next(paths.project_roots(place.cwd), None) is not None
    roots = [find_root(place.cwd)] if has_any else []
    roots += [place.home] if place.home else []
    return list({os.path.realpath(root): root for root in roots}.values())
