"""Removing what a command left in its private directory, however deep and however odd."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator


def remove(root: str) -> None:
    """Remove a directory of ours and all below it, without recursion and without following links.

    Deep trees have paths that are too long to name, so each directory is entered by its descriptor,
    and what it holds is moved up to the root, where names stay short.
    """
    try:
        top = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        _empty(top)
        os.rmdir(root)
    except OSError:  # what can't be removed stays; it is in the system's temporary directory
        pass
    finally:
        os.close(top)


def _empty(top: int) -> None:
    free = _names()
    while names := os.listdir(top):
        for name in names:
            if not _unlink(name, top):
                _lift(name, top, free)


def _names() -> Iterator[str]:
    """Names that nobody could have taken."""
    mine = os.urandom(8).hex()
    return (f".{mine}-{number}" for number in itertools.count())


def _unlink(name: str, directory: int) -> bool:
    try:
        os.unlink(name, dir_fd=directory)
    except IsADirectoryError:
        return False
    return True


def _lift(name: str, top: int, free: Iterator[str]) -> None:
    """Empty one directory of `top`: its files are removed, its directories become `top`'s."""
    os.chmod(name, 0o700, dir_fd=top)
    directory = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=top)
    try:
        for entry in os.listdir(directory):
            if not _unlink(entry, directory):
                os.chmod(entry, 0o700, dir_fd=directory)
                os.rename(entry, next(free), src_dir_fd=directory, dst_dir_fd=top)
    finally:
        os.close(directory)
    os.rmdir(name, dir_fd=top)
