"""Check by whom a skill is signed: its signature files, and what its origin said when it came in.

    ~/.skillc/evidence/<digest>.json    {"version", "commit", "tag", "statement", "subject", "keys"}

No folder of a skill holds a signed commit or tag, or a registry's statement, so they are kept in the home, by
the digest of the files [D64]. They are checked again each time, and nothing is asked of the network.
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skillc import atomic, paths, records
from skillc.errors import MissingExtra
from skillc.origins.policy import Trust
from skillc.origins.signature import (
    BROKEN,
    GIT,
    MAX_SIGNATURE,
    OMS,
    OMS_FILE,
    REGISTRY,
    SSH,
    SSH_FILE,
    UNCHECKED,
    BrokenSignature,
    NotChecked,
    Signature,
)
from skillc.origins.ssh_and_git import check_commit, check_ssh, is_signed
from skillc.origins.statements import check_attestation, check_bundle
from skillc.skills import SIGNATURES, digest_skill

VERSION = 1  # of a file of evidence
MAX_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an origin said of a skill: git's objects as they are, or a registry's statement and its keys.

    `subject` is what the statement has to be about, such as `acme/pdf@1.2.0`.
    """

    commit: bytes = b""
    tag: bytes = b""
    statement: bytes = b""
    subject: str = ""
    keys: Sequence[str] = ()

    def keep(self, digest: str) -> None:
        """Write it down for the files with this digest."""
        if self == NO_EVIDENCE:
            return
        path = _path(digest)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        objects = {"commit": self.commit, "tag": self.tag, "statement": self.statement}
        content = {key: b64encode(data).decode() for key, data in objects.items()}
        more = {"version": VERSION, "subject": self.subject, "keys": list(self.keys)}
        records.write_record(path, content | more, private=True)


NO_EVIDENCE = Evidence()


def read_evidence(digest: str) -> Evidence:
    """Return what was kept for the files with a digest; a damaged file says nothing."""
    try:
        content = records.read_record(_path(digest), MAX_BYTES)
        commit, tag, statement = (b64decode(content[key]) for key in ("commit", "tag", "statement"))
        keys = [str(key) for key in content["keys"]]
        return Evidence(commit, tag, statement, str(content["subject"]), keys)
    except (OSError, ValueError, KeyError, TypeError):
        return NO_EVIDENCE


def drop_evidence(digest: str) -> None:
    """Forget what is known of files that are installed nowhere any more."""
    atomic.discard(_path(digest))


def _path(digest: str) -> str:
    return os.path.join(paths.require_home(), paths.DIRECTORY, "evidence", f"{digest}.json")


def check_skill(
    folder: str, name: str, trust: Trust, digest: str = "", evidence: Evidence | None = None
) -> list[Signature]:
    """Return all that is known of who made a skill; `name` is that under which it is installed.

    `digest` is that of its files, where it is known, and `evidence` what its origin said just now.
    """
    digest = digest or digest_skill(folder).digest
    origin = read_evidence(digest) if evidence is None else evidence
    signatures = check_signatures(folder, name, trust)
    if is_signed(origin.commit) or is_signed(origin.tag):
        signatures.append(_judge(GIT, check_commit, origin.commit, origin.tag))
    if origin.statement:
        what = origin.statement, origin.subject, digest, origin.keys, trust.roots
        signatures.append(_judge(REGISTRY, check_attestation, *what))
    return signatures


def check_signatures(folder: str, name: str, trust: Trust) -> list[Signature]:
    """Return what the signature files of a skill say; `name` is that under which it is installed."""
    kinds = ((OMS, OMS_FILE, _check_oms), (SSH, SSH_FILE, _check_ssh))
    return [
        _judge(kind, check, folder, name, trust)
        for kind, file, check in kinds
        if os.path.lexists(os.path.join(folder, file))
    ]


def _check_oms(folder: str, name: str, trust: Trust) -> Signature:
    files = digest_skill(folder, without=SIGNATURES).hashes
    return check_bundle(_read(folder, OMS_FILE), files, name, trust.roots)


def _check_ssh(folder: str, name: str, trust: Trust) -> Signature:
    digest = digest_skill(folder, without=SIGNATURES).digest
    return check_ssh(_read(folder, SSH_FILE), digest, trust.allowed_signers)


def _read(folder: str, file: str) -> bytes:
    try:
        return paths.read_regular(os.path.join(folder, file), MAX_SIGNATURE)
    except OSError as error:
        raise BrokenSignature(f"'{file}' can't be read ({error.strerror or error})") from None


def _judge(kind: str, check: Callable[..., Signature], *arguments: object) -> Signature:
    """Return what a check says; what keeps it from saying anything is a state of that signature alone."""
    try:
        return check(*arguments)
    except BrokenSignature as error:
        return Signature(BROKEN, kind=kind, reason=str(error))
    except (NotChecked, MissingExtra) as error:
        return Signature(UNCHECKED, kind=kind, reason=str(error))
