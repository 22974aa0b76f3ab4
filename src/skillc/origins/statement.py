"""Statements with a signature: in-toto statements in DSSE envelopes, which OMS and registries use.

    {"payloadType": "application/vnd.in-toto+json", "payload": <base64>, "signatures": [{"sig", "keyid"}]}

What is signed is "DSSEv1", the type and the payload, each with its length before it.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillc.origins.signature import reading

if TYPE_CHECKING:
    from skillc.origins.keys import PrivateKey

PAYLOAD = "application/vnd.in-toto+json"
STATEMENT = "https://in-toto.io/Statement/v1"


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
    signature = {"sig": encode(sign_bytes(key, _signed_bytes(payload))), "keyid": key_id}
    return {"payload": encode(payload), "payloadType": PAYLOAD, "signatures": [signature]}


def encode(data: bytes) -> str:
    return b64encode(data).decode()


def _signed_bytes(payload: bytes) -> bytes:
    return b"DSSEv1 %d %b %d %b" % (len(PAYLOAD), PAYLOAD.encode(), len(payload), payload)
