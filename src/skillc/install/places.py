"""Remotes that list skills, as places to add from: web sites, ClawHub's registries, and registries of ours.

    place = find_site(origin, names, report)
    with open_place(place, folder) as download:
        download.complete(download.candidates)

A list is read first, and of the skills only those that are wanted. What goes wrong is E080, without secrets.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from skillc import remotes
from skillc.errors import Diagnostic, OriginNotFound
from skillc.install.discover import choose_by_name
from skillc.install.origin import CLAWHUB, REGISTRY, Candidate, Download, Origin
from skillc.remotes import hide_secrets, parse_base_url
from skillc.text import cut, one_line

if TYPE_CHECKING:
    from skillc.remotes import ClawHubRemote, RegistryApi, RemoteSkill, Response, Session, SiteRemote

Report = Callable[[Diagnostic], None]


@dataclass(frozen=True, slots=True)
class Find:
    """A skill that can be added under a name; `source` is the origin's name for it in the lock file.

    `yanked` has the reasons for the versions that were, its own among them.
    """

    name: str
    skill: RemoteSkill
    source: str = ""
    yanked: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place:
    """A remote, and the skills in it that are wanted."""

    origin: Origin
    remote: SiteRemote | ClawHubRemote | RegistryApi
    finds: Sequence[Find]


def open_session(origin: Origin) -> Session:
    """Return requests on behalf of an origin, whose credentials go to its own host alone."""
    return remotes.Session(
        origin.url,
        credentials=parse_base_url(origin.address)[1],
        hosts=origin.allowed_hosts,
        plain="'{}' is not https, and http is for this machine alone",
        logins=True,
        attempts=remotes.MAX_ATTEMPTS,
    )


@contextmanager
def origin_errors(origin: Origin) -> Iterator[None]:
    """Turn failures of a remote into OriginNotFound (E080), without secrets."""
    try:
        yield
    except remotes.RefNotFound as error:
        name = str(error)
        if name == "HEAD":
            raise OriginNotFound(origin.label(), "the repository has no commits") from None
        hint = f"hint: a skill of it is named by --skill {name}"
        raise OriginNotFound(origin.label(), f"it has no branch, tag or commit '{name}'", hint) from None
    except remotes.Failure as error:
        reason = _explain_status(error.response) if isinstance(error, remotes.Refused) else str(error)
        if error.url and error.url not in reason:
            reason = f"{error.url}: {reason}"
        raise OriginNotFound(origin.label(), hide_secrets(one_line(reason))) from None


def _explain_status(response: Response) -> str:
    """Return what an answer with an error says, in one short line."""
    if response.status in remotes.BUSY and response.retry_after:
        return f"the server is busy and asks to come again in {one_line(response.retry_after)} s"
    if response.status in (401, 403):
        return f"the server wants authentication (HTTP {response.status})"
    text = response.data.decode("utf-8", "replace").strip()
    is_plain = text and not re.match(r"\s*[<{]", text)
    return f"HTTP {response.status}{f': {cut(one_line(text), 200)}' if is_plain else ''}"


def find_site(origin: Origin, names: Sequence[str], report: Report) -> Place | None:
    """Return the skills of a web site, by well-known discovery; None where it has no index."""
    remote = remotes.SiteRemote(open_session(origin), report=report)
    with origin_errors(origin):
        try:
            skills = remote.list().value.skills
        except remotes.Absent:
            return None
    choice = choose_by_name(origin, skills, names or ([origin.ref] if origin.ref else []))
    return Place(replace(origin, ref=""), remote, [Find(skill.id, skill) for skill in choice])


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
    finds = []
    for slug, skill in skills.items():
        path = slug if site == CLAWHUB else f"{site}/{slug.rpartition('/')[2]}"
        finds.append(Find(skill.id.replace("/", "-"), skill, f"{REGISTRY}{path}"))
    return Place(origin, remote, finds)


@contextmanager
def open_place(place: Place, folder: str) -> Iterator[Download]:
    """Give the skills of a remote, which are fetched into folders of their own when they are completed."""
    finds = {os.path.join(folder, find.skill.id.replace("/", "+")): find for find in place.finds}
    addresses: dict[str, str] = {}

    def complete(candidates: Sequence[Candidate]) -> None:
        with origin_errors(place.origin):
            for path in (candidate.folder for candidate in candidates):
                if not os.path.isdir(path):
                    addresses[path] = place.remote.fetch(finds[path].skill, path)

    candidates = tuple(_candidate(path, find) for path, find in finds.items())
    time = candidates[0].time if len(candidates) == 1 else 0
    with place.remote.session:
        yield Download(place.origin, folder, candidates, complete=complete, time=time, addresses=addresses)


def _candidate(folder: str, find: Find) -> Candidate:
    skill = find.skill
    try:
        time = int(datetime.fromisoformat(skill.published_at).timestamp())
    except (ValueError, OverflowError):
        time = 0
    return Candidate(
        find.name,
        folder,
        "",
        skill.description,
        version=skill.version,
        digest="" if find.source else skill.digest,
        resolved=skill.address,
        source=find.source,
        source_digest=skill.digest if find.source else "",
        time=time,
        yanked=find.yanked,
    )
