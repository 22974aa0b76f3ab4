"""Say which names of files every system can hold, each for itself and all together.

>>> is_portable("scripts/run.sh"), is_portable("../run.sh"), is_portable("aux.txt")
(True, False, False)
>>> find_collision(["README.md", "docs/a.md", "Docs"])
('Docs', 'docs/')
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

MAX_PATH = 1024  # bytes
MAX_FILE_NAME = 255  # bytes of a name between slashes

# Names that a file can't have on Windows.
_FORBIDDEN = re.compile(r'[<>:"|?*\\\x00-\x1f\x7f]|[ .]\Z')
_RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)


def is_portable(path: str) -> bool:
    """Return whether every system can hold a file at this path, which leads nowhere else."""
    try:
        length = len(path.encode())
    except UnicodeEncodeError:
        return False
    return length <= MAX_PATH and all(map(_is_portable_segment, path.split("/")))


def find_collision(names: Iterable[str]) -> tuple[str, str] | None:
    """Return two names, or a name and a folder, that are one on some systems; None if there are none."""
    spellings: dict[str, str] = {}
    for name in names:
        parts = to_spelling(name).split("/")
        for count in range(1, len(parts) + 1):
            path = "/".join(parts[:count])
            own = name if count == len(parts) else "/".join(name.split("/")[:count]) + "/"
            if spellings.setdefault(path, own) != own:
                return own, spellings[path]
    return None


def to_spelling(name: str) -> str:
    """Return a text that is the same for names that are one on some systems."""
    return unicodedata.normalize("NFC", name).casefold()


def _is_portable_segment(segment: str) -> bool:
    return (
        segment not in ("", ".", "..")
        and len(segment.encode()) <= MAX_FILE_NAME
        and not _FORBIDDEN.search(segment)
        and not _RESERVED.fullmatch(segment)
    )
