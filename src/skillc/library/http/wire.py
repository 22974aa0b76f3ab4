"""The wire format: the address, credentials as headers, and skills as JSON, checked and bounded."""

from __future__ import annotations

import base64
import json
import re
import string
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from skillc.errors import InvalidSkill, InvalidSkillId, SkillcError
from skillc.library.addresses import is_plain
from skillc.library.source import SkillDescriptor, SkillDocument, SkillScope, SourceDiagnostic, require_text
from skillc.paths import SKILL_FILES
from skillc.skills import SkillId, find_collision, is_portable
from skillc.startup import sha256_hex
from skillc.text import one_line, utf8_text

MAX_BODY = 1 << 20  # bytes of a skill's body
MAX_ID = 1024  # characters
MAX_DIAGNOSTICS = 100
MAX_FILES = 10_000  # of a skill
MAX_BYTES = 64 << 20  # of all files of a skill
_DIGEST = re.compile("sha256:[0-9a-f]{64}")
_HEADER_NAME = frozenset("!#$%&'*+-.^_`|~" + string.ascii_letters + string.digits)


class Failure(Exception):
    """A request without a usable response; the message says why, and holds nothing of the request."""


@dataclass(frozen=True, slots=True)
class BearerAuth:
    """Sends `Authorization: Bearer {token}`."""

    token: str = field(repr=False)

    def __post_init__(self) -> None:
        require_text(self.token, "the token")

    def header(self) -> tuple[str, str]:
        return "Authorization", f"Bearer {self.token.strip()}"


class StoredAuth(BearerAuth):
    """A token that `skc login` stored: it is not sent after a redirect, wherever that leads."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class HeaderAuth:
    """Sends `{name}: {value}`, such as `X-API-Key`."""

    name: str
    value: str = field(repr=False)

    def __post_init__(self) -> None:
        require_text(self.name, "the name of a header")
        require_text(self.value, "the value of a header")

    def header(self) -> tuple[str, str]:
        return self.name, self.value.strip()


def parse_base_url(base_url: str) -> tuple[str, dict[str, str], str | None]:
    """Return the API's root without a final slash, its user as a header, and what is wrong with it."""
    if not is_plain(base_url.strip()):
        return "", {}, "the URL is empty or has control characters"
    try:
        parts = urlsplit(base_url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "", {}, "the URL can't be read"
    place = (f"[{host}]" if ":" in host else host) + (f":{port}" if port else "")
    root = f"{parts.scheme}://{place}{parts.path.rstrip('/')}"
    if parts.scheme not in ("http", "https") or not host:
        return root, {}, "the URL must start with http:// or https:// and name a host"
    if parts.query or parts.fragment:
        return root, {}, "the URL must not have a query or a fragment"
    if parts.username is None:
        return root, {}, None
    user = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
    return root, {"Authorization": f"Basic {base64.b64encode(user).decode()}"}, None


def is_valid_header(name: str, value: str) -> bool:
    """Return whether a header can be sent; checked here, because httpx2's errors show its value."""
    clean = value == value.strip() and not any(char < " " or char == "\x7f" for char in value)
    return bool(name and value) and clean and _HEADER_NAME.issuperset(name)


@dataclass(slots=True)
class Listing:
    """The server's list: the usable skills by ID, and diagnostics about the entries that were skipped."""

    skills: dict[SkillId, SkillDescriptor] = field(default_factory=dict)
    diagnostics: list[SourceDiagnostic] = field(default_factory=list)
    skipped: int = 0


def read_listing(data: Any) -> Listing:
    """Read the list of skills; skip invalid entries with a diagnostic."""
    entries = data.get("skills") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        raise Failure("the answer has no list of 'skills'")
    listing = Listing()
    for number, entry in enumerate(entries):
        where = f"skills[{number}]"
        try:
            skill = _read_descriptor(entry, where)
            if skill.id in listing.skills:
                raise InvalidSkill(skill.id, "listed twice; the first counts")
            listing.skills[skill.id] = skill
        except SkillcError as error:
            listing.skipped += 1
            if listing.skipped <= MAX_DIAGNOSTICS:
                diagnostic = SourceDiagnostic(where, error.code, "error", one_line(error.message))
                listing.diagnostics.append(diagnostic)
    listing.skills = dict(sorted(listing.skills.items()))
    return listing


def read_document(skill_id: SkillId, data: Any) -> SkillDocument:
    try:
        descriptor = _read_descriptor(data, skill_id)
        body = _read_text(data, "body", skill_id)
    except SkillcError as error:
        raise Failure(one_line(error.message)) from None
    if descriptor.id != skill_id:
        raise Failure(f"asked for '{skill_id}', the answer is another skill")
    if len(body.encode()) > MAX_BODY:
        raise Failure(f"the body of '{skill_id}' is over {MAX_BODY >> 20} MiB")
    extensions = data.get("extensions")
    return SkillDocument(descriptor, body, extensions if isinstance(extensions, dict) else {})


def read_collections(data: Any) -> dict[str, str]:
    """Return the collections' descriptions by path; counts come from the list of skills."""
    entries = data.get("collections") if isinstance(data, dict) else None
    if not isinstance(entries, list):
        raise Failure("the answer has no list of 'collections'")
    descriptions: dict[str, str] = {}
    for entry in entries:
        fields = entry if isinstance(entry, dict) else {}
        path, text = fields.get("path"), fields.get("description")
        if isinstance(path, str) and isinstance(text, str) and text != f"{fields.get('count')} skills":
            descriptions.setdefault(path, utf8_text(text, "replace"))
    return descriptions


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file of a skill; its digest names its bytes."""

    path: str
    size: int
    digest: str
    is_executable: bool = False


@dataclass(frozen=True, slots=True)
class FileListing:
    """The files of a skill as a server lists them, checked; `version` is empty if it has none."""

    version: str
    files: tuple[FileEntry, ...]

    @property
    def key(self) -> str:
        """A name for this set of files."""
        lines = sorted(f"{file.path}\n{file.digest}\n{file.is_executable}" for file in self.files)
        return sha256_hex("\n".join(lines).encode())[:32]


def read_files(skill_id: SkillId, data: Any) -> FileListing:
    """Read the list of a skill's files; raise Failure for one that can't be stored as it says."""
    items = data.get("files") if isinstance(data, dict) else None
    if not isinstance(items, list):
        raise Failure(f"the answer has no list of the 'files' of '{skill_id}'")
    if len(items) > MAX_FILES:
        raise Failure(f"'{skill_id}' has {len(items)} files; {MAX_FILES} are the limit")
    files = tuple(_read_file(skill_id, item) for item in items)
    if sum(file.size for file in files) > MAX_BYTES:
        raise Failure(f"the files of '{skill_id}' are over {MAX_BYTES >> 20} MiB")
    names = [file.path for file in files]
    if len(set(names)) < len(names) or find_collision(names):
        raise Failure(f"'{skill_id}' names a file twice")
    if not any(name in SKILL_FILES for name in names):
        raise Failure(f"'{skill_id}' has no SKILL.md among its files")
    version = data.get("version")
    return FileListing(version if isinstance(version, str) else "", files)


def _read_file(skill_id: SkillId, item: Any) -> FileEntry:
    fields = item if isinstance(item, dict) else {}
    path, size, digest = fields.get("path"), fields.get("size"), fields.get("digest")
    if not isinstance(path, str) or not is_portable(path) or "/." in f"/{path}":
        raise Failure(f"a file of '{skill_id}' has a name that is hidden, or that not every system can hold")
    if type(size) is not int or not 0 <= size <= MAX_BYTES:
        raise Failure(f"a file of '{skill_id}' has no size, or one over {MAX_BYTES >> 20} MiB")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise Failure(f"a file of '{skill_id}' has no SHA-256 digest")
    return FileEntry(path, size, digest, fields.get("executable") is True)


def _read_descriptor(entry: Any, where: str) -> SkillDescriptor:
    """Read a skill; raise InvalidSkill or InvalidSkillId.

    The name is the ID's last segment, whatever the server calls it; an unknown scope is remote.
    """
    if not isinstance(entry, dict):
        raise InvalidSkill(where, "not an object")
    text = _read_text(entry, "id", where)
    if len(text) > MAX_ID:
        raise InvalidSkillId(f"{text[:64]}…")
    skill_id = SkillId(text)
    _read_text(entry, "name", where, skill_id.name)
    scope = _read_text(entry, "scope", where, "remote")
    capabilities = entry.get("requires_capabilities") or []
    if not isinstance(capabilities, list) or not all(isinstance(item, str) for item in capabilities):
        raise InvalidSkill(where, "'requires_capabilities' is no list of texts")
    return SkillDescriptor(
        skill_id,
        description=_read_text(entry, "description", where),
        scope=SkillScope(scope) if scope in list(SkillScope) else SkillScope.REMOTE,
        requires_capabilities=tuple(utf8_text(item, "replace") for item in capabilities),
        metadata=_read_metadata(entry, where),
    )


def _read_text(entry: dict[str, Any], key: str, where: str, default: str | None = None) -> str:
    value = default if entry.get(key) is None else entry[key]
    if value is None:
        raise InvalidSkill(where, f"'{key}' is missing")
    if not isinstance(value, str):
        raise InvalidSkill(where, f"'{key}' is not text")
    return utf8_text(value, "replace")


def _read_metadata(entry: dict[str, Any], where: str) -> dict[str, str]:
    """Return text to text; other values are written as JSON, as they are for files."""
    metadata = entry.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise InvalidSkill(where, "'metadata' is no object")
    texts = {k: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for k, v in metadata.items()}
    return {utf8_text(key, "replace"): utf8_text(text, "replace") for key, text in texts.items()}
