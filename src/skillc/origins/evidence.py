"""Keep what a skill's origin said of it when it came in: a signed commit or tag, or a registry's statement.

    ~/.skillc/evidence/<digest>.json    {"version", "commit", "tag", "statement", "subject", "keys"}

A skill's folder holds none of these, so that without them no later check could know. What is kept is checked
again each time: signatures by git and by the registry's keys, and the files by their digest [D64].
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skillc import atomic, paths, records
from skillc.origins.attestation import check_attestation
from skillc.origins.commits import check_commit
from skillc.origins.policy import Trust
from skillc.origins.signature import BROKEN, REGISTRY, BrokenSignature, Signature

VERSION = 1
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

    def check(self, digest: str, trust: Trust) -> list[Signature]:
        """Return by whom the files with a digest are signed, as far as this says."""
        signature = check_commit(self.commit, self.tag)
        signatures = [signature] if signature else []
        try:
            if self.statement:
                signatures.append(
                    check_attestation(self.statement, self.subject, digest, self.keys, trust.roots)
                )
        except BrokenSignature as error:
            signatures.append(Signature(BROKEN, kind=REGISTRY, reason=str(error)))
        return signatures

    def keep(self, digest: str) -> None:
        """Write it down for the files with this digest."""
        if self == Evidence():
            return
        path = _path(digest)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        content = {
            "version": VERSION,
            "commit": b64encode(self.commit).decode(),
            "tag": b64encode(self.tag).decode(),
            "statement": b64encode(self.statement).decode(),
            "subject": self.subject,
            "keys": list(self.keys),
        }
        records.write_record(path, content, private=True)


NO_EVIDENCE = Evidence()


def read_evidence(digest: str) -> Evidence:
    """Return what was kept for the files with a digest; a damaged file says nothing."""
    try:
        content: dict[str, Any] = records.read_record(_path(digest), MAX_BYTES)
        commit, tag, statement = (b64decode(content[key]) for key in ("commit", "tag", "statement"))
        return Evidence(
            commit, tag, statement, str(content["subject"]), [str(key) for key in content["keys"]]
        )
    except (OSError, ValueError, KeyError, TypeError):
        return NO_EVIDENCE


def drop_evidence(digest: str) -> None:
    """Forget what is known of files that are installed nowhere any more."""
    atomic.discard(_path(digest))


def _path(digest: str) -> str:
    return os.path.join(paths.require_home(), paths.DIRECTORY, "evidence", f"{digest}.json")
