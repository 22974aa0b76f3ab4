"""Get an old version of a skill, to compare the new one with."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from skillc import paths
from skillc.errors import InvalidOption
from skillc.install.download import open_download
from skillc.install.lock import find_root, read_lock
from skillc.install.origin import parse_origin
from skillc.library import Skill


@contextmanager
def fetch_old(skill: Skill, ref: str, cwd: str) -> Iterator[str]:
    """Give the folder of an old version: a folder that is named, a version of its origin, or a commit.

    Without `ref` it is what git has committed of the folder. Raises InvalidOption and OriginNotFound.
    """
    if ref and os.path.isfile(os.path.join(cwd, os.path.expanduser(ref), paths.SKILL_FILE)):
        yield os.path.join(cwd, os.path.expanduser(ref))
        return
    source = _find_origin(skill, ref, cwd)
    with open_download(parse_origin(source, cwd)) as download:
        found = [each for each in download.candidates if each.name == skill.name] or [*download.candidates]
        if len(found) != 1:
            raise InvalidOption(f"'{source}' has no skill '{skill.name}'; name a folder with --old")
        yield found[0].folder


def _find_origin(skill: Skill, ref: str, cwd: str) -> str:
    """Return where the old version is to be had, as `skc add` takes it."""
    entry = read_lock(find_root(cwd)).get(skill.name) if ref else None
    if entry is not None:
        return f"{entry.text('source')}@{ref}"
    in_git = any(os.path.exists(os.path.join(each, ".git")) for each in paths.with_parents(skill.source))
    if not in_git:
        raise InvalidOption(
            f"'{skill.name}' is in no git repository and not in the lock; name an old folder with --old"
        )
    return f"{skill.source}@{ref or 'HEAD'}"
