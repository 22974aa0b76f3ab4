"""Entries of skills from another server (SEP-2640), checked before anything of them is used.

An entry names every file with digest and size, and only the files in it are ever read. What breaks a
rule is refused with the reason: nothing here trusts a server.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from skillc.paths import MAX_SKILL_FILE, SKILL_FILE
from skillc.remotes.http import hide_secrets, is_plain
from skillc.remotes.protocol import Failure, Listing, Omission, RemoteFile, RemoteSkill, make_listing
from skillc.skills import SkillId, find_collision, is_name, is_portable, is_segment, to_segment
from skillc.skills.document import parse, read_metadata
from skillc.startup import sha256_hex
from skillc.text import cut, one_line

MAX_FILES = 512
MAX_BYTES = 16 << 20  # of all files of a skill
MAX_URI = 2048  # characters
MAX_DESCRIPTION = 4096  # characters; the format has 1024
SCHEMES = re.compile(r"[a-z][a-z0-9+.-]*://")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
# Names that mean something else to some file system, or to a terminal.
UNSAFE = re.compile(r'[\x00-\x1f\x7f\\:*?"<>|]')
MIN_SECRET = 6  # characters; a longer value in a query may be a secret
MAX_QUOTE = 80  # characters of a server's text in a reason


@dataclass(frozen=True, slots=True)
class McpServer:
    """The address of a server: a command to start, or a URL and the headers to send."""

    command: tuple[str, ...] = ()
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None

    def find_problem(self) -> str:
        """Return what is wrong with the URL; nothing for a good one, and for a command."""
        if not self.url:
            return ""
        if not is_plain(self.url):
            return "the URL has control characters"
        try:
            parts = urlsplit(self.url)
            is_good = parts.scheme in ("http", "https") and bool(parts.hostname)
            _ = parts.port
        except ValueError:
            return "the URL can't be read"
        if not is_good:
            return "the URL must start with http:// or https:// and name a host"
        if parts.username is not None or parts.fragment:
            return "the URL must not have a user or a fragment; auth_token is the place for a token"
        return ""

    def hide(self, text: str) -> str:
        """Return what a server said without our credentials, which it may repeat."""
        secrets = [value.rpartition(" ")[2] for value in self.headers.values()]
        secrets += [value for _, value in parse_qsl(urlsplit(self.url).query) if len(value) >= MIN_SECRET]
        return hide_secrets(text, secrets)


class McpRefusal(Failure):
    """Something that a server says or sends is not used; the message says why."""


def verify_file(file: RemoteFile, data: bytes) -> None:
    """Raise McpRefusal unless size and digest are the announced ones."""
    if len(data) != file.size:
        raise McpRefusal(f"'{file.path}' has {len(data)} bytes, not the {file.size} that were announced")
    if not file.matches(data):
        raise McpRefusal(f"'{file.path}' has another digest than was announced")


def main_of(skill: RemoteSkill) -> RemoteFile:
    """Return the SKILL.md among the files of a skill."""
    return next(file for file in skill.files if file.path == SKILL_FILE)


def verify_main(skill: RemoteSkill, data: bytes) -> None:
    """Raise McpRefusal unless a SKILL.md is the announced one, frontmatter included."""
    verify_file(main_of(skill), data)
    document, announced = parse(data), skill.entry
    fields = document.frontmatter.fields if document.frontmatter else {}
    for key in sorted({*fields, *announced}):
        both = key in fields and key in announced
        if not both or not _equal_json(fields[key], announced[key]):
            name = _quote(key)
            raise McpRefusal(f"the frontmatter of its {SKILL_FILE} has another '{name}' than announced")
    read_metadata(document, skill.id.name)


def _equal_json(one: Any, other: Any) -> bool:
    """Compare two JSON values; unlike in Python, true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal_json(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal_json, one, other))
    return bool(one == other)


def read_entry(data: Any) -> RemoteSkill:
    """Read the entry of a skill that a server sent; raise McpRefusal for an invalid one.

    Its ID is the part after the server's label, and its `entry` the frontmatter that was announced.
    """
    if not isinstance(data, dict):
        raise McpRefusal("the entry is not an object")
    uri, frontmatter = data.get("uri"), data.get("frontmatter")
    if not isinstance(uri, str) or not isinstance(frontmatter, dict):
        raise McpRefusal(f"the entry has no '{'frontmatter' if isinstance(uri, str) else 'uri'}'")
    root, path = _split_uri(uri)
    name, description = frontmatter.get("name"), frontmatter.get("description")
    if name != path.name or not is_name(path.name):
        raise McpRefusal(f"its name {_quote(name)!r} is not the last part of its URI, or not valid")
    if not isinstance(description, str) or not description.strip() or len(description) > MAX_DESCRIPTION:
        raise McpRefusal("its description is missing or too long")
    files = _read_files(data.get("resources"), root, uri)
    metadata, needs = frontmatter.get("metadata"), frontmatter.get("requires_capabilities")
    # What an approval is bound to: it changes whenever a file or its name does.
    pairs = sorted((file.uri, file.digest.removeprefix("sha256:")) for file in files)
    digest = sha256_hex("".join(f"{uri}\0{digest}\0" for uri, digest in pairs).encode())
    return RemoteSkill(
        path,
        " ".join(description.split()),
        digest[:32],
        capabilities=tuple(map(str, needs)) if isinstance(needs, list) else (),
        metadata={str(k): str(v) for k, v in metadata.items()} if isinstance(metadata, dict) else {},
        entry=frontmatter,
        digest=digest,
        address=uri,
        files=files,
    )


def _split_uri(uri: str) -> tuple[str, SkillId]:
    """Return the URI of a skill's folder, with a slash at its end, and its path as an ID."""
    root = uri.removesuffix(SKILL_FILE)
    scheme = SCHEMES.match(uri)
    if root == uri or not scheme or len(uri) > MAX_URI or not root.endswith("/"):
        raise McpRefusal(f"{_quote(uri)!r} is not the URI of a {SKILL_FILE}")
    parts = root[scheme.end() : -1].split("/")
    segments = [_to_id_segment(unquote(part)) for part in parts[:-1]]
    if not _is_plain(uri) or not parts[-1] or not is_segment(parts[-1]) or not all(segments):
        raise McpRefusal(f"{_quote(uri)!r} is not the URI of a skill")
    return root, SkillId("/".join([*segments, parts[-1]]))


def _to_id_segment(part: str) -> str:
    """Return a part of a URI as a segment of an ID; nothing for one that leads elsewhere."""
    if part in ("", ".", "..") or UNSAFE.search(part) or "/" in part:
        return ""
    return part if is_segment(part) else to_segment(part)


def _is_plain(uri: str) -> bool:
    """Return whether a URI is valid and has neither query nor fragment."""
    try:
        urlsplit(uri)
    except ValueError:
        return False
    return "?" not in uri and "#" not in uri


def _read_files(resources: Any, root: str, main: str) -> tuple[RemoteFile, ...]:
    if resources == "dynamic":
        raise McpRefusal("its files have no digests ('dynamic'), so that nothing could be verified")
    if not isinstance(resources, list) or not resources:
        raise McpRefusal("the entry has no list of 'resources'")
    if len(resources) > MAX_FILES:
        raise McpRefusal(f"it has {len(resources)} files; {MAX_FILES} are the limit")
    files = [_read_file(resource, root) for resource in resources]
    if sum(file.size for file in files) > MAX_BYTES:
        raise McpRefusal(f"its files are over {MAX_BYTES >> 20} MiB")
    main_size = next((file.size for file in files if file.uri == main), None)
    if main_size is None:
        raise McpRefusal(f"its {SKILL_FILE} is not among its files")
    if main_size > MAX_SKILL_FILE:
        raise McpRefusal(f"its {SKILL_FILE} is over {MAX_SKILL_FILE >> 20} MiB")
    names = [file.path for file in files]
    if len(set(names)) < len(names) or find_collision(names):
        raise McpRefusal("it names a file twice, or where the folder of another one is")
    return tuple(files)


def _read_file(resource: Any, root: str) -> RemoteFile:
    fields = resource if isinstance(resource, dict) else {}
    uri, digest, size = fields.get("uri"), fields.get("digest"), fields.get("size")
    if not isinstance(uri, str) or len(uri) > MAX_URI or not uri.startswith(root) or not _is_plain(uri):
        raise McpRefusal(f"the file {_quote(uri)!r} is not in the skill's folder")
    path = _decode_path(uri[len(root) :])
    if path is None:
        raise McpRefusal(f"the file {_quote(uri)!r} has a path that leads elsewhere")
    if not isinstance(digest, str) or not DIGEST.fullmatch(digest):
        raise McpRefusal(f"the file {_quote(uri)!r} has no SHA-256 digest")
    if type(size) is not int or not 0 <= size <= MAX_BYTES:
        raise McpRefusal(f"the file {_quote(uri)!r} has no size, or one over {MAX_BYTES >> 20} MiB")
    return RemoteFile(path, size, digest, uri=uri)


def _decode_path(text: str) -> str | None:
    """Return a file's path; None for one that leads elsewhere, or that not every system can hold."""
    try:
        path = unquote(text, errors="strict")
    except UnicodeDecodeError:
        return None
    return path if is_portable(path) and "%2f" not in text.lower() else None


def _quote(value: Any) -> str:
    """Return a server's own text, short and printable."""
    return cut(one_line(str(value)), MAX_QUOTE)


def read_listing(answers: list[Any]) -> Listing:
    """Read the entries by path; refuse both of two with one path."""
    skills: dict[SkillId, RemoteSkill] = {}
    refusals: dict[str, Omission] = {}
    for number, answer in enumerate(answers):
        try:
            skill = read_entry(answer)
        except McpRefusal as error:
            uri = answer.get("uri") if isinstance(answer, dict) else None
            where = one_line(uri)[:200] if isinstance(uri, str) else f"skills[{number}]"
            path = where.removeprefix("skill://").removesuffix(f"/{SKILL_FILE}")  # the one to load it by
            refusals[path] = Omission(path, "E010", str(error))
            continue
        if skill.id in skills or skill.id in refusals:
            skills.pop(skill.id, None)
            refusals[skill.id] = Omission(skill.id, "E010", "two skills have this path")
        else:
            skills[skill.id] = skill
    return make_listing([*skills.values(), *refusals.values()])
