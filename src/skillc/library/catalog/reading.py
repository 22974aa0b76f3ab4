"""One SKILL.md as the catalog keeps it: what the skill says of itself and, where asked for, its terms.

What is read is made of plain values, because it may come from another process.
"""

from __future__ import annotations

import os

from skillc.errors import MissingField, notice

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skillc.library.catalog.terms import Stemmer
    from skillc.library.catalog.weighing import Weighed
    from skillc.skills import Document, Metadata

    Stamp = tuple[int, int, int]  # size, and the times of change in nanoseconds: mtime, ctime
    Noticed = tuple[str, str, str]  # code, severity, message

MAX_SKILL_FILE = 1 << 20  # bytes; a larger SKILL.md is quarantined
SETTLED_NS = 50_000_000  # a file changed this shortly before it was read may change again unnoticed
COARSE_NS = 2_000_000_000  # the same on file systems that count in seconds
UNSETTLED = -1  # the mtime of a stamp that must not be trusted


class Text:
    """What is searched: the weighed terms of head and body, and a digest of the file."""

    __slots__ = ("body", "digest", "head")

    def __init__(self, head: Weighed, body: Weighed, digest: int) -> None:
        self.head = head
        self.body = body
        self.digest = digest


class Reading:
    """What a SKILL.md says. Without a description it is quarantined, and `noticed` tells why."""

    __slots__ = ("capabilities", "description", "metadata", "noticed", "stamp", "text")

    def __init__(
        self,
        stamp: Stamp,
        description: str | None = None,
        capabilities: tuple[str, ...] = (),
        metadata: dict[str, str] | None = None,
        noticed: tuple[Noticed, ...] = (),
        text: Text | None = None,
    ) -> None:
        self.stamp = stamp
        self.description = description
        self.capabilities = capabilities
        self.metadata = metadata
        self.noticed = noticed
        self.text = text

    def packed(self) -> tuple[Any, ...]:
        """As `marshal` can pass it on."""
        text = self.text
        parts = (text.head, text.body, text.digest) if text else None
        return self.stamp, self.description, self.capabilities, self.metadata, self.noticed, parts

    @classmethod
    def unpacked(cls, packed: tuple[Any, ...]) -> Reading:
        stamp, description, capabilities, told, noticed, parts = packed
        return cls(stamp, description, capabilities, told, noticed, Text(*parts) if parts else None)


def trusted(stamp: Stamp, now: int) -> Stamp:
    """A stamp, with UNSETTLED for a time so recent that a later change could have the same."""
    size, modified, changed = stamp
    margin = COARSE_NS if modified % 1_000_000_000 == 0 else SETTLED_NS
    return stamp if max(modified, changed) < now - margin else (size, UNSETTLED, changed)


def read(path: str, skill_id: str, strict: bool, stemmer: Stemmer | None) -> Reading:
    """Read a SKILL.md; with a stemmer, its text too."""
    content = _loaded(path)
    if isinstance(content, Reading):
        return content
    stamp, raw = content
    return _understood(path, skill_id, stamp, raw, strict, stemmer)


def _loaded(path: str) -> tuple[Stamp, bytes] | Reading:
    """A file's stamp and bytes, or why they can't be had."""
    try:
        with open(path, "rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            raw = file.read(MAX_SKILL_FILE + 1)
    except OSError as error:
        refused = _refused("E010", f"SKILL.md cannot be read: {error.strerror}")
        return Reading((0, UNSETTLED, 0), noticed=(refused,))
    stamp = status.st_size, status.st_mtime_ns, status.st_ctime_ns
    if len(raw) > MAX_SKILL_FILE:
        return Reading(stamp, noticed=(_refused("E010", f"SKILL.md is over {MAX_SKILL_FILE >> 20} MiB"),))
    return stamp, raw


def _understood(
    path: str, skill_id: str, stamp: Stamp, raw: bytes, strict: bool, stemmer: Stemmer | None
) -> Reading:
    """What the bytes of a SKILL.md say."""
    from skillc.skills import metadata, parse  # only where something changed

    document = parse(raw)
    directory = os.path.basename(os.path.dirname(path))
    try:
        told = metadata(document, directory)
    except MissingField as error:
        noticed = [(d.code, "warning", d.message) for d in error.diagnostics]
        return Reading(stamp, noticed=(*noticed, _refused(error.code, error.message)))
    noticed = [(d.code, "warning", d.message) for d in told.diagnostics]
    if told.name != skill_id.rpartition("/")[2]:
        unlike = notice("W021", told.name, directory)
        noticed.append((unlike.code, "warning", unlike.message))
    problem = _violation(told, directory) if strict else None
    if problem:
        return Reading(stamp, noticed=(*noticed, problem))
    text = _text(document, raw, skill_id, told, stemmer) if stemmer else None
    capabilities = texts(told.fields.get("requires_capabilities"))
    return Reading(
        stamp,
        told.description.strip(),
        capabilities,
        text_map(told.fields.get("metadata")),
        tuple(noticed),
        text,
    )


def _violation(told: Metadata, directory: str) -> Noticed | None:
    from skillc.skills.format import violations

    broken = violations(told, directory)
    return _refused("E010", f"breaks the Agent Skills format: {'; '.join(broken)}") if broken else None


def _text(document: Document, raw: bytes, skill_id: str, told: Metadata, stemmer: Stemmer) -> Text:
    from skillc.digest import sha256_hex

    name = skill_id.rpartition("/")[2]
    both = name if told.name == name else f"{name} {told.name}"
    body = document.data[document.body :]
    return text_of(stemmer, both, told.description, body, int(sha256_hex(raw)[:15], 16))


def text_of(stemmer: Stemmer, name: str, description: str, body: bytes, digest: int = 0) -> Text:
    """What is searched of a skill, from its parts."""
    from skillc.library.catalog.weighing import weigh

    return Text(*weigh(stemmer, name, description, body), digest)


def texts(value: Any) -> tuple[str, ...]:
    """A list of words in frontmatter, which may be written as one text."""
    if isinstance(value, str):
        return tuple(value.replace(",", " ").split())
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def text_map(value: Any) -> dict[str, str] | None:
    """Metadata as text to text: what is not text is written as JSON."""
    if not isinstance(value, dict) or not value:
        return None
    if all(isinstance(item, str) for item in value.values()):
        return value
    import json

    return {k: v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for k, v in value.items()}


def _refused(code: str, message: str) -> Noticed:
    return code, "error", message
