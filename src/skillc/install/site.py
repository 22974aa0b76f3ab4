"""The skills of a web site, by well-known discovery: version 0.2.0 and the form before it.

    /.well-known/agent-skills/index.json    {"$schema": …, "skills": [{"name", "type", "url", "digest"}]}
    /.well-known/skills/index.json          {"skills": [{"name", "description", "files": ["SKILL.md"]}]}

The index is read first, and of the skills only those that are wanted. A digest is verified before a file is
written.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

from skillc import atomic
from skillc.errors import Diagnostic, WrongDigest, warning
from skillc.install.archive import MAX_PACKED, split_name, unpack_data, unwrap
from skillc.install.discover import choose_by_name
from skillc.install.origin import Candidate, Download, Origin
from skillc.install.web import Web, address_after
from skillc.library import is_skill
from skillc.skills import is_name
from skillc.startup import sha256_hex

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
PLACES = (".well-known/agent-skills", ".well-known/skills")
MAX_SKILLS = 20_000
MAX_SKILL_FILE = 16 << 20  # bytes of a SKILL.md
MAX_FILES = 512  # of a skill in the older form
MAX_BYTES = 64 << 20  # of all of them

Report = Callable[[Diagnostic], None]


@dataclass(frozen=True, slots=True)
class Entry:
    """A skill in an index: `kind` is `skill-md`, `archive`, or `files` in the older form."""

    name: str
    description: str
    kind: str
    url: str
    digest: str = ""
    files: tuple[str, ...] = ()


@contextmanager
def open_site(origin: Origin, folder: str, names: Sequence[str], report: Report) -> Iterator[Download | None]:
    """Give the skills of a site; None where it has no index."""
    web = Web(origin)
    index, entries = _find_index(web, report)
    if not index:
        yield None
        return
    choice = choose_by_name(
        origin, {e.name: e for e in entries}, names or ([origin.ref] if origin.ref else [])
    )
    by_name = {entry.name: entry for entry in choice}
    addresses: dict[str, str] = {}

    def complete(candidates: Sequence[Candidate]) -> None:
        for candidate in candidates:
            if not os.path.isdir(candidate.folder):
                addresses[candidate.folder] = _get(web, by_name[candidate.name], candidate.folder)

    candidates = [
        Candidate(e.name, os.path.join(folder, e.name), "", e.description, digest=e.digest, resolved=e.url)
        for e in choice
    ]
    yield Download(
        replace(origin, ref=""), folder, tuple(candidates), "", index, complete, addresses=addresses
    )


def _find_index(web: Web, report: Report) -> tuple[str, list[Entry]]:
    """Return the address of the index and its entries; an empty address where there is none."""
    parts = urlsplit(web.origin.url)
    root = f"{parts.scheme}://{parts.netloc}"
    base = f"{root}{parts.path.rstrip('/')}"
    if parts.path.endswith("/index.json"):
        addresses = [web.origin.url]
    else:
        bases = dict.fromkeys((re.sub(r"/\.well-known/.*$", "", base), root))
        addresses = [f"{place}/{name}/index.json" for name in PLACES for place in bases]
    for address in addresses:
        data = web.get_json(address)
        if not isinstance(data, dict) or not isinstance(data.get("skills"), list):
            continue
        schema = data.get("$schema")
        if schema is not None and schema != SCHEMA:
            report(warning("W082", address, schema))
            continue
        read = _read_file_entry if schema is None else _read_entry
        entries = [
            entry for item in data["skills"][:MAX_SKILLS] if (entry := read(item, address)) is not None
        ]
        omissions = len(data["skills"]) - len(entries)
        if omissions:
            report(warning("W080", address, f"{omissions} entries that break the format"))
        return address, entries
    return "", []


def _read_entry(item: Any, index: str) -> Entry | None:
    """Return an entry of version 0.2.0; None for one that breaks the format."""
    if not isinstance(item, dict):
        return None
    name, kind, url, digest = (item.get(key) for key in ("name", "type", "url", "digest"))
    if not isinstance(name, str) or not is_name(name) or kind not in ("skill-md", "archive"):
        return None
    if not isinstance(url, str) or not url or not isinstance(digest, str):
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


def _get(web: Web, entry: Entry, folder: str) -> str:
    """Download a skill into its folder, whole or not at all; return the address that it came from."""
    temporary = atomic.temporary_path(folder)
    address = entry.url
    try:
        if entry.kind == "files":
            _write_files(temporary, _get_files(web, entry))
        else:
            limit = MAX_SKILL_FILE if entry.kind == "skill-md" else MAX_PACKED
            response = web.get_file(entry.url, limit)
            data, address = response.data, address_after(entry.url, response)
            check_digest(entry.name, entry.url, data, entry.digest)
            if entry.kind == "skill-md":
                _write_files(temporary, [("SKILL.md", data)])
            else:
                unpack_data(data, temporary, entry.url)
                unwrap(temporary)
            if not is_skill(temporary):
                raise web.failure(f"'{entry.url}' has no SKILL.md")
        os.rename(temporary, folder)
    finally:
        atomic.discard(temporary)
    return address


def _get_files(web: Web, entry: Entry) -> Iterable[tuple[str, bytes]]:
    left = MAX_BYTES
    for name in entry.files:
        words = split_name(name, entry.url)
        address = urljoin(entry.url, quote("/".join(words)))
        data = web.get_file(address, left).data
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
