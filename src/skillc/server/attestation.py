"""Attest what is published, with keys of the registry's own, and check by whom it is signed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from skillc.contract import encode
from skillc.errors import MissingExtra, SignatureBroken, SignerRefused
from skillc.origins import Attester, Trust, check_signatures, combine, require_signer
from skillc.registry import Package, default_store
from skillc.registry.model import Version
from skillc.server.responses import Refusal
from skillc.server.uploads import Workplace
from skillc.skills import SIGNATURES, write_files

FILE = "attestation.pem"  # beside a store that is a file, where no keys are named


def open_attester(store: str, files: Sequence[str]) -> Attester | None:
    """Return the keys of a registry; without files, one beside its SQLite store, which is made once.

    A registry on PostgreSQL has several servers, so that its keys have to be named.
    """
    path = default_store(store).removeprefix("sqlite://")
    default = "" if "://" in path else os.path.join(os.path.dirname(os.path.abspath(path)), FILE)
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
