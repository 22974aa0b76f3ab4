"""A web site with an index of skills, by well-known discovery: version 0.2.0 and the form before it.

    /.well-known/agent-skills/index.json    {"$schema": …, "skills": [{"name", "type", "url", "digest"}]}
    /.well-known/skills/index.json          {"skills": [{"name", "description", "files": ["SKILL.md"]}]}

The index is read first, and of the skills only those that are wanted. A digest is verified before a file is
written; in the older form there are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

from skillc.errors import warning
from skillc.paths import MAX_SKILL_FILE
from skillc.remotes.archive import MAX_PACKED, has_main_file, split_name, unpack_skill
from skillc.remotes.folders import write_folder
from skillc.remotes.http import JSON, Session, is_plain, read_json
from skillc.remotes.protocol import (
    Absent,
    Answer,
    Failure,
    Omission,
    Remote,
    RemoteSkill,
    Report,
    check_digest,
    digest_of,
    make_listing,
    text_of,
)
from skillc.skills import SkillId, is_name, write_file
from skillc.text import count_of, utf8_text

SCHEMA = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
PLACES = (".well-known/agent-skills", ".well-known/skills")
MAX_INDEX = 16 << 20  # bytes
MAX_SKILLS = 20_000
MAX_FILES = 512  # of a skill in the older form
MAX_BYTES = 64 << 20  # of all of them


@dataclass(frozen=True, slots=True)
class SiteIndex:
    """What an index has: its skills, and how many of its entries break the format.

    The entry of a skill is its type, `skill-md` or `archive`, or in the older form the names of its files.
    """

    skills: tuple[RemoteSkill, ...] = ()
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


def has_index_beside(session: Session, url: str) -> bool:
    """Return whether there is an index of skills beside the marketplace at an address."""
    base = _INSIDE.sub("", url.partition("?")[0])
    if not url.endswith("/marketplace.json") or base == url:
        return False
    address = f"{base}/{PLACES[0]}/index.json"
    index = read_index(session.get_json(address, MAX_INDEX), address)
    return index is not None and index.other_schema is None


def read_index(data: Any, address: str) -> SiteIndex | None:
    """Return what the JSON at an address says; None if it is no index."""
    if not isinstance(data, dict) or not isinstance(data.get("skills"), list):
        return None
    schema = data.get("$schema")
    if schema is not None and schema != SCHEMA:
        return SiteIndex(other_schema=schema)
    read = _read_file_entry if schema is None else _read_entry
    items = data["skills"]
    skills = tuple(skill for item in items[:MAX_SKILLS] if (skill := read(item, address)) is not None)
    return SiteIndex(skills, len(items) - len(skills))


def _read_entry(item: Any, index: str) -> RemoteSkill | None:
    """Return a skill of version 0.2.0; None for an entry that breaks the format."""
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
    key = digest.partition(":")[2]
    return RemoteSkill(SkillId(name), _describe(item), key, entry=str(kind), digest=digest, address=address)


def _read_file_entry(item: Any, index: str) -> RemoteSkill | None:
    """Return a skill of the older form; None for an entry that breaks the format."""
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
    return RemoteSkill(SkillId(name), _describe(item), entry=tuple(names), address=urljoin(index, f"{name}/"))


def _describe(item: dict[str, Any]) -> str:
    return utf8_text(text_of(item.get("description")), "replace")


class SiteRemote(Remote):
    """The skills of the site at `session.address`, which may be the address of its index.

    `report` gets a warning of an index of another version (W082), and of one with odd entries (W080).
    """

    def __init__(self, session: Session, *, report: Report = lambda diagnostic: None) -> None:
        self.session = session
        self._report = report
        self._address = ""  # of the index that was found last

    def list(self, last: Answer | None = None) -> Answer:
        """Return the skills of the likeliest index; raises Absent where there is none."""
        for address in dict.fromkeys((self._address, *index_addresses(self.session.address))):
            if not address:
                continue
            etag = last.etag if last and address == self._address else ""
            response = self.session.get(address, MAX_INDEX, JSON, etag=etag)
            if response.status == 304 and last is not None and etag:
                return last
            index = read_index(read_json(response, address), address)
            if index is not None and index.other_schema is not None:
                self._report(warning("W082", address, index.other_schema))
            elif index is not None:
                if index.omissions:
                    entries = count_of(index.omissions, "entry that breaks", "entries that break")
                    self._report(warning("W080", address, f"{entries} the format"))
                self._address = address
                skipped = max(index.omissions - 1, 0)
                return Answer(make_listing(_skills(index, address), skipped), response.etag)
        reason = "there is no index of skills (.well-known/agent-skills/index.json)"
        if self.session.address.endswith("/marketplace.json"):
            reason += "; of a marketplace without one, add the git repositories that it names"
        raise Absent(reason)

    def fetch(self, skill: RemoteSkill, folder: str) -> str:
        url, is_file = skill.address, skill.entry == "skill-md"
        with write_folder(folder) as temporary:
            if isinstance(skill.entry, tuple):
                for path, data in self._get_files(url, skill.entry):
                    write_file(temporary, path, data)
                return url
            response = self.session.get_file(url, MAX_SKILL_FILE if is_file else MAX_PACKED)
            check_digest(skill.id, url, skill.digest, digest_of(response.data))
            if is_file:
                write_file(temporary, "SKILL.md", response.data)
            else:
                unpack_skill(response.data, temporary, url)
            if not has_main_file(temporary):
                raise Failure(f"'{url}' has no SKILL.md")
        return response.address

    def _get_files(self, url: str, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        left = MAX_BYTES
        for name in names:
            words = split_name(name, url)
            data = self.session.get_file(urljoin(url, quote("/".join(words))), left).data
            left -= len(data)
            is_main = len(words) == 1 and words[0].lower() == "skill.md"
            yield "SKILL.md" if is_main else "/".join(words), data


def _skills(index: SiteIndex, address: str) -> Iterator[RemoteSkill | Omission]:
    if index.omissions:
        message = f"{count_of(index.omissions, 'entry', 'entries')} left out, not in the format of an index"
        yield Omission(address, "E010", message)
    seen: set[SkillId] = set()
    for skill in index.skills:
        if skill.id in seen:
            yield Omission(skill.id, "E011", "listed twice; the first counts")
        else:
            seen.add(skill.id)
            yield skill
