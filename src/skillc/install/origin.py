"""Where skills come from, and what was downloaded from there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Origin:
    """A place to get skills from, as a person named it or as a lock file has it.

    `type` is the lock file's `sourceType`: github, gitlab, git, local, well-known or download (archives and
    registries). `source` is the short name in the lock file (`owner/repo`, an address, a path), `url` the
    address to ask, `ref` a branch, tag or commit, and `path` the folder inside that is wanted.
    """

    type: str
    source: str
    url: str
    ref: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A skill in a download: its name, its folder on this machine, and the path of its SKILL.md inside.

    `path` is what the lock file calls `skillPath`, with forward slashes: `skills/pdf/SKILL.md`.
    """

    name: str
    folder: str
    path: str
    description: str = ""
    tree: str = ""  # the git tree of the folder, of a git repository


@dataclass(frozen=True, slots=True)
class Download:
    """What an origin gave: a folder on this machine, gone when the download is closed.

    `commit` is that of a git repository, `version` that of a registry, `digest` that of a site
    (`wellKnownDigest`), and `resolved` the address that was really read.
    """

    origin: Origin
    folder: str
    candidates: tuple[Candidate, ...]
    commit: str = ""
    version: str = ""
    digest: str = ""
    resolved: str = ""
