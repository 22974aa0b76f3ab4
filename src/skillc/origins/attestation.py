"""Attested publications: what a registry says of a version, signed with a key of its own.

The statement is about the digest of all files [D64]. Its predicate says which registry, by whom or by which
workflow of CI it was published, when, and what an audit said:

    {"registry", "skill", "version", "publishedAt", "publisher", "build": {…}, "audit"}

It says that the registry took these files in so, and nothing about what they do.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillc import atomic
from skillc.origins.signature import REGISTRY, UNKNOWN, VALID, BrokenSignature, Signature, reading
from skillc.origins.statement import read_statement, sign_statement

if TYPE_CHECKING:
    from skillc.origins.keys import PrivateKey

PREDICATE = "urn:skillc:publication:v1"


@dataclass(frozen=True, slots=True)
class Attester:
    """The keys of a registry: the first signs, and all are valid."""

    keys: Sequence[PrivateKey]

    @classmethod
    def open(cls, files: Sequence[str], default: str = "") -> Attester:
        """Read keys from PEM files; without any, make the one at `default`, for this user alone."""
        from skillc.origins.keys import make_signing_key, read_signing_key

        if not files and default and not os.path.lexists(default):
            atomic.write(default, make_signing_key(), private=True, durable=True)
        return cls([read_signing_key(path) for path in files or [default]])

    def attest(self, skill: str, version: str, digest: str, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Return an envelope that says of a version with this digest what the registry knows."""
        name, predicate = f"{skill}@{version}", {"skill": skill, "version": version, **facts}
        key_id = self.public_keys()[0]["fingerprint"]
        return sign_statement(self.keys[0], name, digest, PREDICATE, predicate, key_id)

    def public_keys(self) -> list[dict[str, str]]:
        """Return the keys that others check with."""
        from skillc.origins.keys import fingerprint, to_pem

        keys = [key.public_key() for key in self.keys]
        return [{"fingerprint": fingerprint(key), "pem": to_pem(key).decode()} for key in keys]


def check_attestation(
    data: bytes, name: str, digest: str, keys: Sequence[str], roots: Sequence[str]
) -> Signature:
    """Check what a registry said of a version, such as `acme/pdf@1.2.0`; raises BrokenSignature.

    `digest` is that of the files, `keys` are the PEMs that the registry served, and `roots` the files that
    the person trusts.
    """
    from skillc.origins.keys import fingerprint, has_signed, read_public_key, read_roots

    with reading("statement of a registry"):
        statement = read_statement(json.loads(data), PREDICATE)
        candidates = {fingerprint(key): key for key in map(read_public_key, [pem.encode() for pem in keys])}
    if statement.name != name:
        raise BrokenSignature(f"the registry attested '{statement.name}', and this is '{name}'")
    if statement.sha256 != digest:
        raise BrokenSignature(f"the registry attested other files of '{name}'")
    key = candidates.get(statement.key_id)
    if key is None or not has_signed(key, statement.signed, statement.signature):
        raise BrokenSignature("no key of the registry made it")
    state, reason = VALID, describe_facts(statement.predicate)
    if statement.key_id not in {fingerprint(each) for each, _ in read_roots(roots).keys}:
        state, reason = UNKNOWN, f"{reason}; the registry's key is not among those of [trust] roots"
    registry = str(statement.predicate.get("registry") or "a registry")
    return Signature(state, registry, REGISTRY, statement.key_id, reason)


def describe_facts(facts: Mapping[str, Any]) -> str:
    """Say who published a version, as its registry attests."""
    words = [f"published by {facts.get('publisher')} on {str(facts.get('publishedAt'))[:10]}"]
    build = facts.get("build")
    if isinstance(build, dict) and build.get("repository"):
        words.append(f"from {build.get('repository')}, {build.get('workflow')}")
    return " ".join(words)
