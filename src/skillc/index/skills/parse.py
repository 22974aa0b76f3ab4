"""One SKILL.md as the catalog keeps it: what the skill says of itself and, where asked for, what is searched.

What is read is made of plain values, because it may come from another process.
"""

from __future__ import annotations

import os

from skillc.errors import MissingField, warning

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skillc.index.skills.weights import Source
    from skillc.skills import Document, Metadata

    Stamp = tuple[int, int, int]  # size, and the times of change in nanoseconds: mtime, ctime
    Noticed = tuple[str, str, str]  # code, severity, message

MAX_SKILL_FILE = 1 << 20  # bytes; a larger SKILL.md is quarantined
SETTLED_NS = 50_000_000  # a file changed this shortly before it was read may change again unnoticed
COARSE_NS = 2_000_000_000  # the same on file systems that count in seconds
UNSETTLED = -1  # the mtime of a stamp that must not be trusted


class Reading:
    """What a SKILL.md says. Without a description it is quarantined, and `noticed` tells why.

    `digest` is that of a file whose text was read for searching.
    """

    __slots__ = ("capabilities", "description", "digest", "metadata", "noticed", "stamp")

    def __init__(
        self,
        stamp: Stamp,
        description: str | None = None,
        capabilities: tuple[str, ...] = (),
        metadata: dict[str, str] | None = None,
        noticed: tuple[Noticed, ...] = (),
        digest: int | None = None,
    ) -> None:
        self.stamp = stamp
        self.description = description
        self.capabilities = capabilities
        self.metadata = metadata
        self.noticed = noticed
        self.digest = digest

    def packed(self) -> tuple[Any, ...]:
        """As `marshal` can pass it on."""
        told = self.description, self.capabilities, self.metadata, self.noticed
        return self.stamp, *told, self.digest


def trusted(stamp: Stamp, now: int) -> Stamp:
    """A stamp, with UNSETTLED for a time so recent that a later change could have the same."""
    size, modified, changed = stamp
    margin = COARSE_NS if modified % 1_000_000_000 == 0 else SETTLED_NS
    return stamp if max(modified, changed) < now - margin else (size, UNSETTLED, changed)


def read(path: str, skill_id: str, strict: bool, searched: bool) -> tuple[Reading, Source | None]:
    """Read a SKILL.md; where it is to be `searched`, with what of it is."""
    content = _loaded(path)
    if isinstance(content, Reading):
        return content, None
    return _understood(path, skill_id, *content, strict, searched)


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
    path: str, skill_id: str, stamp: Stamp, raw: bytes, strict: bool, searched: bool
) -> tuple[Reading, Source | None]:
    """What the bytes of a SKILL.md say."""
    from skillc.skills import parse, read_metadata  # only where something changed

    document = parse(raw)
    directory = os.path.basename(os.path.dirname(path))
    try:
        told = read_metadata(document, directory)
    except MissingField as error:
        noticed = [(d.code, "warning", d.message) for d in error.diagnostics]
        return Reading(stamp, noticed=(*noticed, _refused(error.code, error.message))), None
    noticed = [(d.code, "warning", d.message) for d in told.diagnostics]
    if told.name != skill_id.rpartition("/")[2]:
        unlike = warning("W021", told.name, directory)
        noticed.append((unlike.code, "warning", unlike.message))
    problem = _violation(told, directory) if strict else None
    if problem:
        return Reading(stamp, noticed=(*noticed, problem)), None
    source = _source(document, raw, skill_id, told) if searched else None
    reading = Reading(
        stamp,
        told.description.strip(),
        texts(told.fields.get("requires_capabilities")),
        text_map(told.fields.get("metadata")),
        tuple(noticed),
        source.digest if source else None,
    )
    return reading, source


def _violation(told: Metadata, directory: str) -> Noticed | None:
    from skillc.skills import find_violations

    broken = find_violations(told, directory)
    return _refused("E010", f"breaks the Agent Skills format: {'; '.join(broken)}") if broken else None


def _source(document: Document, raw: bytes, skill_id: str, told: Metadata) -> Source:
    from hashlib import blake2b

    from skillc.index.skills.weights import Source

    name = skill_id.rpartition("/")[2]
    both = name if told.name == name else f"{name} {told.name}"
    digest = int.from_bytes(blake2b(raw, digest_size=7).digest(), "big")
    return Source(both, told.description, document.data[document.body :], digest)


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
