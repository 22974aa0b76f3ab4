"""Where an ID led a moment ago, so that an agent's second question does not wake the whole library.

A note beside the copies of skills (`copies`) says which copy an ID means for a configuration, and
until when that counts: no longer than its repository would be served without being asked again.
"""

from __future__ import annotations

import os
from time import time

from skillc import atomic, paths
from skillc.library.stores import GLOBAL, Skill, folder_name, is_skill
from skillc.startup.digest import sha256_hex

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 60.0  # at most; a repository with a shorter interval has that


def recall(name: str, cwd: str) -> Skill | None:
    """The copy that `name` meant in `cwd` a moment ago; None where that has to be found out."""
    home = paths.home()
    if home is None:
        return None
    try:
        with open(_note(name, cwd), encoding="utf-8") as file:
            until, source, repository = file.read().split("\n")
        if not 0 <= float(until) - time() <= SECONDS or not is_skill(source):
            return None
    except (OSError, ValueError):
        return None
    return Skill(name, source, GLOBAL, home, True, repository, copied=True, recent=True)


def remember(skill: Skill, cwd: str, seconds: float) -> None:
    """Note where a name led; a note that can't be written is none."""
    path = _note(skill.name, cwd)
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        until = time() + min(seconds, SECONDS)
        atomic.write(path, f"{until}\n{skill.source}\n{skill.repository}".encode())
    except (OSError, ValueError):
        pass


def _note(name: str, cwd: str) -> str:
    """The note's path: another for each name, and for each state of what configures the library here."""
    known = "\0".join([name, *_configurations(cwd)])
    key = sha256_hex(known.encode("utf-8", "surrogateescape"))[:16]
    return os.path.join(paths.cache_directory(), "skills", "recent", f"{folder_name(name)[:64]}-{key}")


def _configurations(cwd: str) -> Iterator[str]:
    home = paths.home()
    for root in (*paths.library_roots(cwd), *([home] if home else [])):
        for directory in (paths.DIRECTORY, paths.ALTERNATIVE):
            path = os.path.join(root, directory, "skills.toml")
            try:
                status = os.stat(path)
                yield f"{path} {status.st_ino} {status.st_size} {status.st_mtime_ns}"
            except OSError:
                yield path
