"""The ClawHub v1 protocol for a client: addresses, the list of skills, and a version of one as a folder.

    /.well-known/clawhub.json                       {"apiBase": "https://…"}
    <apiBase>/api/v1/skills?limit=&cursor=          {"items": [{"slug", "summary", …}], "nextCursor": "…"}
    <apiBase>/api/v1/skills/<slug>                  {"skill", "latestVersion", "moderation"}
    <apiBase>/api/v1/skills/<slug>/versions/<v>     {"version": {"files": […], "fingerprint"}}
    <apiBase>/api/v1/download?slug=&version=        a zip

A version never changes; a tag names one. Files are verified where the registry says which a version has.
"""

from __future__ import annotations

import builtins
import re
import time
from collections.abc import Container, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import inf
from typing import Any
from urllib.parse import quote, urlencode, urljoin, urlsplit

from skillc.collation import sort_names
from skillc.errors import AuditBlocked, warning
from skillc.remotes.archive import MAX_PACKED, has_main_file, unpack_skill
from skillc.remotes.folders import write_folder
from skillc.remotes.http import Session
from skillc.remotes.protocol import (
    Answer,
    Failure,
    Listing,
    Omission,
    Remote,
    RemoteSkill,
    Report,
    check_digest,
    make_listing,
    table_of,
    text_of,
)
from skillc.skills import SkillId, list_files, to_segment
from skillc.spelling import near_miss
from skillc.startup import file_sha256_hex, sha256_hex
from skillc.text import cut, one_line, utf8_text

DISCOVERY = (".well-known/clawhub.json", ".well-known/clawdhub.json")
API = "api/v1"
PAGE = 200  # skills; the most that ClawHub gives at once
MAX_PAGES = 50  # of a list; the skills after them are found by name
MAX_SKILLS = PAGE * MAX_PAGES
MAX_LIST = 64 << 20  # bytes of all pages
MAX_ANSWER = 8 << 20  # bytes of a page, or of what is said about a version
MAX_DISCOVERY = 1 << 16
MAX_SLUG = 200
_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9][A-Za-z0-9_-]*)*")
_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,127}")
_NUMBER = re.compile(r"v?\d+\.\d+.*")  # what is taken for a version, and not for a tag
_INSIDE = re.compile(rf"/({'|'.join(map(re.escape, DISCOVERY))}|{API})$")


@dataclass(frozen=True, slots=True)
class HubSkill:
    """A skill at a version, as a list has it; `owner` is empty unless the list names one.

    `base` is the address of the API.
    """

    base: str
    slug: str
    version: str = ""
    summary: str = ""
    owner: str = ""

    @classmethod
    def parse(cls, name: str, base: str) -> HubSkill:
        """Return a skill by its slug, before which its owner may stand: `owner/slug`."""
        owner, _, slug = name.rpartition("/")
        return cls(base, slug, owner=owner)

    def label(self) -> str:
        return f"{self.owner}/{self.slug}" if self.owner else self.slug

    def address(self, path: str = "") -> str:
        """Return where the registry tells of the skill, or of something below it."""
        query = f"?{urlencode({'ownerHandle': self.owner})}" if self.owner else ""
        return f"{self.base}/skills/{quote(self.slug, safe='')}{path}{query}"

    def version_address(self) -> str:
        """Return where the registry tells of the version and its files."""
        return self.address(f"/versions/{quote(self.version, safe='')}")

    def download_address(self) -> str:
        words = {"slug": self.slug, "version": self.version}
        words |= {"ownerHandle": self.owner} if self.owner else {}
        return f"{self.base}/download?{urlencode(words)}"


class ClawHubRemote(Remote):
    """The skills of the registry at `session.address`, which may be the address of its API.

    `patience` is how many seconds a list may take as a whole.
    """

    def __init__(
        self, session: Session, *, patience: float = inf, report: Report = lambda diagnostic: None
    ) -> None:
        self.session = session
        self._patience = patience
        self._report = report
        self._base = ""  # of the API, as it was found last
        self._checked: set[str] = set()  # addresses of skills that their registry does not hold for malicious

    def list(self, last: Answer | None = None) -> Answer:
        """Return the whole list, page by page; what it was made from can be kept as JSON, for `read`."""
        end = time.monotonic() + self._patience
        try:
            return Answer(self.read(self._read_pages(end)))
        except Failure:
            if time.monotonic() < end:
                raise
        raise Failure(f"no whole list in {self._patience:g} s")

    def read(self, data: Any) -> Listing:
        """Return a list with the skills that can be fetched; the others are left out with the reason.

        A slug is an ID with dots for slashes. Raises KeyError or TypeError for what is none of ours.
        """
        base, is_cut = text_of(data["base"]), data["is_cut"] is True
        skills = [HubSkill(base, *map(text_of, words)) for words in data["skills"]]
        seen: set[SkillId] = set()

        def read() -> Iterator[RemoteSkill | Omission]:
            for skill in skills:
                skill_id = _to_id(skill.slug)
                problem = _find_problem(skill, skill_id, seen)
                if problem or skill_id is None:
                    yield Omission(cut(one_line(skill.slug), 80), "E011" if skill_id else "E010", problem)
                    continue
                seen.add(skill_id)
                yield to_skill(skill)
            if is_cut:
                message = f"it has more than the {len(skills)} skills that are listed; 'skc add' takes others"
                yield Omission("", "E200", message, "warning")

        return make_listing(read(), raw=data)

    def _read_pages(self, end: float) -> dict[str, Any]:
        """Return what the pages say, as JSON: the base of the API, and each skill as a list of texts."""
        session = copy(self.session)  # other threads use this one, which has more time
        if self._patience < inf:
            session.whole = self._patience
        base = self._default_base
        if session.address != base:  # else it is the address of the API itself
            base = self.find_base(session) or base
        skills: list[list[str]] = []
        cursors = [""]
        is_cut = False
        left = MAX_LIST
        while len(cursors) <= MAX_PAGES and len(skills) < MAX_SKILLS:
            if self._patience < inf:
                session.whole = max(end - time.monotonic(), 0.001)
            words = {"limit": str(PAGE)} | ({"cursor": cursors[-1]} if cursors[-1] else {})
            response = session.get_file(f"{base}/skills?{urlencode(words)}", MAX_ANSWER)
            left -= len(response.data)
            page = table_of(response.json())
            items = page.get("items")
            if not isinstance(items, builtins.list) or left < 0:
                what = "the list of skills is too long" if left < 0 else "the answer is no list of skills"
                raise Failure(what)
            skills += map(_read_item, items[:MAX_SKILLS])
            cursor = text_of(page.get("nextCursor"))
            if not cursor:
                break
            if cursor in cursors:
                raise Failure("the pages of the list lead in a circle")
            cursors.append(cursor)
        else:
            is_cut = True
        is_cut = is_cut or len(skills) > MAX_SKILLS
        return {"base": base, "is_cut": is_cut, "skills": skills[:MAX_SKILLS]}

    @property
    def _default_base(self) -> str:
        """The address of the API below that of a registry, which may be that of its discovery or its API."""
        return f"{_INSIDE.sub('', self.session.address.rstrip('/'))}/{API}"

    def find_base(self, session: Session | None = None) -> str:
        """Return where the host says that its API is; empty where it says nothing."""
        session = session or self.session
        parts = urlsplit(session.address)
        addresses = [f"{parts.scheme}://{parts.netloc}/{name}" for name in DISCOVERY]  # the likeliest first
        bases = (read_base(session.get_json(address, MAX_DISCOVERY), address) for address in addresses)
        self._base = next(filter(None, bases), "")
        return self._base

    def versions(self, name: str) -> Sequence[RemoteSkill]:
        """Return a skill at its latest version and those with a tag; a name is `slug` or `owner/slug`.

        Raises Failure where the registry has no such skill.
        """
        base = self._base or self.find_base() or self._default_base
        hub = HubSkill.parse(name, base)
        data = self._about(hub)
        fields = table_of(data.get("skill"))
        latest = text_of(table_of(data.get("latestVersion")).get("version"))
        tags = {"latest": latest} | {
            tag: text_of(table_of(value).get("version")) or text_of(value)
            for tag, value in table_of(fields.get("tags")).items()
        }
        numbers = dict.fromkeys(filter(None, (latest, *tags.values())))
        skills = [replace(hub, version=number, summary=read_summary(fields)) for number in numbers]
        return [
            to_skill(skill, tuple(tag for tag, number in tags.items() if number == skill.version))
            for skill in skills
        ]

    def resolve(self, name: str, ref: str) -> RemoteSkill:
        """Return a skill at a version, at a tag, or without either at its latest version; raises Failure."""
        versions = self.versions(name)
        for skill in versions:
            if (ref or "latest") in skill.tags:
                return skill
        if versions and _NUMBER.fullmatch(ref):  # the registry names those with a tag alone
            return to_skill(replace(versions[0].entry, version=ref.removeprefix("v")))
        what = f"no version or tag '{ref}'" if ref else "no version that can be downloaded"
        near = near_miss(ref, dict.fromkeys(["latest", *(tag for each in versions for tag in each.tags)]))
        raise Failure(f"'{HubSkill.parse(name, '').label()}' has {what} in the registry{near}")

    def fetch(self, skill: RemoteSkill, folder: str) -> str:
        """Write a version into a new folder; its files are compared with what the registry says of them."""
        hub: HubSkill = skill.entry
        if hub.address() not in self._checked:
            self._about(hub)
        data = self.session.get_json(hub.version_address(), MAX_ANSWER)
        version = table_of(table_of(data).get("version"))
        if not version:
            raise Failure(f"'{hub.slug}' has no version '{hub.version}' in the registry")
        with write_folder(folder) as temporary:
            response = self.session.get_file(skill.address, MAX_PACKED)
            unpack_skill(response.data, temporary, skill.address)
            if not has_main_file(temporary):
                raise Failure(f"'{hub.slug}' has no SKILL.md")
            _verify(hub.slug, temporary, version)
        return response.address

    def _about(self, skill: HubSkill) -> Mapping[str, Any]:
        """Return what the registry tells of a skill; refuse what it holds for malicious (E084).

        A registry that is not sure is reported (W083). Raises Failure where it has no such skill.
        """
        address = skill.address()
        data = table_of(self.session.get_json(address, MAX_ANSWER))
        if not table_of(data.get("skill")):
            raise Failure(f"there is no skill '{skill.label()}' in the registry")
        moderation = table_of(data.get("moderation"))
        if moderation.get("isMalwareBlocked") is True or moderation.get("verdict") == "malicious":
            raise AuditBlocked(skill.label(), "its registry says that it is malicious")
        if moderation.get("isSuspicious") is True:
            reason = text_of(moderation.get("summary")) or "no reason given"
            self._report(warning("W083", skill.label(), reason))
        self._checked.add(address)
        return data


def read_base(data: Any, address: str) -> str:
    """Return the base of the API from the JSON of a discovery; empty if it says nothing."""
    base = text_of(table_of(data).get("apiBase")) or text_of(table_of(data).get("registry"))
    try:
        return f"{urljoin(urljoin(address, '/'), base).rstrip('/')}/{API}" if base else ""
    except ValueError:
        return ""


def _read_item(value: object) -> list[str]:
    item = table_of(value)
    version = text_of(table_of(item.get("latestVersion")).get("version"))
    return [text_of(item.get("slug")), version, read_summary(item), text_of(item.get("ownerHandle"))]


def read_summary(item: Mapping[str, Any]) -> str:
    return text_of(item.get("summary")) or text_of(item.get("displayName"))


def to_skill(skill: HubSkill, tags: tuple[str, ...] = ()) -> RemoteSkill:
    """Return a skill at its version as one of a remote."""
    return RemoteSkill(
        _to_id(skill.slug) or SkillId(to_segment(skill.slug)),
        utf8_text(skill.summary, "replace"),
        sha256_hex(f"{skill.owner}/{skill.slug}@{skill.version}".encode())[:32],
        entry=skill,
        version=skill.version,
        address=skill.download_address(),
        tags=tags,
    )


def _find_problem(skill: HubSkill, skill_id: SkillId | None, seen: Container[SkillId]) -> str:
    if skill_id is None:
        return "its slug can't be an ID"
    if skill_id in seen:
        return "listed twice; the first counts"
    return "" if _VERSION.fullmatch(skill.version) else "it has no version that can be downloaded"


def _to_id(slug: str) -> SkillId | None:
    """Return the ID for a slug; None for one that no registry should have."""
    if len(slug) > MAX_SLUG or not _SLUG.fullmatch(slug):
        return None
    return SkillId("/".join(map(to_segment, slug.split("."))))


def _verify(skill: str, folder: str, version: Mapping[str, Any]) -> None:
    """Raise WrongDigest (E081) where files are not those that the registry names for the version."""
    digests: dict[str, str] = {}
    for file in list_files(folder, hidden=True):
        with open(file.path, "rb") as content:
            digests[file.name] = file_sha256_hex(content, file.size)
    files = version.get("files")
    for item in map(table_of, files if isinstance(files, list) else ()):
        path, digest = text_of(item.get("path")), text_of(item.get("sha256")).lower()
        if path and digest:
            check_digest(skill, path, digest, digests.get(path, "missing"))
    fingerprint = text_of(version.get("fingerprint")).removeprefix("sha256:").lower()
    if fingerprint:
        check_digest(skill, "the whole archive", fingerprint, fingerprint_of(digests))


def fingerprint_of(digests: Mapping[str, str]) -> str:
    """Return ClawHub's fingerprint: over the lines `path:sha256` of all files but the hidden ones."""
    names = [name for name in digests if not any(word.startswith(".") for word in name.split("/"))]
    lines = [f"{name}:{digests[name]}" for name in sort_names(names)]
    return sha256_hex("\n".join(lines).encode())
