"""Statements with a signature: in-toto statements in DSSE envelopes, which OMS and registries use.

    {"payloadType": "application/vnd.in-toto+json", "payload": <base64>, "signatures": [{"sig", "keyid"}]}

What is signed is "DSSEv1", the type and the payload, each with its length before it. Values come from
outside: whatever is not as it should be is BrokenSignature.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from skillc.origins.signature import BrokenSignature

if TYPE_CHECKING:
    from skillc.origins.keys import SigningKey

PAYLOAD = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement about one subject, with what is signed and the signature. It is not checked yet."""

    name: str
    sha256: str  # of the subject, in hexadecimal
    predicate: Mapping[str, Any]
    signed: bytes
    signature: bytes
    key_id: str


def read_json(data: bytes) -> Mapping[str, Any]:
    """Return a JSON object; raises BrokenSignature."""
    try:
        return require(json.loads(data), dict, "it is no JSON object")
    except (ValueError, RecursionError):
        raise BrokenSignature("it is no JSON") from None


def require(value: Any, kind: type[T], reason: str) -> T:
    """Return a value of a type; raises BrokenSignature with the reason."""
    if not isinstance(value, kind):
        raise BrokenSignature(reason)
    return value


def decode(value: Any) -> bytes:
    """Return what base64 stands for; raises BrokenSignature."""
    try:
        return base64.b64decode(require(value, str, "it has no text where base64 should be"), validate=True)
    except (binascii.Error, ValueError):
        raise BrokenSignature("a part of it is not base64") from None


def read_statement(envelope: Any, predicate_type: str) -> Statement:
    """Return the statement in an envelope, with a predicate of this type; raises BrokenSignature."""
    envelope = require(envelope, dict, "it has no envelope")
    if envelope.get("payloadType") != PAYLOAD:
        raise BrokenSignature("its envelope holds something else than a statement")
    payload = decode(envelope.get("payload"))
    signatures = envelope.get("signatures")
    if not isinstance(signatures, list) or len(signatures) != 1 or not isinstance(signatures[0], dict):
        raise BrokenSignature("its envelope does not have just one signature")
    statement = read_json(payload)
    if statement.get("_type") != STATEMENT or statement.get("predicateType") != predicate_type:
        raise BrokenSignature("its statement is of another kind")
    subjects = statement.get("subject")
    if not isinstance(subjects, list) or len(subjects) != 1 or not isinstance(subjects[0], dict):
        raise BrokenSignature("its statement is not about just one subject")
    digests = require(subjects[0].get("digest"), dict, "its subject has no digest")
    key_id = signatures[0].get("keyid")
    return Statement(
        require(subjects[0].get("name"), str, "its subject has no name"),
        require(digests.get("sha256"), str, "its subject has no SHA-256"),
        require(statement.get("predicate"), dict, "its statement has no predicate"),
        _signed_bytes(payload),
        decode(signatures[0].get("sig")),
        key_id if isinstance(key_id, str) else "",
    )


def sign_statement(
    key: SigningKey,
    name: str,
    sha256: str,
    predicate_type: str,
    predicate: Mapping[str, Any],
    key_id: str = "",
) -> dict[str, Any]:
    """Return an envelope with a statement about a subject, signed by a key."""
    statement = {
        "_type": STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": sha256}}],
        "predicateType": predicate_type,
        "predicate": predicate,
    }
    payload = json.dumps(statement, ensure_ascii=False, separators=(",", ":")).encode()
    signature = {"sig": encode(key.sign(_signed_bytes(payload))), "keyid": key_id}
    return {"payload": encode(payload), "payloadType": PAYLOAD, "signatures": [signature]}


def encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _signed_bytes(payload: bytes) -> bytes:
    return b"DSSEv1 %d %b %d %b" % (len(PAYLOAD), PAYLOAD.encode(), len(payload), payload)
