"""What another server says of a skill (SEP-2640), checked before anything of it is used.

An entry names every file with digest and size; it is held, and only what is in it is ever read. What
breaks a rule is refused with the reason: nothing here trusts a server.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from skillc.paths import SKILL_FILE
from skillc.skills import SkillId, is_name, is_segment, parse, read_metadata, to_segment
from skillc.startup.digest import sha256_hex
from skillc.text import one_line

MAX_FILES = 512
MAX_BYTES = 16 << 20  # of all files of a skill
MAX_SKILL_FILE = 1 << 20  # bytes of a SKILL.md, as everywhere
MAX_URI = 2048  # characters
MAX_DESCRIPTION = 4096  # characters; the format has 1024
SCHEMES = re.compile(r"[a-z][a-z0-9+.-]*://")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
# Names that mean something else to some file system, or to a terminal.
UNSAFE = re.compile(r'[\x00-\x1f\x7f\\:*?"<>|]')
MAX_SHOWN = 80  # characters of a server's words in a reason


class Refused(Exception):
    """Why something that a server says or sends is not used."""


class Unreachable(Refused):
    """Why a server gives no answer at all, to whatever question."""


@dataclass(frozen=True, slots=True)
class HeldFile:
    """A file of a skill: its path in it, its URI, and what its bytes must be."""

    path: str
    uri: str
    digest: str
    size: int

    def verify(self, data: bytes) -> None:
        """Raise Refused for bytes that are not the ones that were announced."""
        if len(data) != self.size:
            raise Refused(f"'{self.path}' has {len(data)} bytes, not the {self.size} that were announced")
        if sha256_hex(data) != self.digest:
            raise Refused(f"'{self.path}' has another digest than was announced")


@dataclass(frozen=True, slots=True)
class HeldEntry:
    """A skill as a server announced it. `path` is ours: where it is below the server's label."""

    path: SkillId
    uri: str
    frontmatter: dict[str, Any]
    files: tuple[HeldFile, ...]

    @property
    def main(self) -> HeldFile:
        return next(file for file in self.files if file.path == SKILL_FILE)

    @property
    def digest(self) -> str:
        """Changes whenever any file of the set does, or its name: what an approval is bound to."""
        pairs = sorted((file.uri, file.digest) for file in self.files)
        return sha256_hex("".join(f"{uri}\0{digest}\0" for uri, digest in pairs).encode())

    def verify_main(self, data: bytes) -> None:
        """Raise Refused unless a SKILL.md is the announced one, frontmatter field by field."""
        self.main.verify(data)
        document = parse(data)
        found = document.frontmatter.fields if document.frontmatter else {}
        for key in sorted({*found, *self.frontmatter}):
            if key not in found or key not in self.frontmatter or not same(found[key], self.frontmatter[key]):
                raise Refused(
                    f"the frontmatter of its {SKILL_FILE} has another '{_shown(key)}' than announced"
                )
        read_metadata(document, self.path.name)


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal; unlike Python, true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def checked(data: Any) -> HeldEntry:
    """The entry that a server sent; raises Refused."""
    if not isinstance(data, dict):
        raise Refused("the entry is not an object")
    uri, frontmatter = data.get("uri"), data.get("frontmatter")
    if not isinstance(uri, str):
        raise Refused("the entry has no 'uri'")
    if not isinstance(frontmatter, dict):
        raise Refused("the entry has no 'frontmatter'")
    root, path = _root(uri)
    name, description = frontmatter.get("name"), frontmatter.get("description")
    if name != path.name or not is_name(path.name):
        raise Refused(f"its name {_shown(name)!r} is not the last part of its URI, or not valid")
    if not isinstance(description, str) or not description.strip() or len(description) > MAX_DESCRIPTION:
        raise Refused("its description is missing or too long")
    return HeldEntry(path, uri, frontmatter, _files(data.get("resources"), root, uri))


def _root(uri: str) -> tuple[str, SkillId]:
    """The URI of a skill's folder, with a slash at its end, and its path as an ID."""
    root = uri.removesuffix(SKILL_FILE)
    scheme = SCHEMES.match(uri)
    if root == uri or not scheme or len(uri) > MAX_URI or not root.endswith("/"):
        raise Refused(f"{_shown(uri)!r} is not the URI of a {SKILL_FILE}")
    parts = root[scheme.end() : -1].split("/")
    segments = [_segment(unquote(part)) for part in parts[:-1]]
    if _plain(uri) is None or not parts[-1] or not is_segment(parts[-1]) or not all(segments):
        raise Refused(f"{_shown(uri)!r} is not the URI of a skill")
    return root, SkillId("/".join([*segments, parts[-1]]))


def _segment(part: str) -> str:
    """A part of a URI as a part of an ID; empty for one that leads elsewhere."""
    if part in ("", ".", "..") or UNSAFE.search(part) or "/" in part:
        return ""
    return part if is_segment(part) else to_segment(part)


def _plain(uri: str) -> str | None:
    """A URI without query and fragment; None for any other."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    return None if parts.query or parts.fragment or "?" in uri or "#" in uri else uri


def _files(resources: Any, root: str, main: str) -> tuple[HeldFile, ...]:
    if resources == "dynamic":
        raise Refused("its files have no digests ('dynamic'), so that nothing could be verified")
    if not isinstance(resources, list) or not resources:
        raise Refused("the entry has no list of 'resources'")
    if len(resources) > MAX_FILES:
        raise Refused(f"it has {len(resources)} files; {MAX_FILES} are the limit")
    files = [_file(resource, root) for resource in resources]
    if sum(file.size for file in files) > MAX_BYTES:
        raise Refused(f"its files are over {MAX_BYTES >> 20} MiB")
    if not any(file.uri == main for file in files):
        raise Refused(f"its {SKILL_FILE} is not among its files")
    if next(file.size for file in files if file.uri == main) > MAX_SKILL_FILE:
        raise Refused(f"its {SKILL_FILE} is over {MAX_SKILL_FILE >> 20} MiB")
    _check_paths([file.path for file in files])
    return tuple(files)


def _file(resource: Any, root: str) -> HeldFile:
    given = resource if isinstance(resource, dict) else {}
    uri, digest, size = given.get("uri"), given.get("digest"), given.get("size")
    if not isinstance(uri, str) or len(uri) > MAX_URI or not uri.startswith(root) or _plain(uri) is None:
        raise Refused(f"the file {_shown(uri)!r} is not in the skill's folder")
    path = _path(uri[len(root) :])
    if path is None:
        raise Refused(f"the file {_shown(uri)!r} has a path that leads elsewhere")
    if not isinstance(digest, str) or not DIGEST.fullmatch(digest):
        raise Refused(f"the file {_shown(uri)!r} has no SHA-256 digest")
    if type(size) is not int or not 0 <= size <= MAX_BYTES:
        raise Refused(f"the file {_shown(uri)!r} has no size, or one over {MAX_BYTES >> 20} MiB")
    return HeldFile(path, uri, digest.removeprefix("sha256:"), size)


def _path(encoded: str) -> str | None:
    """A file's path, decoded; None for one that leads elsewhere, here or on another file system."""
    try:
        path = unquote(encoded, errors="strict")
    except UnicodeDecodeError:
        return None
    parts = path.split("/")
    odd = any(part != part.strip() or part.endswith(".") or not part for part in parts)
    return None if odd or UNSAFE.search(path) or encoded.lower().count("%2f") else path


def _check_paths(paths: list[str]) -> None:
    """No file twice, also where case does not count, and none where another one's folder is."""
    folded = [path.casefold() for path in paths]
    if len(set(folded)) < len(folded):
        raise Refused("it names a file twice")
    folders = {path[:at] for path in folded for at, character in enumerate(path) if character == "/"}
    if folders.intersection(folded):
        raise Refused("it names a file where the folder of another one is")


def _shown(value: Any) -> str:
    """A server's own words, few and printable."""
    text = one_line(str(value))
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"


@dataclass(slots=True)
class Listed:
    """What a server listed, by path, and what of it was refused; to be asked for again at a time."""

    entries: dict[SkillId, HeldEntry] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    until: float = 0.0


def sort_out(answers: list[Any]) -> Listed:
    """The entries that can be used, by path; of two with one path neither is."""
    found = Listed()
    for number, answer in enumerate(answers):
        try:
            entry = checked(answer)
        except Refused as error:
            uri = answer.get("uri") if isinstance(answer, dict) else None
            where = one_line(uri)[:200] if isinstance(uri, str) else f"skills[{number}]"
            found.refused[_path_of(where)] = str(error)
            continue
        if entry.path in found.entries or entry.path in found.refused:
            found.entries.pop(entry.path, None)
            found.refused[entry.path] = "two skills have this path"
        else:
            found.entries[entry.path] = entry
    return found


def _path_of(uri: str) -> str:
    """A refused skill by the path that one would load it by, where its URI has one."""
    return uri.removeprefix("skill://").removesuffix(f"/{SKILL_FILE}")
