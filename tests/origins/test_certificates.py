"""Chains of certificates that an attacker, or a careless authority, makes."""

from __future__ import annotations

import time

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from skillc.origins import BrokenSignature
from skillc.origins.keys import Roots, identify
from skillc.origins.signature import EXPIRED, UNKNOWN, VALID
from tests.origins.authority import certify

ROOT_KEY, MIDDLE_KEY, KEY, EVIL_KEY = (ec.generate_private_key(ec.SECP256R1()) for _ in range(4))
OLD = (-30, -1)
ROOT = certify("Root", ROOT_KEY, is_authority=True)
MIDDLE = certify("Middle", MIDDLE_KEY, "Root", ROOT_KEY, is_authority=True)
LEAF = certify("Signer", KEY, "Middle", MIDDLE_KEY)
UNRELATED = "its certificates do not follow from one another"


def to_der(certificate: bytes) -> bytes:
    return x509.load_pem_x509_certificate(certificate).public_bytes(serialization.Encoding.DER)


def judge(*chain: bytes, root: bytes = ROOT) -> str:
    """Return the state of the holder of a chain, or the sentence of what is wrong."""
    try:
        roots = Roots((x509.load_pem_x509_certificate(root),)) if root else Roots()
        return identify([to_der(each) for each in chain], roots).state
    except BrokenSignature as error:
        return str(error)


def test_chains() -> None:
    """[SURFACES: Signatures] A chain counts if each certificate is by an authority that may make it."""
    assert judge(LEAF, MIDDLE, ROOT) == judge(LEAF, MIDDLE) == VALID
    assert judge(LEAF, certify("Middle", MIDDLE_KEY, "Root", ROOT_KEY)) == UNRELATED  # CA:FALSE
    no_authority = certify("Middle", MIDDLE_KEY, "Root", ROOT_KEY, is_authority=True, certifies=False)
    assert judge(LEAF, no_authority, ROOT) == UNRELATED
    old = certify("Middle", MIDDLE_KEY, "Root", ROOT_KEY, is_authority=True, days=OLD)
    assert judge(LEAF, old) == EXPIRED
    young = certify("Middle", MIDDLE_KEY, "Root", ROOT_KEY, is_authority=True, days=(-20, 300))
    assert judge(certify("Signer", KEY, "Middle", MIDDLE_KEY, days=OLD), young) == EXPIRED
    assert judge(LEAF, MIDDLE, root=certify("Root", ROOT_KEY, is_authority=True, days=OLD)) == EXPIRED


def test_names_that_are_borrowed() -> None:
    """[SURFACES: Signatures] The name of a known signer is worth nothing without the key of the root."""
    forged = certify("Signer", EVIL_KEY, "Root", EVIL_KEY)
    own_root = certify("Root", EVIL_KEY, is_authority=True)
    assert judge(forged, own_root) == UNKNOWN
    assert judge(forged, own_root, ROOT) == judge(forged, ROOT) == UNRELATED
    assert judge(forged, own_root, ROOT, root=b"") == UNRELATED
    assert judge(certify("Evil", EVIL_KEY, "Signer", KEY), LEAF, MIDDLE) == UNRELATED


def test_kinds_of_keys() -> None:
    """[SURFACES: Signatures] A root may have an RSA key; a signer with one is told which keys count."""
    key = rsa.generate_private_key(65537, 2048)
    root = certify("Old root", key, is_authority=True)
    assert judge(certify("Signer", KEY, "Old root", key), root=root) == VALID
    assert judge(certify("Signer", key, "Root", ROOT_KEY)) == (
        "its key is none of the curves P-256, P-384 and P-521"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"\xa0\x03\x02\x01\x02", b"\xa0\x03\x02\x01\x07"),  # a version that there is not
        (b"\x06\x03\x55\x1d\x23", b"\x06\x03\x55\x1d\x0e"),  # an extension twice
    ],
)
def test_certificates_that_are_none(old: bytes, new: bytes) -> None:
    """[SURFACES: Signatures] What is no certificate is a sentence, whatever reads it raises."""
    leaf = to_der(LEAF)
    assert leaf.count(old) == 1
    with pytest.raises(BrokenSignature, match="can't be read"):
        identify([leaf.replace(old, new), to_der(MIDDLE)], Roots())


def test_circles() -> None:
    """[SURFACES: Signatures] Certificates that lead to each other end soon."""
    circle = [certify("Circle", EVIL_KEY, is_authority=True) for _ in range(8)]
    start = time.process_time()
    assert judge(certify("Signer", KEY, "Circle", EVIL_KEY), *circle, ROOT, root=b"") == UNRELATED
    assert time.process_time() - start < 5
