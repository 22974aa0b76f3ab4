"""The skills of a registry that speaks the ClawHub v1 protocol.

    /.well-known/clawhub.json                       {"apiBase": "https://…"}
    <apiBase>/api/v1/skills[/<slug>[/versions/<version>]]
    <apiBase>/api/v1/download?slug=&version=        a zip

A version never changes; a tag names one. Files are verified where the registry says which a version has.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

from skillc import atomic
from skillc.errors import AuditBlocked, Diagnostic, WrongDigest, warning
from skillc.install.collation import sort_names
from skillc.install.discover import choose_by_name
from skillc.install.origin import CLAWHUB, REGISTRY, Candidate, Download, Origin
from skillc.install.web import Web
from skillc.library import MAX_PACKED, address_after, is_skill, unpack_data, unwrap
from skillc.skills import is_name, list_files, to_segment
from skillc.startup import file_sha256_hex, sha256_hex

DISCOVERY = (".well-known/clawhub.json", ".well-known/clawdhub.json")
API = "api/v1"
PAGE = 100
MAX_PAGES = 50  # of a list; the skills after them are found by name
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
            page = _table(self._get("skills", limit=str(PAGE), cursor=cursor))
            items = page.get("items")
            for item in map(_table, items if isinstance(items, list) else ()):
                slug, version = (
                    _text(item.get("slug")),
                    _text(_table(item.get("latestVersion")).get("version")),
                )
                if slug and version:
                    skills[slug] = self._candidate(slug, version, item)
            cursor = _text(page.get("nextCursor"))
            if not cursor:
                break
        return skills

    def resolve(self, slug: str, ref: str, report: Report) -> Candidate:
        """Return a skill at a version, at a tag, or without either at its latest version."""
        owner, name = _split_owner(slug)
        data = _table(self._get(f"skills/{quote(name, safe='')}", ownerHandle=owner))
        skill = _table(data.get("skill"))
        if not skill:
            raise self.web.failure(f"there is no skill '{slug}' in the registry")
        _check_moderation(slug, _table(data.get("moderation")), report)
        tag = _table(skill.get("tags")).get(ref)
        version = _text(_table(tag).get("version")) or _text(tag)
        if not version and _VERSION.fullmatch(ref):
            version = ref.removeprefix("v")
        if not version and ref in ("", "latest"):
            version = _text(_table(data.get("latestVersion")).get("version"))
        if not version:
            what = f"no version or tag '{ref}'" if ref else "no version that can be downloaded"
            raise self.web.failure(f"'{slug}' has {what} in the registry")
        return self._candidate(slug, version, skill)

    def get(self, slug: str, candidate: Candidate) -> str:
        """Download a version into its folder, whole or not at all; return the address that it came from."""
        owner, name = _split_owner(slug)
        path = f"skills/{quote(name, safe='')}/versions/{quote(candidate.version, safe='')}"
        version = _table(_table(self._get(path, ownerHandle=owner)).get("version"))
        if not version:
            raise self.web.failure(f"'{slug}' has no version '{candidate.version}' in the registry")
        temporary = atomic.temporary_path(candidate.folder)
        try:
            response = self.web.get_file(candidate.resolved, MAX_PACKED)
            unpack_data(response.data, temporary, candidate.resolved)
            unwrap(temporary)
            if not is_skill(temporary):
                raise self.web.failure(f"'{slug}' has no SKILL.md")
            _verify(candidate.name, temporary, version)
            os.rename(temporary, candidate.folder)
        finally:
            atomic.discard(temporary)
        return address_after(candidate.resolved, response.url)

    def _candidate(self, slug: str, version: str, item: Mapping[str, Any]) -> Candidate:
        owner, name = _split_owner(slug)
        words = {"slug": name, "version": version} | ({"ownerHandle": owner} if owner else {})
        summary = _text(item.get("summary")) or _text(item.get("displayName"))
        source = f"{REGISTRY}{slug}" if self.site == CLAWHUB else f"{REGISTRY}{self.site}/{name}"
        address = f"{self.base}/download?{urlencode(words)}"
        segment = name if is_name(name) else to_segment(name)
        return Candidate(segment, "", "", summary, version=version, resolved=address, source=source)

    def _get(self, path: str, **query: str) -> Any:
        words = {key: text for key, text in query.items() if text}
        return self.web.get_json(f"{self.base}/{path}{f'?{urlencode(words)}' if words else ''}")


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
    parts = urlsplit(web.origin.url)
    root = f"{parts.scheme}://{parts.netloc}"
    for name in DISCOVERY:
        data = _table(web.get_json(f"{root}/{name}"))
        base = _text(data.get("apiBase")) or _text(data.get("registry"))
        if base:
            return Registry(web, root, f"{urljoin(f'{root}/', base).rstrip('/')}/{API}")
    return Registry(web, web.origin.url, f"{web.origin.url.rstrip('/')}/{API}") if is_registry else None


def _check_moderation(slug: str, moderation: Mapping[str, Any], report: Report) -> None:
    """Refuse what the registry itself holds for malicious; warn of what it is not sure of."""
    if moderation.get("isMalwareBlocked") is True or moderation.get("verdict") == "malicious":
        raise AuditBlocked(slug, "its registry says that it is malicious")
    if moderation.get("isSuspicious") is True:
        report(warning("W083", slug, _text(moderation.get("summary")) or "no reason given"))


def _verify(skill: str, folder: str, version: Mapping[str, Any]) -> None:
    """Raise WrongDigest (E081) where files are not those that the registry names for the version."""
    digests: dict[str, str] = {}
    for file in list_files(folder, hidden=True):
        with open(file.path, "rb") as content:
            digests[file.name] = file_sha256_hex(content, file.size)
    files = version.get("files")
    for item in map(_table, files if isinstance(files, list) else ()):
        path, digest = _text(item.get("path")), _text(item.get("sha256")).lower()
        if path and digest and digests.get(path) != digest:
            raise WrongDigest(skill, path, digest, digests.get(path, "missing"))
    fingerprint = _text(version.get("fingerprint")).removeprefix("sha256:").lower()
    if fingerprint and fingerprint != fingerprint_of(digests):
        raise WrongDigest(skill, "the whole archive", fingerprint, fingerprint_of(digests))


def fingerprint_of(digests: Mapping[str, str]) -> str:
    """Return ClawHub's fingerprint: over the lines `path:sha256` of all files but the hidden ones."""
    names = [name for name in digests if not any(word.startswith(".") for word in name.split("/"))]
    lines = [f"{name}:{digests[name]}" for name in sort_names(names)]
    return sha256_hex("\n".join(lines).encode())


def _split_owner(slug: str) -> tuple[str, str]:
    owner, _, name = slug.rpartition("/")
    return owner, name


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
