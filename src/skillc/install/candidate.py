"""What an origin gives: a download, and the skills in it that can be added."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from skillc.install.origin import Origin


@dataclass(frozen=True, slots=True)
class Candidate:
    """A skill in a download: its name, its folder on this machine, and the path of its SKILL.md inside.

    `path` is what the lock file calls `skillPath`, with forward slashes: `skills/pdf/SKILL.md`. `version` is
    that of a registry, `digest` that of a site (`wellKnownDigest`), and `resolved` the address of the skill
    itself, where it has one.
    """

    name: str
    folder: str
    path: str
    description: str = ""
    tree: str = ""  # the git tree of the folder, of a git repository
    version: str = ""
    digest: str = ""
    resolved: str = ""
    source: str = ""  # the origin's name in the lock file, of a registry that was found at an address
    source_digest: str = ""  # of its version's source, of a registry of ours
    time: int = 0  # when its version was published, in seconds since 1970
    yanked: Mapping[str, str] = field(
        default_factory=dict, compare=False
    )  # reasons for other versions, and its own
    links: frozenset[str] = frozenset()  # names in a git repository that are links, and files in the folder


@dataclass(frozen=True, slots=True)
class Download:
    """What an origin gave: a folder on this machine, gone when the download is closed.

    `commit` is that of a git repository, and `resolved` the address that was really read. With `lazy`, the
    folders of candidates are incomplete until `complete` was called with them.
    """

    origin: Origin
    folder: str
    candidates: tuple[Candidate, ...]
    commit: str = ""
    resolved: str = ""
    complete: Callable[[Sequence[Candidate]], None] = field(default=lambda _: None, repr=False)
    time: int = 0  # of the commit, in seconds since 1970
    is_tag: bool = False  # whether the ref that was asked for is a tag
    addresses: dict[str, str] = field(default_factory=dict, repr=False)  # of folders that are complete

    def narrow(self, candidates: Iterable[Candidate]) -> Download:
        """Return the same download with some of its candidates."""
        return replace(self, candidates=tuple(candidates))

    def address_of(self, candidate: Candidate) -> str:
        """Return the address that one candidate came from: after redirects, once it is complete."""
        return self.addresses.get(candidate.folder) or candidate.resolved or self.resolved

    def origin_of(self, candidate: Candidate) -> Origin:
        """Return the origin of one candidate, as the lock file keeps it."""
        if not candidate.source or self.origin.is_registry:
            return self.origin
        return Origin("download", candidate.source, self.origin.url, secret_url=self.origin.secret_url)
