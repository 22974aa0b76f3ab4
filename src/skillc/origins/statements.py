"""Statements with a signature: in-toto statements in DSSE envelopes, as OMS and registries make them.

    {"payloadType": "application/vnd.in-toto+json", "payload": <base64>, "signatures": [{"sig", "keyid"}]}

What is signed is "DSSEv1", the type and the payload, each with its length before it. There are two kinds:

- `skill.oms.sig`, a Sigstore bundle 0.3, lists the SHA-256 of every file. Its predicate is
  https://model_signing/signature/v1.0, as the OpenSSF's model signing makes and reads it. Transparency logs
  are not asked: what is checked is here.
- A registry attests each version that is published: the digest of all files [D64], by whom or by which
  workflow of CI it was published, when, and what an audit said. It says that the registry took these files in
  so, and nothing about what they do.
"""

from __future__ import annotations

import hashlib
import json
import os
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillc import atomic
from skillc.origins.signature import (
    OMS,
    REGISTRY,
    UNKNOWN,
    VALID,
    BrokenSignature,
    NotChecked,
    Signature,
    reading,
)
from skillc.skills import SIGNATURES, digest_skill

if TYPE_CHECKING:
    from skillc.origins.keys import Holder, PrivateKey

PAYLOAD = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json"
FILES = "https://model_signing/signature/v1.0"  # the predicate of OMS
PUBLICATION = "urn:skillc:publication:v1"  # that of registries
_WHAT = "Sigstore bundle of version 0.3 for files"
# What a signer may leave out besides signatures, at the top: settings of git. Model signing leaves out
# `.github` as well, where any text may be.
_IGNORED = (".gitattributes", ".gitignore")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement about one subject, with what is signed and the signature. It is not checked yet."""

    name: str
    sha256: str  # of the subject, in hexadecimal
    predicate: Mapping[str, Any]
    signed: bytes
    signature: bytes
    key_id: str


def read_statement(envelope: Any, predicate_type: str) -> Statement:
    """Return the statement in an envelope, with a predicate of this type; raises BrokenSignature."""
    with reading("signed statement about just one subject"):
        payload = b64decode(envelope["payload"], validate=True)
        statement = json.loads(payload)
        (subject,), (signature,) = statement["subject"], envelope["signatures"]
        types = envelope["payloadType"], statement["_type"], statement["predicateType"]
        if types != (PAYLOAD, STATEMENT, predicate_type):
            raise ValueError
        return Statement(
            subject["name"],
            subject["digest"]["sha256"],
            dict(statement["predicate"].items()),
            _signed_bytes(payload),
            b64decode(signature["sig"], validate=True),
            str(signature.get("keyid")),
        )


def sign_statement(
    key: PrivateKey,
    name: str,
    sha256: str,
    predicate_type: str,
    predicate: Mapping[str, Any],
    key_id: str = "",
) -> dict[str, Any]:
    """Return an envelope with a statement about a subject, signed by a key."""
    from skillc.origins.keys import sign_bytes

    statement = {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": sha256}}],
        "predicateType": predicate_type,
        "predicate": predicate,
    }
    payload = json.dumps(statement, ensure_ascii=False, separators=(",", ":")).encode()
    signature = {"sig": _encode(sign_bytes(key, _signed_bytes(payload))), "keyid": key_id}
    return {"payload": _encode(payload), "payloadType": PAYLOAD, "signatures": [signature]}


def _encode(data: bytes) -> str:
    return b64encode(data).decode()


def _signed_bytes(payload: bytes) -> bytes:
    return b"DSSEv1 %d %b %d %b" % (len(PAYLOAD), PAYLOAD.encode(), len(payload), payload)


def check_bundle(data: bytes, files: Mapping[str, str], name: str, roots: Sequence[str]) -> Signature:
    """Check a bundle against the files of a skill with this name; raises BrokenSignature or NotChecked.

    `files` has the SHA-256 of each file by its path. `roots` are PEM files.
    """
    material, envelope = _read_bundle(data)
    statement = read_statement(envelope, FILES)
    uncovered = _compare(statement, files)
    from skillc.origins.keys import has_signed  # of an extra; files are compared without

    holder = _find_holder(material, roots)
    if not has_signed(holder.key, statement.signed, statement.signature):
        raise BrokenSignature(f"it was not made by '{holder.name}' for this list of files")
    if statement.name != name:
        raise BrokenSignature(f"it is for a skill named '{statement.name}', and this is '{name}'")
    reasons = [holder.reason, f"not covered: {', '.join(uncovered)}" if uncovered else ""]
    reason = "; ".join(filter(None, reasons))
    return Signature(holder.state, holder.name, OMS, holder.root, reason, holder.is_expired)


def _read_bundle(data: bytes) -> tuple[Mapping[str, Any], Any]:
    """Return what a bundle says of the key that made it, and its envelope; raises BrokenSignature."""
    with reading(_WHAT):
        bundle = json.loads(data)
        if bundle["mediaType"] != BUNDLE:
            raise ValueError
        return dict(bundle["verificationMaterial"].items()), bundle["dsseEnvelope"]


def sign_folder(folder: str, name: str, key: PrivateKey, chain: Sequence[bytes] = ()) -> bytes:
    """Return a bundle over the files of a skill; `chain` has the key's certificate and those above it."""
    from skillc.origins.keys import hint_of

    digests = dict(sorted(digest_skill(folder, without=SIGNATURES).hashes.items()))
    predicate = {
        "serialization": {
            "method": "files",
            "hash_type": "sha256",
            "allow_symlinks": False,
            "ignore_paths": sorted(SIGNATURES),
        },
        "resources": [
            {"name": path, "algorithm": "sha256", "digest": digest} for path, digest in digests.items()
        ],
    }
    material: dict[str, Any] = {"publicKey": {"hint": hint_of(key.public_key())}}
    if chain:
        material = {"x509CertificateChain": {"certificates": [{"rawBytes": _encode(each)} for each in chain]}}
    bundle = {
        "mediaType": BUNDLE,
        "verificationMaterial": {**material, "tlogEntries": []},
        "dsseEnvelope": sign_statement(key, name, _root_digest(digests.values()), FILES, predicate),
    }
    return json.dumps(bundle).encode() + b"\n"


def _compare(statement: Statement, files: Mapping[str, str]) -> list[str]:
    """Return the files that a statement leaves out by right; raises BrokenSignature where others differ."""
    with reading(_WHAT):
        form, resources = statement.predicate["serialization"], statement.predicate["resources"]
        if (form["method"], form["hash_type"]) != ("files", "sha256"):
            raise BrokenSignature("it counts files in another way than by their SHA-256")
        ignored = [*form.get("ignore_paths", ())]
        if any(each["algorithm"] != "sha256" for each in resources):
            raise BrokenSignature("a file in it has no SHA-256")
        listed = {each["name"]: each["digest"] for each in resources}
        if len(listed) < len(resources):
            raise BrokenSignature("it lists a file twice")
        if _root_digest(listed.values()) != statement.sha256:
            raise BrokenSignature("its list of files is not what its digest says")
    for path, digest in listed.items():
        if path not in files:
            raise BrokenSignature(f"'{path}' was signed, and is not there")
        if files[path] != digest:
            raise BrokenSignature(f"'{path}' is not as it was signed")
    others = [path for path in files if path not in listed]
    for path in others:
        if path not in _IGNORED or path not in ignored:
            raise BrokenSignature(f"'{path}' was not signed")
    return others


def _root_digest(digests: Iterable[str]) -> str:
    return hashlib.sha256(b"".join(map(bytes.fromhex, digests))).hexdigest()


def _find_holder(material: Mapping[str, Any], roots: Sequence[str]) -> Holder:
    """Return the holder of the key that a bundle names; raises NotChecked for one that is not known."""
    from skillc.origins.keys import Holder, fingerprint, hint_of, identify, read_roots

    known = read_roots(roots)
    with reading(_WHAT):
        if "x509CertificateChain" not in material:
            hint = material["publicKey"]["hint"]
            for key, name in known.keys:
                if hint_of(key) == hint:
                    return Holder(key, name, fingerprint(key), VALID)
            raise NotChecked("it names a key by its fingerprint alone, and [trust] roots has no such key")
        certificates = material["x509CertificateChain"]["certificates"]
        chain = [b64decode(each["rawBytes"], validate=True) for each in certificates]
    return identify(chain, known)


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
        return sign_statement(self.keys[0], name, digest, PUBLICATION, predicate, key_id)

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
    with reading("statement of a registry"):
        statement = read_statement(json.loads(data), PUBLICATION)
    if statement.name != name:
        raise BrokenSignature(f"the registry attested '{statement.name}', and this is '{name}'")
    if statement.sha256 != digest:
        raise BrokenSignature(f"the registry attested other files of '{name}'")
    from skillc.origins.keys import fingerprint, has_signed, read_public_key, read_roots

    with reading("key of the registry"):
        candidates = {fingerprint(key): key for key in map(read_public_key, [pem.encode() for pem in keys])}
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
