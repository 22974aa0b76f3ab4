"""A server that speaks the Skills API: `/skills`, `/skills/{id}`, its files, and `/skill-collections`.

What it answers is checked and bounded: an entry that can't be used is left out with the reason, and files are
compared with the digests that their list has.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from skillc.errors import InvalidSkill, InvalidSkillId, SkillcError
from skillc.paths import SKILL_FILES
from skillc.remotes.folders import SkillFolders
from skillc.remotes.http import JSON, Refused, Session
from skillc.remotes.protocol import (
    Answer,
    Failure,
    Listing,
    Omission,
    Remote,
    RemoteFile,
    RemoteSkill,
    make_listing,
    table_of,
    text_of,
)
from skillc.skills import SkillId, find_collision, is_portable
from skillc.startup import sha256_hex
from skillc.text import one_line, utf8_text

MAX_LIST = 64 << 20  # bytes of an answer, decompressed
MAX_DOCUMENT = 8 << 20  # the same for one skill: a body of 1 MiB, escaped as JSON can be
MAX_BODY = 1 << 20  # bytes of a skill's body
MAX_ID = 1024  # characters
MAX_FILES = 10_000  # of a skill
MAX_BYTES = 64 << 20  # of all files of a skill
UNKNOWN = (400, 404, 405, 501)  # answers of a server that does not know an endpoint
_DIGEST = re.compile("sha256:[0-9a-f]{64}")
_REQUIRED: Any = object()


@dataclass(frozen=True, slots=True)
class RemoteDocument:
    """A skill with its body, SKILL.md without frontmatter. `extensions` are its other fields."""

    skill: RemoteSkill
    body: str
    extensions: Mapping[str, Any] = field(default_factory=dict)


class HttpRemote(Remote):
    """The skills at `session.address`. Each question takes the last answer, and revalidates it by ETag."""

    def __init__(self, session: Session, folders: SkillFolders) -> None:
        self.session = session
        self._folders = folders  # in which files are looked for before they are fetched

    def list(self, last: Answer | None = None) -> Answer:
        return self._get("skills", read_listing, MAX_LIST, last)

    def document(self, skill_id: SkillId, last: Answer | None) -> Answer:
        """Return a skill with its body; None where the server has none."""
        return self._get(
            _path(skill_id), lambda data: read_document(skill_id, data), MAX_DOCUMENT, last, absent=None
        )

    def collections(self, last: Answer | None) -> Answer:
        """Return the descriptions of collections by path."""
        return self._get("skill-collections", read_collections, MAX_LIST, last, absent={})

    def files(self, skill_id: SkillId, last: Answer | None) -> Answer:
        """Return a skill with the list of its files; None where the server has its text alone."""
        path = f"{_path(skill_id)}/files"
        return self._get(
            path, lambda data: read_files(skill_id, data), MAX_LIST, last, absent=None, statuses=UNKNOWN
        )

    def fetch(self, skill: RemoteSkill, folder: str) -> str:
        """Write the files of a skill, which are listed in it; those that are at hand are not fetched."""
        contents = self._folders.collect(skill.id, skill.files)
        missing = {file.digest: file for file in skill.files if file.digest not in contents}
        query = f"?version={quote(skill.version, safe='')}" if skill.version else ""
        base = f"{self.session.address}/{_path(skill.id)}/files"
        files = {f"{base}/{quote(file.path)}{query}": file for file in missing.values()}
        try:
            with copy(self.session) as session:  # other threads use this one
                for url, data in session.get_files({u: max(f.size, 1) for u, f in files.items()}):
                    file = files[url]
                    if not file.matches(data):
                        raise Failure(f"{_label(file, skill.id)} has another digest than was listed")
                    self._folders.put(skill.id, file.digest, data)
                    contents[file.digest] = data
        except Refused as error:
            label = _label(files[error.url], skill.id)
            raise Failure(f"status {error.response.status} for {label}") from None
        self._folders.write(folder, skill.files, contents)
        return base

    def _get(
        self,
        path: str,
        read: Callable[[Any], Any],
        limit: int,
        last: Answer | None,
        *,
        absent: Any = _REQUIRED,
        statuses: tuple[int, ...] = (404,),
    ) -> Answer:
        """Return what `read` makes of a resource; `absent` for one that a status says is not there."""
        etag = last.etag if last else ""
        response = self.session.get(f"{self.session.address}/{path}", limit, JSON, etag=etag)
        if response.status == 304 and last is not None and etag:
            return last
        if response.status in statuses and absent is not _REQUIRED:
            return Answer(absent)
        if response.status != 200:
            raise Failure(f"status {response.status}")
        value = response.json()
        if value is None:
            raise Failure("the answer is not JSON")
        return Answer(read(value), response.etag)


def _path(skill_id: SkillId) -> str:
    return f"skills/{quote(skill_id, safe='')}"


def _label(file: RemoteFile, skill_id: SkillId) -> str:
    return f"'{one_line(file.path)}' of '{skill_id}'"


def read_listing(data: Any) -> Listing:
    """Read the list of skills; leave out invalid entries with the reason."""
    entries = table_of(data).get("skills")
    if not isinstance(entries, list):
        raise Failure("the answer has no list of 'skills'")
    seen: set[SkillId] = set()

    def read() -> Iterator[RemoteSkill | Omission]:
        for number, entry in enumerate(entries):
            where = f"skills[{number}]"
            try:
                skill = _read_skill(entry, where)
                if skill.id in seen:
                    raise InvalidSkill(skill.id, "listed twice; the first counts")
                seen.add(skill.id)
                yield skill
            except SkillcError as error:
                yield Omission(where, error.code, one_line(error.message))

    return make_listing(read())


def read_document(skill_id: SkillId, data: Any) -> RemoteDocument:
    try:
        skill = _read_skill(data, skill_id)
        body = _read_text(data, "body", skill_id)
    except SkillcError as error:
        raise Failure(one_line(error.message)) from None
    if skill.id != skill_id:
        raise Failure(f"asked for '{skill_id}', the answer is another skill")
    if len(body.encode()) > MAX_BODY:
        raise Failure(f"the body of '{skill_id}' is over {MAX_BODY >> 20} MiB")
    return RemoteDocument(skill, body, table_of(data.get("extensions")))


def read_collections(data: Any) -> dict[str, str]:
    """Return the collections' descriptions by path; counts come from the list of skills."""
    entries = table_of(data).get("collections")
    if not isinstance(entries, list):
        raise Failure("the answer has no list of 'collections'")
    descriptions: dict[str, str] = {}
    for fields in map(table_of, entries):
        path, text = fields.get("path"), fields.get("description")
        if isinstance(path, str) and isinstance(text, str) and text != f"{fields.get('count')} skills":
            descriptions.setdefault(path, utf8_text(text, "replace"))
    return descriptions


def read_files(skill_id: SkillId, data: Any) -> RemoteSkill:
    """Read the list of a skill's files; raise Failure for one that can't be stored as it says."""
    items = table_of(data).get("files")
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
    lines = sorted(f"{file.path}\n{file.digest}\n{file.is_executable}" for file in files)
    key = sha256_hex("\n".join(lines).encode())[:32]
    return RemoteSkill(skill_id, key=key, version=text_of(data.get("version")), files=files)


def _read_file(skill_id: SkillId, item: Any) -> RemoteFile:
    fields = table_of(item)
    path, size, digest = fields.get("path"), fields.get("size"), fields.get("digest")
    if not isinstance(path, str) or not is_portable(path) or "/." in f"/{path}":
        raise Failure(f"a file of '{skill_id}' has a name that is hidden, or that not every system can hold")
    if type(size) is not int or not 0 <= size <= MAX_BYTES:
        raise Failure(f"a file of '{skill_id}' has no size, or one over {MAX_BYTES >> 20} MiB")
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise Failure(f"a file of '{skill_id}' has no SHA-256 digest")
    return RemoteFile(path, size, digest, fields.get("executable") is True)


def _read_skill(entry: Any, where: str) -> RemoteSkill:
    """Read a skill; raise InvalidSkill or InvalidSkillId.

    The name is the ID's last segment, whatever the server calls it.
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
    return RemoteSkill(
        skill_id,
        _read_text(entry, "description", where),
        scope=scope,
        capabilities=tuple(utf8_text(item, "replace") for item in capabilities),
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
