"""The skills of a registry that speaks the ClawHub v1 protocol."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import urlsplit

from skillc.errors import Diagnostic
from skillc.install.discover import choose_by_name
from skillc.install.origin import CLAWHUB, REGISTRY, Candidate, Download, Origin
from skillc.install.web import Web
from skillc.remotes import ClawHubRemote, HubSkill, api_base
from skillc.skills import is_name, to_segment

Report = Callable[[Diagnostic], None]


@contextmanager
def open_registry(
    origin: Origin, folder: str, names: Sequence[str], report: Report
) -> Iterator[Download | None]:
    """Give the skills of a registry; None for an address at which there is none."""
    web = Web(origin)
    remote = ClawHubRemote(web.session, report=report)
    with web.errors():
        base = remote.find_base()
    parts = urlsplit(origin.url)
    site = f"{parts.scheme}://{parts.netloc}" if base else origin.url
    if not base and not origin.is_registry:
        yield None
        return
    base = base or api_base(origin.url)
    slugs = [origin.slug] if origin.is_registry else list(names or filter(None, [origin.ref]))
    ref = origin.ref if origin.is_registry else ""
    with web.errors():
        if slugs:
            skills = {slug: remote.resolve(HubSkill.parse(slug), base, ref) for slug in slugs}
        else:
            listed = (each for each in remote.catalog().skills if each.slug and each.version)
            skills = {each.slug: replace(each, owner="") for each in listed}
    candidates = {slug: _candidate(slug, skill, site, base, folder) for slug, skill in skills.items()}
    choose_by_name(origin, candidates, ())
    slug_of = {candidate.name: slug for slug, candidate in candidates.items()}
    addresses: dict[str, str] = {}

    def complete(choice: Sequence[Candidate]) -> None:
        for candidate in choice:
            if not os.path.isdir(candidate.folder):
                skill = skills[slug_of[candidate.name]]
                with web.errors():
                    addresses[candidate.folder] = remote.fetch_version(skill, base, candidate.folder)

    yield Download(origin, folder, tuple(candidates.values()), "", base, complete, addresses=addresses)


def _candidate(slug: str, skill: HubSkill, site: str, base: str, folder: str) -> Candidate:
    name = skill.slug
    segment = name if is_name(name) else to_segment(name)
    return Candidate(
        segment,
        os.path.join(folder, segment),
        "",
        skill.summary,
        version=skill.version,
        resolved=skill.download_address(base),
        source=f"{REGISTRY}{slug}" if site == CLAWHUB else f"{REGISTRY}{site}/{name}",
    )
