"""Attested publications: what a registry says of a version, signed with a key of its own.

The statement is about the digest of all files [D64]. Its predicate says which registry, by whom or by which
workflow of CI it was published, when, and what an audit said:

    {"registry", "skill", "version", "publishedAt", "publisher", "build": {…}, "audit", "mirrored"}

It says that the registry took these files in so, and nothing about what they do.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillc import atomic
from skillc.errors import MissingExtra
from skillc.origins.dsse import read_json, read_statement, sign_statement
from skillc.origins.signature import REGISTRY, UNCHECKED, UNKNOWN, VALID, BrokenSignature, Signature

if TYPE_CHECKING:
    from skillc.origins.keys import SigningKey

PREDICATE = "urn:skillc:publication:v1"


@dataclass(frozen=True, slots=True)
class Attester:
    """The keys of a registry: the first signs, and all are valid."""

    keys: Sequence[SigningKey]

    @classmethod
    def open(cls, files: Sequence[str], default: str = "") -> Attester:
        """Read keys from PEM files; without any, make the one at `default`, for this user alone."""
        from skillc.origins.keys import make_signing_key, read_signing_key

        if not files and default and not os.path.lexists(default):
            atomic.write(default, make_signing_key(), private=True, durable=True)
        return cls([read_signing_key(path) for path in files or [default]])

    def attest(self, skill: str, version: str, digest: str, facts: Mapping[str, Any]) -> dict[str, Any]:
        """Return an envelope that says of a version with this digest what the registry knows."""
        key, name = self.keys[0], f"{skill}@{version}"
        predicate = {"skill": skill, "version": version, **facts}
        return sign_statement(key, name, digest, PREDICATE, predicate, key.public.fingerprint)

    def public_keys(self) -> list[dict[str, str]]:
        """Return the keys that others check with."""
        keys = [key.public for key in self.keys]
        return [{"fingerprint": key.fingerprint, "pem": key.pem.decode()} for key in keys]


def check_attestation(
    data: bytes, name: str, digest: str, keys: Sequence[str], roots: Sequence[str]
) -> Signature:
    """Check what a registry said of a version, such as `acme/pdf@1.2.0`; raises BrokenSignature.

    `digest` is that of the files, `keys` are the PEMs that the registry served, and `roots` the files that
    the person trusts.
    """
    statement = read_statement(read_json(data), PREDICATE)
    facts = statement.predicate
    if statement.name != name:
        raise BrokenSignature(f"the registry attested '{statement.name}', and this is '{name}'")
    if statement.sha256 != digest:
        raise BrokenSignature(f"the registry attested other files of '{name}'")
    try:
        from skillc.origins.keys import read_public_key, read_roots

        trusted = {each.fingerprint for each in read_roots(roots).keys}
        candidates = [read_public_key(pem.encode()) for pem in keys]
    except MissingExtra as error:
        return Signature(UNCHECKED, kind=REGISTRY, reason=error.message)
    key = next((each for each in candidates if each.fingerprint == statement.key_id), None)
    if key is None or not key.has_signed(statement.signed, statement.signature):
        raise BrokenSignature("no key of the registry made it")
    state = VALID if key.fingerprint in trusted else UNKNOWN
    reason = describe_facts(facts)
    if state == UNKNOWN:
        reason += "; the registry's key is not among those of [trust] roots"
    return Signature(state, str(facts.get("registry") or "a registry"), REGISTRY, key.fingerprint, reason)


def describe_facts(facts: Mapping[str, Any]) -> str:
    """Say who published a version, as its registry attests."""
    build = facts.get("build")
    words = [f"published by {facts.get('publisher')} on {str(facts.get('publishedAt'))[:10]}"]
    if isinstance(build, dict) and build.get("repository"):
        words.append(f"from {build.get('repository')}, {build.get('workflow')}")
    return " ".join(words)
