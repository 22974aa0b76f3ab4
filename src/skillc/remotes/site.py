"""The index of a site's skills, by well-known discovery: version 0.2.0 and the form before it.

    /.well-known/agent-skills/index.json    {"$schema": …, "skills": [{"name", "type", "url", "digest"}]}
    /.well-known/skills/index.json          {"skills": [{"name", "description", "files": ["SKILL.md"]}]}

A digest is verified before a file is written.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin, urlsplit

from skillc import atomic
from skillc.errors import WrongDigest
from skillc.remotes.addresses import is_plain
from skillc.remotes.archive import MAX_PACKED, has_main_file, split_name, unpack_data, unwrap
from skillc.remotes.hosts import address_after
from skillc.remotes.protocol import Failure
from skillc.skills import is_name
from skillc.startup import sha256_hex

if TYPE_CHECKING:
    from skillc.remotes.session import Response

    Get = Callable[[str, int], Response]  # of an address, at most so many bytes

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
PLACES = (".well-known/agent-skills", ".well-known/skills")
MAX_SKILLS = 20_000
MAX_SKILL_FILE = 16 << 20  # bytes of a SKILL.md
MAX_FILES = 512  # of a skill in the older form
MAX_BYTES = 64 << 20  # of all of them


@dataclass(frozen=True, slots=True)
class Entry:
    """A skill in an index: `kind` is `skill-md`, `archive`, or `files` in the older form."""

    name: str
    description: str
    kind: str
    url: str
    digest: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SiteIndex:
    """What an index has: its skills, and how many of its entries break the format."""

    entries: tuple[Entry, ...] = ()
    omissions: int = 0
    other_schema: object = None  # of a version that is not known; there are no entries then


# What may follow the address of a site: its index, and the marketplace that a registry has beside it.
_INSIDE = re.compile(r"/(\.well-known/.*|\.(claude-plugin|agents/plugins)/marketplace\.json)$")


def index_addresses(url: str) -> list[str]:
    """Return where the index of a site may be, the likeliest first; an address of an index is its own."""
    parts = urlsplit(url)
    root = f"{parts.scheme}://{parts.netloc}"
    base = f"{root}{parts.path.rstrip('/')}"
    if parts.path.endswith("/index.json"):
        return [url]
    bases = dict.fromkeys((_INSIDE.sub("", base), root))
    return [f"{place}/{name}/index.json" for name in PLACES for place in bases]


def index_beside(url: str) -> str:
    """Return where the index is whose site has a marketplace at this address; empty for any other address."""
    base = _INSIDE.sub("", url.partition("?")[0])
    return f"{base}/{PLACES[0]}/index.json" if url.endswith("/marketplace.json") and base != url else ""


def read_index(data: Any, address: str) -> SiteIndex | None:
    """Return what the JSON at an address says; None if it is no index."""
    if not isinstance(data, dict) or not isinstance(data.get("skills"), list):
        return None
    schema = data.get("$schema")
    if schema is not None and schema != SCHEMA:
        return SiteIndex(other_schema=schema)
    read = _read_file_entry if schema is None else _read_entry
    items = data["skills"]
    entries = tuple(entry for item in items[:MAX_SKILLS] if (entry := read(item, address)) is not None)
    return SiteIndex(entries, len(items) - len(entries))


def _read_entry(item: Any, index: str) -> Entry | None:
    """Return an entry of version 0.2.0; None for one that breaks the format."""
    if not isinstance(item, dict):
        return None
    name, kind, url, digest = (item.get(key) for key in ("name", "type", "url", "digest"))
    if not isinstance(name, str) or not is_name(name) or kind not in ("skill-md", "archive"):
        return None
    if not isinstance(url, str) or not is_plain(url) or not isinstance(digest, str):
        return None
    if not re.fullmatch("sha256:[0-9a-f]{64}", digest):
        return None
    try:
        address = urljoin(index, url)
        urlsplit(address).port  # noqa: B018 - raises for an address that is none
    except ValueError:
        return None
    return Entry(name, _text(item.get("description")), str(kind), address, digest)


def _read_file_entry(item: Any, index: str) -> Entry | None:
    """Return an entry of the older form; None for one that breaks the format."""
    name, files = (item.get("name"), item.get("files")) if isinstance(item, dict) else (None, None)
    if not isinstance(name, str) or not is_name(name) or not isinstance(files, list):
        return None
    names = [file for file in files if isinstance(file, str)]
    if (
        len(names) != len(files)
        or "skill.md" not in [file.lower() for file in names]
        or len(names) > MAX_FILES
    ):
        return None
    return Entry(
        name, _text(item.get("description")), "files", urljoin(index, f"{name}/"), files=tuple(names)
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def write_entry(entry: Entry, folder: str, get: Get) -> str:
    """Download a skill into its folder, whole or not at all; return the address that it came from.

    Raises what `get` raises, WrongDigest (E081), ArchiveRefused (E083), and Failure without a SKILL.md.
    """
    temporary = atomic.temporary_path(folder)
    address = entry.url
    try:
        if entry.kind == "files":
            _write_files(temporary, _get_files(entry, get))
        else:
            limit = MAX_SKILL_FILE if entry.kind == "skill-md" else MAX_PACKED
            response = get(entry.url, limit)
            data, address = response.data, address_after(entry.url, response.url)
            check_digest(entry.name, entry.url, data, entry.digest)
            if entry.kind == "skill-md":
                _write_files(temporary, [("SKILL.md", data)])
            else:
                unpack_data(data, temporary, entry.url)
                unwrap(temporary)
            if not has_main_file(temporary):
                raise Failure(f"'{entry.url}' has no SKILL.md")
        atomic.replace(temporary, folder)
    finally:
        atomic.discard(temporary)
    return address


def _get_files(entry: Entry, get: Get) -> Iterable[tuple[str, bytes]]:
    left = MAX_BYTES
    for name in entry.files:
        words = split_name(name, entry.url)
        data = get(urljoin(entry.url, quote("/".join(words))), left).data
        left -= len(data)
        is_main = len(words) == 1 and words[0].lower() == "skill.md"
        yield "SKILL.md" if is_main else "/".join(words), data


def _write_files(folder: str, files: Iterable[tuple[str, bytes]]) -> None:
    for name, data in files:
        place = os.path.join(folder, *name.split("/"))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "xb") as file:
            file.write(data)


def check_digest(skill: str, file: str, data: bytes, digest: str) -> None:
    """Raise WrongDigest (E081) for a file that has another digest."""
    actual = f"sha256:{sha256_hex(data)}"
    if actual != digest:
        raise WrongDigest(skill, file, digest, actual)
