"""OMS signatures (`skill.oms.sig`): a Sigstore bundle 0.3 whose statement lists the SHA-256 of every file.

    {"mediaType": …, "verificationMaterial": {"x509CertificateChain" or "publicKey": …}, "dsseEnvelope": …}

The predicate is https://model_signing/signature/v1.0, as the OpenSSF's model signing makes and reads it.
Transparency logs are not asked: what is checked is here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillc.errors import MissingExtra
from skillc.origins.dsse import Statement, decode, encode, read_json, read_statement, require, sign_statement
from skillc.origins.signature import OMS, UNCHECKED, VALID, BrokenSignature, Signature
from skillc.skills import SIGNATURES, digest_skill

if TYPE_CHECKING:
    from skillc.origins.keys import Holder, Roots, SigningKey

BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json"
PREDICATE = "https://model_signing/signature/v1.0"
# What a signer may leave out besides signatures, at the top: settings of git. Model signing leaves out
# `.github` as well, where any text may be.
_IGNORED = (".gitattributes", ".gitignore")


def check_bundle(data: bytes, files: Mapping[str, str], name: str, roots: Sequence[str]) -> Signature:
    """Check a bundle against the files of a skill with this name; raises BrokenSignature.

    `files` has the SHA-256 of each file by its path. `roots` are PEM files.
    """
    material = read_material(data)
    statement = read_statement(read_json(data).get("dsseEnvelope"), PREDICATE)
    uncovered = _compare(statement, files)
    try:
        from skillc.origins.keys import read_roots

        holder = _find_holder(material, read_roots(roots))
    except MissingExtra as error:
        return Signature(UNCHECKED, kind=OMS, reason=error.message)
    if holder is None:
        reason = "it names a key by its fingerprint alone, and [trust] roots has no such key"
        return Signature(UNCHECKED, kind=OMS, reason=reason)
    if not holder.key.has_signed(statement.signed, statement.signature):
        raise BrokenSignature(f"it was not made by '{holder.key.name}' for this list of files")
    if statement.name != name:
        raise BrokenSignature(f"it is for a skill named '{statement.name}', and this is '{name}'")
    reasons = [holder.reason, f"not covered: {', '.join(uncovered)}" if uncovered else ""]
    reason = "; ".join(filter(None, reasons))
    return Signature(holder.state, holder.key.name, OMS, holder.root, reason)


def read_material(data: bytes) -> Mapping[str, Any]:
    """Return what a bundle says of the key that made it; raises BrokenSignature."""
    bundle = read_json(data)
    if bundle.get("mediaType") != BUNDLE:
        raise BrokenSignature("it is no Sigstore bundle of version 0.3")
    return require(bundle.get("verificationMaterial"), dict, "it does not say whose it is")


def sign_folder(folder: str, name: str, key: SigningKey, chain: Sequence[bytes] = ()) -> bytes:
    """Return a bundle over the files of a skill; `chain` has the key's certificate and those above it."""
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
    material: dict[str, Any] = {"publicKey": {"hint": key.public.hint}}
    if chain:
        material = {"x509CertificateChain": {"certificates": [{"rawBytes": encode(each)} for each in chain]}}
    bundle = {
        "mediaType": BUNDLE,
        "verificationMaterial": {**material, "tlogEntries": []},
        "dsseEnvelope": sign_statement(key, name, _root_digest(digests.values()), PREDICATE, predicate),
    }
    return json.dumps(bundle).encode() + b"\n"


def _compare(statement: Statement, files: Mapping[str, str]) -> list[str]:
    """Return the files that a statement leaves out by right; raises BrokenSignature where others differ."""
    serialization = require(statement.predicate.get("serialization"), dict, "it does not say how files count")
    if (serialization.get("method"), serialization.get("hash_type")) != ("files", "sha256"):
        raise BrokenSignature("it counts files in another way than by their SHA-256")
    ignored = serialization.get("ignore_paths", [])
    leaves_out = {each for each in _IGNORED if isinstance(ignored, list) and each in ignored}
    listed = _read_resources(statement)
    for path, digest in listed.items():
        if path not in files:
            raise BrokenSignature(f"'{path}' was signed, and is not there")
        if files[path] != digest:
            raise BrokenSignature(f"'{path}' is not as it was signed")
    others = [path for path in files if path not in listed]
    for path in others:
        if path not in leaves_out:
            raise BrokenSignature(f"'{path}' was not signed")
    return others


def _read_resources(statement: Statement) -> dict[str, str]:
    """Return the files that a statement lists, with their SHA-256."""
    listed: dict[str, str] = {}
    for each in require(statement.predicate.get("resources"), list, "it lists no files"):
        path, digest = (require(each, dict, "a file in it is none").get(key) for key in ("name", "digest"))
        if not isinstance(path, str) or not isinstance(digest, str) or each.get("algorithm") != "sha256":
            raise BrokenSignature("a file in it has no name or no SHA-256")
        if path in listed:
            raise BrokenSignature(f"it lists '{path}' twice")
        listed[path] = digest
    if _root_digest(listed.values()) != statement.sha256:
        raise BrokenSignature("its list of files is not what its digest says")
    return listed


def _root_digest(digests: Iterable[str]) -> str:
    try:
        return hashlib.sha256(b"".join(map(bytes.fromhex, digests))).hexdigest()
    except ValueError:
        raise BrokenSignature("a digest in it is not hexadecimal") from None


def _find_holder(material: Mapping[str, Any], roots: Roots) -> Holder | None:
    """Return the holder of the key that a bundle names; None for a key that only its hint tells."""
    from skillc.origins.keys import Holder, identify

    if "x509CertificateChain" in material:
        chain = require(material["x509CertificateChain"], dict, "it has no certificates")
        certificates = require(chain.get("certificates"), list, "it has no certificates")
        entries = [require(each, dict, "a certificate in it is none") for each in certificates]
        return identify([decode(each.get("rawBytes")) for each in entries], roots)
    key = require(material.get("publicKey"), dict, "it does not say whose it is")
    known = next((each for each in roots.keys if each.hint == key.get("hint")), None)
    return Holder(known, known.fingerprint, VALID) if known else None
