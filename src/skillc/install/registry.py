"""The skills of a registry that speaks the ClawHub v1 protocol, whose wire format is that of the library."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from urllib.parse import urlsplit

from skillc.errors import Diagnostic
from skillc.install.discover import choose_by_name
from skillc.install.origin import CLAWHUB, REGISTRY, Candidate, Download, Origin
from skillc.install.web import Web
from skillc.remotes import (
    MAX_PAGES,
    Failure,
    HubSkill,
    api_base,
    check_moderation,
    discovery_addresses,
    list_address,
    read_base,
    read_page,
    read_summary,
    table_of,
    text_of,
    write_version,
)
from skillc.skills import is_name, to_segment
from skillc.spelling import near_miss

_VERSION = re.compile(r"v?\d+\.\d+.*")

Report = Callable[[Diagnostic], None]


@dataclass(frozen=True, slots=True)
class Registry:
    """A registry: the address that a person knows, and the base of its API."""

    web: Web
    site: str
    base: str

    def list(self) -> dict[str, Candidate]:
        """Return its skills by slug, each at its latest version."""
        skills: dict[str, Candidate] = {}
        cursor = ""
        for _ in range(MAX_PAGES):
            page = read_page(self.web.get_json(list_address(self.base, cursor)))
            if page is None:
                break
            for skill in page.skills:
                if skill.slug and skill.version:
                    skills[skill.slug] = self._candidate(skill.slug, replace(skill, owner=""))
            cursor = page.cursor
            if not cursor:
                break
        return skills

    def resolve(self, slug: str, ref: str, report: Report) -> Candidate:
        """Return a skill at a version, at a tag, or without either at its latest version."""
        data = table_of(self.web.get_json(_at_version(slug).address(self.base)))
        skill = table_of(data.get("skill"))
        if not skill:
            raise self.web.failure(f"there is no skill '{slug}' in the registry")
        check_moderation(slug, data, report)
        tag = table_of(skill.get("tags")).get(ref)
        version = text_of(table_of(tag).get("version")) or text_of(tag)
        if not version and _VERSION.fullmatch(ref):
            version = ref.removeprefix("v")
        if not version and ref in ("", "latest"):
            version = text_of(table_of(data.get("latestVersion")).get("version"))
        if not version:
            what = f"no version or tag '{ref}'" if ref else "no version that can be downloaded"
            near = near_miss(ref, ["latest", *table_of(skill.get("tags"))])
            raise self.web.failure(f"'{slug}' has {what} in the registry{near}")
        return self._candidate(slug, _at_version(slug, version, read_summary(skill)))

    def get(self, slug: str, candidate: Candidate) -> str:
        """Download a version into its folder, whole or not at all; return the address that it came from."""
        skill = _at_version(slug, candidate.version)
        data = self.web.get_json(skill.version_address(self.base))
        try:
            return write_version(skill, self.base, data, candidate.folder, self.web.get_file)
        except Failure as error:
            raise self.web.failure(str(error)) from None

    def _candidate(self, slug: str, skill: HubSkill) -> Candidate:
        name = skill.slug
        source = f"{REGISTRY}{slug}" if self.site == CLAWHUB else f"{REGISTRY}{self.site}/{name}"
        segment, address = name if is_name(name) else to_segment(name), skill.download_address(self.base)
        return Candidate(
            segment, "", "", skill.summary, version=skill.version, resolved=address, source=source
        )


@contextmanager
def open_registry(
    origin: Origin, folder: str, names: Sequence[str], report: Report
) -> Iterator[Download | None]:
    """Give the skills of a registry; None for an address at which there is none."""
    registry = _find_registry(Web(origin), is_registry=origin.is_registry)
    if registry is None:
        yield None
        return
    slugs = [origin.slug] if origin.is_registry else list(names or filter(None, [origin.ref]))
    ref = origin.ref if origin.is_registry else ""
    skills = {slug: registry.resolve(slug, ref, report) for slug in slugs} if slugs else registry.list()
    choose_by_name(origin, skills, ())
    candidates = {
        slug: replace(each, folder=os.path.join(folder, each.name)) for slug, each in skills.items()
    }
    slug_of = {candidate.name: slug for slug, candidate in candidates.items()}
    addresses: dict[str, str] = {}

    def complete(choice: Sequence[Candidate]) -> None:
        for candidate in choice:
            if not os.path.isdir(candidate.folder):
                addresses[candidate.folder] = registry.get(slug_of[candidate.name], candidate)

    yield Download(
        origin, folder, tuple(candidates.values()), "", registry.base, complete, addresses=addresses
    )


def _find_registry(web: Web, *, is_registry: bool) -> Registry | None:
    """Return the registry at the origin's address; an origin that `is_registry` needs no discovery."""
    url = web.origin.url
    for address in discovery_addresses(url):
        base = read_base(web.get_json(address), address)
        if base:
            parts = urlsplit(url)
            return Registry(web, f"{parts.scheme}://{parts.netloc}", base)
    return Registry(web, url, api_base(url)) if is_registry else None


def _at_version(slug: str, version: str = "", summary: str = "") -> HubSkill:
    """Return a skill by its slug, before which its owner may stand: `owner/slug`."""
    owner, _, name = slug.rpartition("/")
    return HubSkill(name, version, summary, owner)
