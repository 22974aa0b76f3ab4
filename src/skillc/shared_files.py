"""Text files that other programs write too: read them, and change them though another may write meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from skillc import atomic
from skillc.errors import SkillcError

ATTEMPTS = 5  # to write a file that another program writes at the same time


def read_text(path: str) -> str:
    """Return the text of a file, to the byte; an empty one where there is none."""
    return read_file(path) or ""


def read_file(path: str) -> str | None:
    """Return the text of a file, to the byte; None where there is none."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise SkillcError(f"cannot read '{path}': {getattr(error, 'strerror', None) or error}") from None


def rewrite_file(path: str, change: Callable[[str], str | None]) -> tuple[str | None, str | None]:
    """Change a file, and return it before and after; begin again where another program wrote it meanwhile.

    `change` returns None for a file that goes.
    """
    for _ in range(ATTEMPTS):
        before = read_file(path)
        after = change(before or "")
        if after != before:
            try:
                replace_file(path, after, partial(_is_changed, path, before))
            except OSError as error:
                raise SkillcError(f"can't write '{path}': {error.strerror}; nothing was changed") from None
        if read_file(path) == after:
            return before, after
    raise SkillcError(f"'{path}' is written by another program all the time; close the agent, and try again")


def _is_changed(path: str, before: str | None) -> bool:
    return read_file(path) != before


def replace_file(path: str, text: str | None, unless: Callable[[], bool] | None = None) -> None:
    """Write a file with the permissions it has, where a link leads; remove it where there is no text.

    `unless` is asked at the last moment.
    """
    target = os.path.realpath(path)
    if text is None:
        if unless is None or not unless():
            os.unlink(target)
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    mode = os.stat(target).st_mode & 0o777 if os.path.exists(target) else None
    atomic.write(target, text.encode("utf-8"), durable=True, mode=mode, unless=unless)
