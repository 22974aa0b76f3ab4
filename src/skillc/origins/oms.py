"""OMS signatures (`skill.oms.sig`): a Sigstore bundle 0.3 whose statement lists the SHA-256 of every file.

    {"mediaType": …, "verificationMaterial": {"x509CertificateChain" or "publicKey": …}, "dsseEnvelope": …}

The predicate is https://model_signing/signature/v1.0, as the OpenSSF's model signing makes and reads it.
Transparency logs are not asked: what is checked is here.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from skillc.origins.signature import OMS, VALID, BrokenSignature, NotChecked, Signature, reading
from skillc.origins.statement import Statement, encode, read_statement, sign_statement
from skillc.skills import SIGNATURES, digest_skill

if TYPE_CHECKING:
    from skillc.origins.keys import Holder, PrivateKey

BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json"
PREDICATE = "https://model_signing/signature/v1.0"
_WHAT = "Sigstore bundle of version 0.3 for files"
# What a signer may leave out besides signatures, at the top: settings of git. Model signing leaves out
# `.github` as well, where any text may be.
_IGNORED = (".gitattributes", ".gitignore")


def check_bundle(data: bytes, files: Mapping[str, str], name: str, roots: Sequence[str]) -> Signature:
    """Check a bundle against the files of a skill with this name; raises BrokenSignature or NotChecked.

    `files` has the SHA-256 of each file by its path. `roots` are PEM files.
    """
    material, envelope = read_bundle(data)
    statement = read_statement(envelope, PREDICATE)
    uncovered = _compare(statement, files)
    holder = _find_holder(material, roots)
    if not holder.has_signed(statement.signed, statement.signature):
        raise BrokenSignature(f"it was not made by '{holder.name}' for this list of files")
    if statement.name != name:
        raise BrokenSignature(f"it is for a skill named '{statement.name}', and this is '{name}'")
    reasons = [holder.reason, f"not covered: {', '.join(uncovered)}" if uncovered else ""]
    reason = "; ".join(filter(None, reasons))
    return Signature(holder.state, holder.name, OMS, holder.root, reason, holder.is_expired)


def read_bundle(data: bytes) -> tuple[Mapping[str, Any], Any]:
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
        material = {"x509CertificateChain": {"certificates": [{"rawBytes": encode(each)} for each in chain]}}
    bundle = {
        "mediaType": BUNDLE,
        "verificationMaterial": {**material, "tlogEntries": []},
        "dsseEnvelope": sign_statement(key, name, _root_digest(digests.values()), PREDICATE, predicate),
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
