"""Remotes that list skills, as places to add from: web sites, ClawHub's registries, and registries of ours.

    place = find_site(origin, names, report)
    with open_place(place, folder) as download:
        download.complete(download.candidates)

A list is read first, and of the skills only those that are wanted. What goes wrong is E080, without secrets.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from skillc import remotes
from skillc.errors import Diagnostic, OriginNotFound
from skillc.install.candidate import Candidate, Download
from skillc.install.discover import choose_by_name
from skillc.install.origin import CLAWHUB, REGISTRY, Origin
from skillc.remotes import Failure, hide_secrets
from skillc.text import one_line

if TYPE_CHECKING:
    from skillc.remotes import ClawHubRemote, RegistryApi, RemoteSkill, Session, SiteRemote

Report = Callable[[Diagnostic], None]
NO_REASONS: Mapping[str, str] = {}


Found = tuple[Candidate, "RemoteSkill"]  # what can be added, before it has a folder, and what is fetched


@dataclass(frozen=True, slots=True)
class Place:
    """A remote, and the skills in it that are wanted, each under the name that it gets."""

    origin: Origin
    remote: SiteRemote | ClawHubRemote | RegistryApi
    skills: Sequence[Found]


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
    return Place(
        replace(origin, ref=""), remote, [(make_candidate(skill, skill.id), skill) for skill in choice]
    )


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
            skills = {skill.entry[0].slug: skill for skill in remote.list().value.skills.values()}
    choose_by_name(origin, skills, ())  # there is one
    parts = urlsplit(origin.url)
    site = f"{parts.scheme}://{parts.netloc}" if base else origin.url
    found = []
    for slug, skill in skills.items():
        path = slug if site == CLAWHUB else f"{site}/{slug.rpartition('/')[2]}"
        found.append((make_candidate(skill, skill.id.replace("/", "-"), f"{REGISTRY}{path}"), skill))
    return Place(origin, remote, found)


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
    )


@contextmanager
def open_place(place: Place, folder: str) -> Iterator[Download]:
    """Give the skills of a remote, which are fetched into folders of their own when they are completed."""
    by_folder = {os.path.join(folder, each[1].id.replace("/", "+")): each for each in place.skills}
    addresses: dict[str, str] = {}

    def complete(candidates: Sequence[Candidate]) -> None:
        with origin_errors(place.origin):
            for path in (candidate.folder for candidate in candidates):
                if not os.path.isdir(path):
                    addresses[path] = place.remote.fetch(by_folder[path][1], path)

    candidates = tuple(replace(each, folder=path) for path, (each, _) in by_folder.items())
    time = candidates[0].time if len(candidates) == 1 else 0
    with place.remote.session:
        yield Download(place.origin, folder, candidates, complete=complete, time=time, addresses=addresses)
