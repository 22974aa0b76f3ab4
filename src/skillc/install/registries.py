"""Remotes that list skills: registries of ours, registries of ClawHub's kind, and web sites.

    place = find_site(origin, names, report)
    with place.remote.session:
        download = place.open(folder)
        download.complete(download.candidates)

A list is read first, and of the skills only those that are wanted. What goes wrong is E080, without secrets.
An address is that of a registry of ours if `/whoami` there answers as one does:

    https://skills.example.com                              a list to choose from
    https://skills.example.com/payments/refunds[@1.2.0]     one skill; a version or a tag

There, versions never change: a download is compared with the digest of its version. A yanked version is not
chosen; where it is locked, it is still fetched (W093).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from skillc import remotes
from skillc.errors import (
    InvalidOption,
    InvalidParameter,
    InvalidSkillId,
    OriginNotFound,
    RegistryRefused,
    SkillNotFound,
)
from skillc.install.origin import (
    CLAWHUB,
    OURS,
    REGISTRY,
    Candidate,
    Download,
    Origin,
    Report,
    choose_by_name,
    not_there,
    open_session,
    origin_errors,
)
from skillc.origins import NO_EVIDENCE, Evidence
from skillc.remotes.http import find_token, parse_registry, read_credentials
from skillc.skills import SkillId
from skillc.spelling import did_you_mean
from skillc.versions import LATEST, parse_version, suggest_version

if TYPE_CHECKING:
    from skillc.remotes import ClawHubRemote, RegistryApi, RemoteSkill, SiteRemote  # which load httpx2

PAGES = ("s/", "skills/")  # what precedes the ID in the address of a skill's page, and in that of its JSON
NO_REASONS: Mapping[str, str] = {}


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
        time = _time_of(candidates[0].remote) if len(candidates) == 1 else 0
        return Download(
            self.origin,
            folder,
            candidates,
            complete=complete,
            time=time,
            addresses=addresses,
            find_evidence=self._find_evidence,
        )

    def _find_evidence(self, candidate: Candidate) -> Evidence:
        statement, keys = self.remote.read_statement(candidate.remote)
        subject = f"{candidate.remote.id}@{candidate.remote.version}"
        return Evidence(statement=statement, subject=subject, keys=keys) if statement else NO_EVIDENCE


def find_site(origin: Origin, names: Sequence[str], report: Report) -> Place | None:
    """Return the skills of a web site, by well-known discovery; None where it has no index."""
    remote = remotes.SiteRemote(open_session(origin), report=report)
    with origin_errors(origin):
        try:
            skills = remote.list().value.skills
        except remotes.Absent:
            return None
    choice = choose_by_name(origin, skills, names or ([origin.ref] if origin.ref else []))
    candidates = [Candidate(skill.id, "", "", skill.description, remote=skill) for skill in choice]
    return Place(replace(origin, ref=""), remote, candidates)


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
        name, source = skill.id.replace("/", "-"), f"{REGISTRY}{path}"
        candidates.append(Candidate(name, "", "", skill.description, source=source, remote=skill))
    return Place(origin, remote, candidates)


def _time_of(skill: RemoteSkill) -> int:
    """Return when a version was published, in seconds since 1970; 0 where that is not known."""
    try:
        return int(datetime.fromisoformat(skill.published_at).timestamp())
    except (ValueError, OverflowError):
        return 0


def find_registry(origin: Origin, names: Sequence[str], report: Report) -> Place | None:
    """Return the skills of a registry of ours; None for an address at which there is none."""
    search = _locate(origin, report)
    if search is None:
        return None
    if search.skill:
        found = search.at_address(names)
    elif words := names or ([origin.ref] if origin.ref else []):
        found = [search.by_name(word) for word in words]
    else:
        found = [search.found(skill) for skill in search.list().values()]
    registry = search.api.registry
    if search.skill and len(found) == 1:
        origin = Origin("download", found[0].source, registry, search.ref, hosts=origin.hosts)
    else:
        origin = replace(origin, url=registry, ref="")
    if not found:
        raise OriginNotFound(origin.label(), "there is no skill in it that you may read")
    return Place(origin, search.api, found)


@dataclass(frozen=True, slots=True)
class _Search:
    """A registry, and the skill and version in it that an address means; both may be empty."""

    api: RegistryApi
    origin: Origin
    report: Report
    skill: str
    ref: str

    def list(self, prefix: str = "") -> Mapping[SkillId, RemoteSkill]:
        """Return the skills below a prefix, each at its latest version."""
        skills = self.api.list().value.skills.items()
        return {skill_id: skill for skill_id, skill in skills if skill_id.startswith(prefix)}

    def by_name(self, name: str) -> Candidate:
        """Return the skill that a person names by its ID, or by the last part of it; with a version."""
        text, _, ref = name.partition("@")
        try:
            return self._resolve(SkillId(text), ref)
        except (SkillNotFound, InvalidSkillId, RegistryRefused):  # of a token for a prefix
            ids = self.list()
        return self._resolve(self._match(text, [each for each in ids if each.name == text], ids), ref)

    def at_address(self, names: Sequence[str]) -> Sequence[Candidate]:
        """Return the skill of an address, which may be that of its page, or those below a prefix."""
        is_page = self.skill.startswith(PAGES)
        name = self.skill.partition("/")[2] if is_page else self.skill
        try:
            return [self._resolve(SkillId(self.skill), self.ref)]
        except InvalidSkillId as error:
            raise OriginNotFound(self.origin.label(), error.message) from None
        except (SkillNotFound, RegistryRefused) as error:
            below = self.list(f"{name}/") if not self.ref else {}
            if below:
                matches = {word: [each for each in below if word in (each, each.name)] for word in names}
                ids = [self._match(word, same, below) for word, same in matches.items()] or below
                return [self.found(below[each]) for each in ids]
            if not is_page and isinstance(error, RegistryRefused):
                raise
        if is_page:
            return [self.by_name(f"{name}@{self.ref}" if self.ref else name)]
        advice = did_you_mean(name, self.list()) or f"'skc add {self.api.registry}' lists what there is"
        hint = f"hint: {advice}"
        raise OriginNotFound(self.origin.label(), "there is no such skill in the registry", hint)

    def _match(self, name: str, matches: Sequence[SkillId], ids: Iterable[SkillId]) -> SkillId:
        """Return the only match; raises OriginNotFound, with the IDs that may have been meant."""
        if len(matches) == 1:
            return matches[0]
        raise not_there(self.origin, name, matches or ids)

    def _resolve(self, skill_id: SkillId, ref: str) -> Candidate:
        """Return a skill at a version, at a tag, or without either at its latest version."""
        versions = self.api.versions(skill_id)
        number, tag = _number(ref), ref or LATEST
        skill = next((each for each in versions if each.version == number or tag in each.tags), None)
        if skill is None:
            what = f"no version or tag '{ref}'" if ref else "no version that is not yanked"
            offers = [each.version for each in versions if each.yanked is None]
            tags = [tag for each in versions if each.yanked is None for tag in each.tags]
            hint = f"hint: {suggest_version(ref, offers, tags)}" if ref else ""
            raise OriginNotFound(self.origin.label(), f"'{skill_id}' has {what} in the registry", hint)
        if skill.yanked is not None and skill.version != number:
            reason = f"'{skill_id}@{ref}' is {skill.version}, which was yanked: {skill.yanked}"
            raise OriginNotFound(self.origin.label(), reason)
        yanked = {each.version: each.yanked for each in versions if each.yanked is not None}
        candidate = self.found(skill, yanked)
        for diagnostic in candidate.warn_of_yank(skill_id.name, skill.version):
            self.report(diagnostic)
        return candidate

    def found(self, skill: RemoteSkill, yanked: Mapping[str, str] = NO_REASONS) -> Candidate:
        """Return a skill at its version; `yanked` has the reasons for the versions that were."""
        name, source = skill.id.name, f"{OURS}{self.api.registry}/{skill.id}"
        return Candidate(name, "", "", skill.description, source=source, yanked=yanked, remote=skill)


def _number(ref: str) -> str:
    try:
        return parse_version(ref)
    except InvalidParameter:
        return ""


def _locate(origin: Origin, report: Report) -> _Search | None:
    """Return the registry of an origin and what the origin means there; None if it is none of ours."""
    if origin.is_ours:
        return _Search(_open(origin.url), origin, report, origin.slug, origin.ref)
    if origin.secret_url:
        return None  # with a user or a query: our registries take tokens alone
    parts = urlsplit(origin.url)
    address = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
    for base in _bases(address, f"{parts.scheme}://{parts.netloc}"):
        api = _open(base)
        skill, _, ref = address[len(base) :].strip("/").partition("@")
        if "." not in skill and api.is_registry():  # no ID has a dot: it is a file of another protocol
            return _Search(api, origin, report, skill, ref)
    return None


def _bases(address: str, root: str) -> list[str]:
    """Return the addresses at which the registry may be: a login above this one, else the host or itself."""
    logins = [each.registry for each in read_credentials() if f"{address}/".startswith(f"{each.registry}/")]
    bases: dict[str, None] = {}
    for base in sorted(logins, key=len, reverse=True)[:1] or [root, address]:
        if "/." in base or base.endswith(".json"):
            continue  # a file of another protocol
        try:
            bases[parse_registry(base)] = None
        except InvalidOption:
            continue  # the path of a registry has no '@'
    return list(bases)


def _open(base: str) -> RegistryApi:
    return remotes.RegistryApi(base, find_token(base))
