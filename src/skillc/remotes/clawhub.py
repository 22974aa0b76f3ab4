"""The ClawHub v1 protocol for a client: addresses, the list of skills, and a version of one as a folder.

    /.well-known/clawhub.json                       {"apiBase": "https://…"}
    <apiBase>/api/v1/skills?limit=&cursor=          {"items": [{"slug", "summary", …}], "nextCursor": "…"}
    <apiBase>/api/v1/skills/<slug>                  {"skill", "latestVersion", "moderation"}
    <apiBase>/api/v1/skills/<slug>/versions/<v>     {"version": {"files": […], "fingerprint"}}
    <apiBase>/api/v1/download?slug=&version=        a zip

A version never changes; a tag names one. Files are verified where the registry says which a version has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

from skillc import atomic
from skillc.collation import sort_names
from skillc.errors import AuditBlocked, Diagnostic, WrongDigest, warning
from skillc.remotes.archive import MAX_PACKED, has_main_file, unpack_data, unwrap
from skillc.remotes.hosts import address_after
from skillc.remotes.protocol import Failure
from skillc.skills import list_files
from skillc.startup import file_sha256_hex, sha256_hex

if TYPE_CHECKING:
    from skillc.remotes.session import Response

    Get = Callable[[str, int], Response]  # of an address, at most so many bytes

DISCOVERY = (".well-known/clawhub.json", ".well-known/clawdhub.json")
API = "api/v1"
PAGE = 200  # skills; the most that ClawHub gives at once
MAX_PAGES = 50  # of a list; the skills after them are found by name
MAX_SKILLS = PAGE * MAX_PAGES
_INSIDE = re.compile(rf"/({'|'.join(map(re.escape, DISCOVERY))}|{API})$")

Report = Callable[[Diagnostic], None]


@dataclass(frozen=True, slots=True)
class HubSkill:
    """A skill at a version, as a list has it; `owner` is empty unless the list names one."""

    slug: str
    version: str
    summary: str = ""
    owner: str = ""

    def download_address(self, base: str) -> str:
        words = {"slug": self.slug, "version": self.version} | self._owner()
        return f"{base}/download?{urlencode(words)}"

    def address(self, base: str) -> str:
        """Return where the registry tells of the skill."""
        return f"{base}/skills/{quote(self.slug, safe='')}{self._query()}"

    def version_address(self, base: str) -> str:
        """Return where the registry tells of the version and its files."""
        path = f"{quote(self.slug, safe='')}/versions/{quote(self.version, safe='')}"
        return f"{base}/skills/{path}{self._query()}"

    def _query(self) -> str:
        return f"?{urlencode(self._owner())}" if self.owner else ""

    def _owner(self) -> dict[str, str]:
        return {"ownerHandle": self.owner} if self.owner else {}


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list: skills, of which some may lack what is needed, and where the next page is."""

    skills: tuple[HubSkill, ...] = ()
    cursor: str = ""


def registry_root(url: str) -> str:
    """Return the address of a registry, from that of its discovery or of its API, too."""
    return _INSIDE.sub("", url.rstrip("/"))


def discovery_addresses(url: str) -> list[str]:
    """Return where a host says where its API is, the likeliest first."""
    parts = urlsplit(url)
    return [f"{parts.scheme}://{parts.netloc}/{name}" for name in DISCOVERY]


def read_base(data: Any, address: str) -> str:
    """Return the base of the API from the JSON of a discovery; empty if it says nothing."""
    base = text_of(table_of(data).get("apiBase")) or text_of(table_of(data).get("registry"))
    try:
        return api_base(urljoin(urljoin(address, "/"), base)) if base else ""
    except ValueError:
        return ""


def api_base(registry: str) -> str:
    return f"{registry.rstrip('/')}/{API}"


def list_address(base: str, cursor: str = "") -> str:
    words = {"limit": str(PAGE)} | ({"cursor": cursor} if cursor else {})
    return f"{base}/skills?{urlencode(words)}"


def read_page(data: Any) -> Page | None:
    """Return what the JSON of a page says; None if it is none."""
    items = table_of(data).get("items")
    if not isinstance(items, list):
        return None
    return Page(tuple(map(_read_item, items[:MAX_SKILLS])), text_of(data.get("nextCursor")))


def _read_item(value: object) -> HubSkill:
    item = table_of(value)
    version = text_of(table_of(item.get("latestVersion")).get("version"))
    return HubSkill(text_of(item.get("slug")), version, read_summary(item), text_of(item.get("ownerHandle")))


def read_summary(item: Mapping[str, Any]) -> str:
    return text_of(item.get("summary")) or text_of(item.get("displayName"))


def check_moderation(slug: str, data: Any, report: Report) -> None:
    """Refuse what the registry itself holds for malicious; warn of what it is not sure of."""
    moderation = table_of(table_of(data).get("moderation"))
    if moderation.get("isMalwareBlocked") is True or moderation.get("verdict") == "malicious":
        raise AuditBlocked(slug, "its registry says that it is malicious")
    if moderation.get("isSuspicious") is True:
        report(warning("W083", slug, text_of(moderation.get("summary")) or "no reason given"))


def write_version(skill: HubSkill, base: str, data: Any, folder: str, get: Get) -> str:
    """Download a version into its folder, whole or not at all; return the address that it came from.

    `data` is what the registry says of the version. Raises what `get` raises, WrongDigest (E081),
    ArchiveRefused (E083), and Failure without a SKILL.md.
    """
    version, address = table_of(table_of(data).get("version")), skill.download_address(base)
    if not version:
        raise Failure(f"'{skill.slug}' has no version '{skill.version}' in the registry")
    temporary = atomic.temporary_path(folder)
    try:
        response = get(address, MAX_PACKED)
        unpack_data(response.data, temporary, address)
        unwrap(temporary)
        if not has_main_file(temporary):
            raise Failure(f"'{skill.slug}' has no SKILL.md")
        _verify(skill.slug, temporary, version)
        atomic.replace(temporary, folder)
    finally:
        atomic.discard(temporary)
    return address_after(address, response.url)


def _verify(skill: str, folder: str, version: Mapping[str, Any]) -> None:
    """Raise WrongDigest (E081) where files are not those that the registry names for the version."""
    digests: dict[str, str] = {}
    for file in list_files(folder, hidden=True):
        with open(file.path, "rb") as content:
            digests[file.name] = file_sha256_hex(content, file.size)
    files = version.get("files")
    for item in map(table_of, files if isinstance(files, list) else ()):
        path, digest = text_of(item.get("path")), text_of(item.get("sha256")).lower()
        if path and digest and digests.get(path) != digest:
            raise WrongDigest(skill, path, digest, digests.get(path, "missing"))
    fingerprint = text_of(version.get("fingerprint")).removeprefix("sha256:").lower()
    if fingerprint and fingerprint != fingerprint_of(digests):
        raise WrongDigest(skill, "the whole archive", fingerprint, fingerprint_of(digests))


def fingerprint_of(digests: Mapping[str, str]) -> str:
    """Return ClawHub's fingerprint: over the lines `path:sha256` of all files but the hidden ones."""
    names = [name for name in digests if not any(word.startswith(".") for word in name.split("/"))]
    lines = [f"{name}:{digests[name]}" for name in sort_names(names)]
    return sha256_hex("\n".join(lines).encode())


def table_of(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""
