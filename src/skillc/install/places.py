"""What an origin gives: a download with the skills in it that can be added; and remotes that list skills.

    place = find_site(origin, names, report)
    with place.remote.session:
        download = place.open(folder)
        download.complete(download.candidates)

Of web sites, ClawHub's registries and registries of ours, a list is read first, and of the skills only those
that are wanted. What goes wrong is E080, without secrets.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from skillc import remotes
from skillc.errors import Diagnostic, OriginNotFound
from skillc.install.origin import CLAWHUB, REGISTRY, Origin
from skillc.remotes import Failure, hide_secrets
from skillc.spelling import did_you_mean
from skillc.text import first_of, one_line

if TYPE_CHECKING:
    from skillc.remotes import ClawHubRemote, RegistryApi, RemoteSkill, Session, SiteRemote

Report = Callable[[Diagnostic], None]
T = TypeVar("T")
NO_REASONS: Mapping[str, str] = {}
MAX_NAMES = 10  # in a hint


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
    yanked: Mapping[str, str] = field(default_factory=dict, compare=False)  # reasons, by version
    links: frozenset[str] = frozenset()  # names in a git repository that are links, and files in the folder
    remote: Any = field(default=None, repr=False, compare=False)  # the skill of a remote, to be fetched

    @property
    def inside(self) -> str:
        """The path of its folder in the download."""
        return posixpath.dirname(self.path)


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

    def address_of(self, candidate: Candidate) -> str:
        """Return the address that one candidate came from: after redirects, once it is complete."""
        return self.addresses.get(candidate.folder) or candidate.resolved or self.resolved

    def origin_of(self, candidate: Candidate) -> Origin:
        """Return the origin of one candidate, as the lock file keeps it."""
        if not candidate.source or self.origin.is_registry:
            return self.origin
        return Origin("download", candidate.source, self.origin.url, secret_url=self.origin.secret_url)


@dataclass(frozen=True, slots=True)
class Place:
    """A remote, and the skills in it that are wanted, each under the name that it gets."""

    origin: Origin
    remote: SiteRemote | ClawHubRemote | RegistryApi
    candidates: Sequence[Candidate]

    def open(self, folder: str) -> Download:
        """Return the skills; completing one fetches it into a folder of its own."""
        addresses: dict[str, str] = {}

        def complete(candidates: Sequence[Candidate]) -> None:
            with origin_errors(self.origin):
                for each in candidates:
                    if not os.path.isdir(each.folder):
                        addresses[each.folder] = self.remote.fetch(each.remote, each.folder)

        candidates = tuple(
            replace(each, folder=os.path.join(folder, each.remote.id.replace("/", "+")))
            for each in self.candidates
        )
        time = candidates[0].time if len(candidates) == 1 else 0
        return Download(self.origin, folder, candidates, complete=complete, time=time, addresses=addresses)


def choose_by_name(origin: Origin, skills: Mapping[str, T], names: Sequence[str]) -> list[T]:
    """Return the skills of an index that are wanted, or all; raises OriginNotFound if one is missing."""
    if not skills:
        raise OriginNotFound(origin.label(), "there is no skill in it")
    misses = [name for name in names if name not in skills]
    if misses:
        raise not_there(origin, misses[0], skills)
    return [skills[name] for name in dict.fromkeys(names or skills)]


def not_there(origin: Origin, name: str, there: Iterable[str]) -> OriginNotFound:
    """Return the error for a skill that an origin does not have, with those that may have been meant."""
    names = sorted(set(there))
    listing = f"there are {first_of(names, MAX_NAMES)}" if names else ""
    hint = did_you_mean(name, names) or listing
    return OriginNotFound(origin.label(), f"there is no skill '{name}' in it", hint and f"hint: {hint}")


def open_session(origin: Origin) -> Session:
    """Return requests on behalf of an origin, whose credentials go to its own host alone."""
    return remotes.Session.for_person(origin.url, origin.address, origin.allowed_hosts)


@contextmanager
def origin_errors(origin: Origin) -> Iterator[None]:
    """Turn failures of a remote into OriginNotFound (E080), without secrets."""
    try:
        yield
    except Failure as error:
        raise OriginNotFound(origin.label(), hide_secrets(one_line(error.reason)), error.hint) from None


def find_site(origin: Origin, names: Sequence[str], report: Report) -> Place | None:
    """Return the skills of a web site, by well-known discovery; None where it has no index."""
    remote = remotes.SiteRemote(open_session(origin), report=report)
    with origin_errors(origin):
        try:
            skills = remote.list().value.skills
        except remotes.Absent:
            return None
    choice = choose_by_name(origin, skills, names or ([origin.ref] if origin.ref else []))
    return Place(replace(origin, ref=""), remote, [make_candidate(skill, skill.id) for skill in choice])


def find_hub(origin: Origin, names: Sequence[str], report: Report) -> Place | None:
    """Return the skills of a registry of ClawHub's kind; None for an address at which there is none."""
    remote = remotes.ClawHubRemote(open_session(origin), report=report)
    with origin_errors(origin):
        base = remote.find_base()
        if not base and not origin.is_registry:
            return None
        if origin.is_registry:
            skills = {origin.slug: remote.resolve(origin.slug, origin.ref)}
        elif words := names or ([origin.ref] if origin.ref else []):
            skills = {word: remote.resolve(word, "") for word in words}
        else:
            skills = {skill.entry.slug: skill for skill in remote.list().value.skills.values()}
    choose_by_name(origin, skills, ())  # there is one
    parts = urlsplit(origin.url)
    site = f"{parts.scheme}://{parts.netloc}" if base else origin.url
    candidates = []
    for slug, skill in skills.items():
        path = slug if site == CLAWHUB else f"{site}/{slug.rpartition('/')[2]}"
        candidates.append(make_candidate(skill, skill.id.replace("/", "-"), f"{REGISTRY}{path}"))
    return Place(origin, remote, candidates)


def make_candidate(
    skill: RemoteSkill, name: str, source: str = "", yanked: Mapping[str, str] = NO_REASONS
) -> Candidate:
    """Return a skill of a remote that can be added; `source` is the origin's name for it in the lock file.

    `yanked` has the reasons for the versions that were, its own among them.
    """
    try:
        time = int(datetime.fromisoformat(skill.published_at).timestamp())
    except (ValueError, OverflowError):
        time = 0
    return Candidate(
        name,
        "",
        "",
        skill.description,
        version=skill.version,
        digest="" if source else skill.digest,
        resolved=skill.address,
        source=source,
        source_digest=skill.digest if source else "",
        time=time,
        yanked=yanked,
        remote=skill,
    )
