"""The skills of a registry of ours, by its own API: versions that never change, tags, and digests.

    https://skills.example.com                              a list to choose from
    https://skills.example.com/payments/refunds[@1.2.0]     one skill; a version or a tag

An address is that of a registry if `/whoami` there answers as one does. A download is compared with the
digest of its version. A yanked version is not chosen; where it is locked, it is still fetched (W093).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from skillc import remotes
from skillc.errors import (
    Diagnostic,
    InvalidOption,
    InvalidParameter,
    InvalidSkillId,
    OriginNotFound,
    RegistryRefused,
    SkillNotFound,
    warning,
)
from skillc.install.origin import OURS, Candidate, Download, Origin
from skillc.remotes import Failure, find_token, parse_registry, read_credentials
from skillc.skills import SkillId
from skillc.spelling import suggest
from skillc.versions import LATEST, parse_version, suggest_version

if TYPE_CHECKING:
    from skillc.remotes import PublishedVersion, RegistryApi  # loads httpx2

PAGES = ("s/", "skills/")  # what precedes the ID in the address of a skill's page, and in that of its JSON

Report = Callable[[Diagnostic], None]


@dataclass(frozen=True, slots=True)
class _Place:
    """A registry, and the skill and version in it that an address means; both may be empty."""

    api: RegistryApi
    origin: Origin
    skill: str
    ref: str

    def resolve(self, skill_id: SkillId, ref: str, report: Report) -> Candidate:
        """Return a skill at a version, at a tag, or without either at its latest version."""
        versions = self.api.versions(skill_id)
        version = _choose(versions, ref or LATEST)
        if version is None:
            what = f"no version or tag '{ref}'" if ref else "no version that is not yanked"
            offers = [each.version for each in versions if each.yanked is None]
            tags = [tag for each in versions if each.yanked is None for tag in each.tags]
            hint = f"hint: {suggest_version(ref, offers, tags)}" if ref else ""
            raise OriginNotFound(self.origin.label(), f"'{skill_id}' has {what} in the registry", hint)
        if version.yanked is not None:
            if version.version != _number(ref):
                reason = f"'{skill_id}@{ref}' is {version.version}, which was yanked: {version.yanked}"
                raise OriginNotFound(self.origin.label(), reason)
            report(warning("W093", skill_id, version.version, version.yanked))
        yanked = {each.version: each.yanked for each in versions if each.yanked is not None}
        return replace(
            self.candidate(skill_id, version.version, version.digest),
            yanked=yanked,
            time=_seconds(version.published_at),
        )

    def candidate(self, skill_id: SkillId, version: str, digest: str, description: str = "") -> Candidate:
        return Candidate(
            skill_id.name,
            "",
            "",
            description,
            version=version,
            resolved=self.api.archive_address(skill_id, version),
            source=f"{OURS}{self.api.registry}/{skill_id}",
            source_digest=digest,
        )

    def list(self) -> dict[SkillId, Candidate]:
        """Return all skills by ID, each at its latest version."""
        return {
            skill.id: self.candidate(skill.id, skill.version, skill.digest, skill.description)
            for skill in self.api.skills()
        }

    def find(self, name: str, report: Report) -> tuple[SkillId, Candidate]:
        """Return the skill that a person names by its ID, or by the last part of it; with a version."""
        text, _, ref = name.partition("@")
        try:
            skill_id = SkillId(text)
            return skill_id, self.resolve(skill_id, ref, report)
        except (SkillNotFound, InvalidSkillId, RegistryRefused):  # of a token for a prefix
            ids = list(self.list())
        matches = [each for each in ids if each.name == text]
        if len(matches) == 1:
            return matches[0], self.resolve(matches[0], ref, report)
        close = matches or suggest(text, ids)
        hint = f"hint: did you mean {_either(close)}?" if close else ""
        raise OriginNotFound(self.origin.label(), f"there is no skill '{text}' in it", hint)

    def get(self, skill_id: SkillId, candidate: Candidate) -> None:
        """Download a version into its folder, whole or not at all."""
        try:
            self.api.fetch(skill_id, candidate.version, candidate.source_digest, candidate.folder)
        except Failure as error:
            raise OriginNotFound(self.origin.label(), str(error)) from None


@contextmanager
def open_native(
    origin: Origin, folder: str, names: Sequence[str], report: Report
) -> Iterator[Download | None]:
    """Give the skills of a registry of ours; None for an address at which there is none."""
    place = _find_place(origin)
    if place is None:
        yield None
        return
    with place.api:
        if place.skill:
            skills = _resolve_address(place, names, report)
            origin = replace(origin, url=place.api.registry, ref="")
            if len(skills) == 1:
                source = next(iter(skills.values())).source
                origin = Origin("download", source, place.api.registry, place.ref, hosts=origin.hosts)
        else:
            words = list(names) or ([origin.ref] if origin.ref else [])
            skills = dict(place.find(name, report) for name in words) if words else place.list()
            origin = replace(origin, url=place.api.registry, ref="")
        if not skills:
            raise OriginNotFound(origin.label(), "there is no skill in it that you may read")
        candidates = {
            skill_id: replace(each, folder=os.path.join(folder, skill_id.replace("/", "+")))
            for skill_id, each in skills.items()
        }
        ids = {each.folder: skill_id for skill_id, each in candidates.items()}

        def complete(choice: Sequence[Candidate]) -> None:
            for each in choice:
                if not os.path.isdir(each.folder):
                    place.get(ids[each.folder], each)

        time = next(iter(candidates.values())).time if len(candidates) == 1 else 0
        yield Download(
            origin, folder, tuple(candidates.values()), "", place.api.registry, complete, time=time
        )


def _list_below(place: _Place, names: Sequence[str]) -> dict[SkillId, Candidate]:
    """Return the skills below the address of a prefix, those with these names or all; none for any other."""
    prefix = place.skill.partition("/")[2] if place.skill.startswith(PAGES) else place.skill
    if place.ref:
        return {}
    skills = {each: candidate for each, candidate in place.list().items() if each.startswith(f"{prefix}/")}
    if not skills or not names:
        return skills
    matches = {name: [each for each in skills if name in (each, each.name)] for name in names}
    for name, ids in matches.items():
        if len(ids) != 1:
            close = ids or suggest(name, list(skills))
            hint = f"hint: did you mean {_either(close)}?" if close else ""
            raise OriginNotFound(place.origin.label(), f"there is no skill '{name}' in it", hint)
    return {ids[0]: skills[ids[0]] for ids in matches.values()}


def _resolve_address(place: _Place, names: Sequence[str], report: Report) -> dict[SkillId, Candidate]:
    """Return the skill of an address, which may be that of its page, or those below a prefix."""
    try:
        skill_id = SkillId(place.skill)
    except InvalidSkillId as error:
        raise OriginNotFound(place.origin.label(), error.message) from None
    try:
        return {skill_id: place.resolve(skill_id, place.ref, report)}
    except (SkillNotFound, RegistryRefused) as error:
        if below := _list_below(place, names):
            return below
        if not place.skill.startswith(PAGES):
            if isinstance(error, RegistryRefused):
                raise
            hint = f"hint: 'skc add {place.api.registry}' lists what there is"
            raise OriginNotFound(
                place.origin.label(), "there is no such skill in the registry", hint
            ) from None
    name = place.skill.partition("/")[2]
    return dict([place.find(f"{name}@{place.ref}" if place.ref else name, report)])


def _find_place(origin: Origin) -> _Place | None:
    """Return the registry of an origin and what the origin means there; None if it is none of ours."""
    if origin.is_ours:
        return _Place(_open(origin.url), origin, origin.slug, origin.ref)
    if origin.secret_url:
        return None  # with a user or a query: our registries take tokens alone
    parts = urlsplit(origin.url)
    address = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
    for base in _bases(address, f"{parts.scheme}://{parts.netloc}"):
        api = _open(base)
        if api.is_registry():
            rest = address[len(base) :].strip("/")
            skill, _, ref = rest.partition("@")
            if "." not in skill:  # no ID has a dot: it is a file of another protocol
                return _Place(api, origin, skill, ref)
        api.__exit__()
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


def _choose(versions: Sequence[PublishedVersion], ref: str) -> PublishedVersion | None:
    number = _number(ref)
    return next((each for each in versions if each.version == number or ref in each.tags), None)


def _number(ref: str) -> str:
    try:
        return parse_version(ref)
    except InvalidParameter:
        return ""


def _seconds(time: str) -> int:
    """Return a time as seconds since 1970; 0 for text that is none."""
    try:
        return int(datetime.fromisoformat(time).timestamp())
    except (ValueError, OverflowError):
        return 0


def _either(ids: Sequence[SkillId | str]) -> str:
    return " or ".join(f"'{each}'" for each in ids)
