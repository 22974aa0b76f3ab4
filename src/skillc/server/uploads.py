"""Unpack, audit and attest what is published, in private folders; and remove the folders of killed servers.

    with workplace.open() as folder:
        ...

They are copies of what may be private, so they are below the registry's own folder, where a server finds them
at its next start. Each has a file beside it that is locked while it is in use: the system releases the lock
when a process ends in whatever way, and processes in other containers see it, too.
"""

from __future__ import annotations

import io
import json
import logging
import os
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from skillc import atomic
from skillc.audit import Audit, audit_folder
from skillc.contract import encode
from skillc.errors import (
    ArchiveRefused,
    InvalidSkill,
    MissingExtra,
    MissingField,
    PathEscapes,
    SignatureBroken,
    SignerRefused,
    unexpected,
)
from skillc.origins import Attester, Trust, check_signatures, combine, require_signer
from skillc.paths import make_private
from skillc.registry import Package, default_store, read_package
from skillc.registry.model import Version
from skillc.remotes import unpack_archive, unwrap
from skillc.server.responses import Refusal
from skillc.skills import SIGNATURES, SkillId, write_files

log = logging.getLogger("skillc.server")

PREFIX = "work-"
PACKED = "packed"  # the name of an archive in such a folder
REFUSED = (ArchiveRefused, InvalidSkill, MissingField, PathEscapes)  # what is wrong with a skill
ATTESTATION = "attestation.pem"  # keys of the registry, beside a store that is a file, where none are named
_LOCK = ".lock"  # the end of the name of a folder's lock; alone, the lock of all names


class Workplace:
    """Folders below a root; without one, in the system's temporary folder, where nothing is swept."""

    def __init__(self, root: str = "") -> None:
        self._root = root

    @contextmanager
    def open(self) -> Iterator[str]:
        """Make a folder that its owner alone can enter, and remove it at the end."""
        if not self._root:
            with tempfile.TemporaryDirectory(prefix=f"skillc-{PREFIX}", ignore_cleanup_errors=True) as folder:
                yield folder
            return
        make_private(self._root)
        with atomic.Lock(os.path.join(self._root, _LOCK)):  # no sweep runs before the folder's lock is taken
            folder = tempfile.mkdtemp(prefix=PREFIX, dir=self._root)
            lock = atomic.Lock(folder + _LOCK)
            lock.__enter__()
        try:
            yield folder
        finally:
            _remove(folder)
            lock.__exit__()

    def sweep(self) -> None:
        """Remove the folders that no process uses."""
        if not self._root:
            return
        make_private(self._root)
        with atomic.Lock(os.path.join(self._root, _LOCK)):
            names = {name.removesuffix(_LOCK) for name in os.listdir(self._root) if name.startswith(PREFIX)}
            for folder in (os.path.join(self._root, name) for name in sorted(names)):
                with suppress(BlockingIOError), atomic.Lock(folder + _LOCK, wait=False):
                    _remove(folder)


def _remove(folder: str) -> None:
    atomic.discard(folder)
    atomic.discard(folder + _LOCK)


def read_packed(place: str, skill_id: str) -> Package:
    """Return the skill in the archive `packed` of a place, unpacked as the installer does it.

    Raises Refusal for one that can't be published: its sender reads what is wrong.
    """
    folder = os.path.join(place, "skill")
    try:
        unpack_archive(os.path.join(place, PACKED), folder, skill_id)
        unwrap(folder)
        return read_package(skill_id, folder)
    except REFUSED as error:  # the message may name our folder
        raise Refusal(422, error.message.replace(folder, skill_id), error.code) from None


def read_members(archive: bytes) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """Yield the files of an archive that a registry made: one blob instead of one for each file."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as members:
        for member in members:
            stream = members.extractfile(member)
            assert stream is not None  # our archives have files alone
            yield member, stream.read()


def audit_package(workplace: Workplace, package: Package) -> dict[str, Any] | None:
    """Return the report of an audit; None where it can't be made, which review rules count as unaudited."""
    audit = inspect_files(workplace, package.skill, package.contents)
    return None if audit is None else make_report(audit)


def inspect_files(workplace: Workplace, skill: SkillId, contents: Mapping[str, bytes]) -> Audit | None:
    """Return the audit of a skill's files; None where it can't be made."""
    try:
        with workplace.open() as place:
            folder = os.path.join(place, skill.name)
            write_files(folder, contents)
            return audit_folder(folder, str(skill))
    except Exception as error:  # an audit is a report, and stops no publication
        log.error("audit of %s: %s", skill, unexpected(error).line())
        return None


def make_report(audit: Audit) -> dict[str, Any]:
    """Return what is stored of an audit: all but the path, which is one of this machine."""
    return {key: value for key, value in audit.as_json().items() if key != "path"}


# By whom it is signed, and what the registry says of it


def open_attester(store: str, files: Sequence[str]) -> Attester | None:
    """Return the keys of a registry; without files, one beside its SQLite store, which is made once.

    A registry on PostgreSQL has several servers, so that its keys have to be named.
    """
    path = default_store(store).removeprefix("sqlite://")
    default = "" if "://" in path else os.path.join(os.path.dirname(os.path.abspath(path)), ATTESTATION)
    if not files and not default:
        return None
    try:
        return Attester.open(files, default)
    except MissingExtra:
        if files:
            raise
        return None  # nobody asked for it


def make_statement(
    attester: Attester, url: str, version: Version, package: Package, build: Mapping[str, Any]
) -> str:
    """Return what the registry at an address says of a version, signed, as JSON."""
    facts = {
        "registry": url,
        "publishedAt": encode(version.published_at),
        "publisher": version.published_by,
        "build": dict(build),
        "audit": version.audit or "none",
    }
    return json.dumps(attester.attest(version.skill, version.version, package.content_digest, facts))


def check_package(workplace: Workplace, package: Package, trust: Trust) -> dict[str, Any]:
    """Return what is known of the signer of a package; raises Refusal (422) for one that is not accepted."""
    signatures = []
    if any(name in package.contents for name in SIGNATURES):
        with workplace.open() as place:
            folder = os.path.join(place, package.skill.name)
            write_files(folder, package.contents)
            for file in package.files:  # modes are signed, too
                os.chmod(os.path.join(folder, file.path), 0o755 if file.is_executable else 0o644)
            signatures = check_signatures(folder, package.skill.name, trust)
    signature = combine(signatures)
    try:
        require_signer(package.skill, [package.skill], signature, trust)
    except (SignatureBroken, SignerRefused) as error:
        raise Refusal(422, error.message, error.code) from None
    return dict(encode(signature)) if signatures else {}
