"""Linked worktrees of git: the repository that one belongs to is elsewhere, and git needs it."""

from __future__ import annotations

import os


def repository(worktree: str) -> str | None:
    """The `.git` directory that a linked worktree belongs to; None for anything else.

    A `.git` file may have come with a project and point anywhere, so it is only believed where the
    repository itself names this worktree among its own.
    """
    pointer = os.path.join(worktree, ".git")
    named = _line(pointer)
    if not named.startswith("gitdir: "):
        return None
    entry = os.path.realpath(os.path.join(worktree, named.removeprefix("gitdir: ")))
    entries = os.path.dirname(entry)
    found = os.path.dirname(entries)
    if os.path.basename(entries) != "worktrees" or not os.path.isfile(os.path.join(found, "HEAD")):
        return None
    back = _line(os.path.join(entry, "gitdir"))
    return found if os.path.isabs(back) and os.path.realpath(back) == os.path.realpath(pointer) else None


def _line(path: str) -> str:
    """The first line of a small file; empty if there is none."""
    if not os.path.isfile(path):
        return ""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(4096).rstrip("\n")
    except OSError:
        return ""
