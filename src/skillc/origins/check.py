"""Check by whom a skill is signed: its signature files, and what its origin said when it came in.

    for signature in check_skill("skills/pdf", "pdf", read_trust()):
        signature.state, signature.signer, signature.reason

Nothing is asked of the network.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from skillc import paths
from skillc.origins.evidence import Evidence, read_evidence
from skillc.origins.policy import Trust
from skillc.origins.signature import (
    BROKEN,
    MAX_SIGNATURE,
    OMS,
    OMS_FILE,
    SSH,
    SSH_FILE,
    BrokenSignature,
    Signature,
)
from skillc.skills import SIGNATURES, digest_skill


def check_skill(
    folder: str, name: str, trust: Trust, digest: str = "", evidence: Evidence | None = None
) -> list[Signature]:
    """Return all that is known of who made a skill; `name` is that under which it is installed.

    `digest` is that of its files, where it is known, and `evidence` what its origin said just now.
    """
    digest = digest or digest_skill(folder).digest
    evidence = read_evidence(digest) if evidence is None else evidence
    return [*check_signatures(folder, name, trust), *evidence.check(digest, trust)]


def check_signatures(folder: str, name: str, trust: Trust) -> list[Signature]:
    """Return what the signature files of a skill say; `name` is that under which it is installed."""
    return list(_check(folder, name, trust))


def _check(folder: str, name: str, trust: Trust) -> Iterator[Signature]:
    for file, kind in ((OMS_FILE, OMS), (SSH_FILE, SSH)):
        path = os.path.join(folder, file)
        if not os.path.lexists(path):
            continue
        try:
            data = paths.read_regular(path, MAX_SIGNATURE)
        except OSError as error:
            yield Signature(BROKEN, kind=kind, reason=f"'{file}' can't be read ({error.strerror or error})")
            continue
        content = digest_skill(folder, without=SIGNATURES)
        try:
            if kind == OMS:
                from skillc.origins.oms import check_bundle

                yield check_bundle(data, content.hashes, name, trust.roots)
            else:
                from skillc.origins.ssh import check_ssh

                yield check_ssh(data, content.digest, trust.allowed_signers)
        except BrokenSignature as error:
            yield Signature(BROKEN, kind=kind, reason=str(error))
