"""Keys and certificates: read those that a person trusts, check signatures, and say who holds a key.

Keys are those of elliptic curves that Sigstore's bundles have: P-256, P-384 and P-521. This is the only
module that loads `cryptography`, of the extra `sign`.
"""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from skillc import paths
from skillc.errors import InvalidConfiguration, InvalidOption, require_extra
from skillc.origins.signature import EXPIRED, UNKNOWN, VALID, BrokenSignature

with require_extra("sign"):
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.asymmetric.types import CertificatePublicKeyTypes
    from cryptography.x509 import verification
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# What is odd in a certificate from elsewhere is no news for people.
warnings.filterwarnings("ignore", module=__name__.replace(".", r"\."))
MAX_FILE = 1 << 20  # bytes of a file of keys or certificates
MAX_CHAIN = 10  # certificates in a bundle
_HASHES: dict[str, hashes.HashAlgorithm] = {
    "secp256r1": hashes.SHA256(),
    "secp384r1": hashes.SHA384(),
    "secp521r1": hashes.SHA512(),
}
_PUBLIC_KEY = re.compile(rb"-----BEGIN PUBLIC KEY-----.+?-----END PUBLIC KEY-----", re.DOTALL)
# What a key or certificate that is none raises.
_FAULTS = (
    *(ValueError, TypeError, UnsupportedAlgorithm),
    *(x509.DuplicateExtension, x509.InvalidVersion, x509.UnsupportedGeneralNameType),
)
PrivateKey = ec.EllipticCurvePrivateKey
PublicKey = ec.EllipticCurvePublicKey


@dataclass(frozen=True, slots=True)
class Roots:
    """What a person trusts: root certificates, and keys with their names, which are those of their files."""

    certificates: tuple[x509.Certificate, ...] = ()
    keys: tuple[tuple[PublicKey, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Holder:
    """The holder of a key: its name, the fingerprint of its root, and what is to be said of it."""

    key: PublicKey
    name: str
    root: str
    state: str
    reason: str = ""
    is_expired: bool = False


def has_signed(key: PublicKey, data: bytes, signature: bytes) -> bool:
    """Return whether a signature over these bytes was made by the private half of a key."""
    try:
        key.verify(signature, data, ec.ECDSA(_HASHES[key.curve.name]))
    except InvalidSignature:
        return False
    return True


def sign_bytes(key: PrivateKey, data: bytes) -> bytes:
    return key.sign(data, ec.ECDSA(_HASHES[key.curve.name]))


def fingerprint(key: CertificatePublicKeyTypes) -> str:
    """Return the SHA-256 of a key as DER, written as `ssh-keygen` writes it."""
    assert not isinstance(key, bytes)
    der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return "SHA256:" + b64encode(hashlib.sha256(der).digest()).decode().rstrip("=")


def to_pem(key: PublicKey) -> bytes:
    return key.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def hint_of(key: PublicKey) -> str:
    """Return what a bundle without certificates names a key by: the SHA-256 of its PEM."""
    return hashlib.sha256(to_pem(key)).hexdigest()


@contextmanager
def _using(what: str, error: Callable[[str], Exception] = InvalidOption) -> Iterator[None]:
    """Raise an error that says why something of a person's can't be used."""
    try:
        yield
    except OSError as fault:
        raise error(f"{what} can't be read: {fault.strerror or fault}") from None
    except _FAULTS as fault:
        raise error(f"{what} can't be used: {fault}") from None


def read_roots(files: Sequence[str]) -> Roots:
    """Read PEM files of certificates and public keys; raises InvalidConfiguration for one that is neither."""
    certificates: list[x509.Certificate] = []
    keys: list[tuple[PublicKey, str]] = []
    for path in files:
        name = os.path.splitext(os.path.basename(path))[0]
        with _using("this root", partial(InvalidConfiguration, path)):
            data = paths.read_regular(path, MAX_FILE)
            blocks = _PUBLIC_KEY.findall(data)
            keys += [(read_public_key(block), name) for block in blocks]
            if not blocks or b"-----BEGIN CERTIFICATE" in data:
                certificates += x509.load_pem_x509_certificates(data)
    return Roots(tuple(certificates), tuple(keys))


def read_public_key(pem: bytes) -> PublicKey:
    """Return a public key from its PEM; raises ValueError for one that can't be used."""
    try:
        return _require_curve(serialization.load_pem_public_key(pem))
    except UnsupportedAlgorithm as error:
        raise ValueError(str(error)) from None


def read_signing_key(path: str) -> PrivateKey:
    """Read the private key in a PEM file; raises InvalidOption for one that can't be used."""
    with _using(f"the key '{path}'"):
        try:
            key = serialization.load_pem_private_key(paths.read_regular(path, MAX_FILE), None)
        except TypeError:
            reason = "it has a passphrase; an SSH key can have one, with ssh-agent or without"
            raise ValueError(reason) from None
        _require_curve(key.public_key())
    assert isinstance(key, PrivateKey)
    return key


def make_signing_key() -> bytes:
    """Return a new private key as PEM."""
    form, secret = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return ec.generate_private_key(ec.SECP256R1()).private_bytes(serialization.Encoding.PEM, form, secret)


def read_certificates(path: str, key: PrivateKey) -> list[bytes]:
    """Read the certificate of a key and those above it, as DER; raises InvalidOption."""
    with _using(f"the file of certificates '{path}'"):
        chain = x509.load_pem_x509_certificates(paths.read_regular(path, MAX_FILE))
        if chain[0].public_key() != key.public_key():
            raise ValueError("the first one is not that of the key")
    return [each.public_bytes(serialization.Encoding.DER) for each in chain]


def identify(chain: Sequence[bytes], roots: Roots, now: datetime | None = None) -> Holder:
    """Say who holds the first certificate of a chain; raises BrokenSignature for one that is no chain.

    Without a root that the person named, the root is the last certificate of the chain itself.
    """
    now = now or datetime.now(UTC)
    if not 0 < len(chain) <= MAX_CHAIN:
        raise BrokenSignature(f"it has {len(chain)} certificates")
    try:
        leaf, *others = [x509.load_der_x509_certificate(each) for each in chain]
        key, name = _require_curve(leaf.public_key(), BrokenSignature), _name_of(leaf)
        _require_signing(leaf)
        top = [others[-1] if others else leaf]
        # Authorities may have a younger certificate than the signer.
        begin = max(each.not_valid_before_utc for each in (leaf, *others))
        for certificates, is_known in ((roots.certificates, True), (top, False)):
            for time in (now, begin):
                if root := _find_root(leaf, others, certificates, time):
                    is_expired = time != now
                    reasons = [] if is_known else ["its root is not among those of [trust] roots"]
                    reasons += [_describe_dates(leaf, now)] if is_expired else []
                    state = (EXPIRED if is_expired else VALID) if is_known else UNKNOWN
                    return Holder(key, name, root, state, "; ".join(reasons), is_expired)
    except _FAULTS:
        raise BrokenSignature("a certificate in it can't be read") from None
    raise BrokenSignature("its certificates do not follow from one another")


def _find_root(
    leaf: x509.Certificate,
    others: Sequence[x509.Certificate],
    roots: Sequence[x509.Certificate],
    time: datetime,
) -> str | None:
    """Return the fingerprint of the root that a certificate follows from, as of a time; None without one."""
    if not roots:
        return None
    if leaf in roots:  # named itself, or without any other certificate
        inside = leaf.not_valid_before_utc <= time <= leaf.not_valid_after_utc
        return fingerprint(leaf.public_key()) if inside else None
    # Certificates of signers have no host names: what the verifier wants of web sites does not count.
    either, authority = verification.Criticality.AGNOSTIC, verification.ExtensionPolicy.permit_all()
    authority = authority.require_present(x509.BasicConstraints, either, _require_authority)
    authority = authority.may_be_present(x509.KeyUsage, either, _require_authority)
    signer = verification.ExtensionPolicy.permit_all()
    policy = verification.PolicyBuilder().store(verification.Store(list(roots))).time(time)
    policy = policy.extension_policies(ca_policy=authority, ee_policy=signer).max_chain_depth(MAX_CHAIN)
    try:
        result = policy.build_client_verifier().verify(leaf, list(others))
    except verification.VerificationError:
        return None
    return fingerprint(result.chain[-1].public_key())


def _require_authority(policy: object, certificate: object, value: x509.ExtensionType | None) -> None:
    """Raise ValueError for a certificate above the signer's that may not make others."""
    may_not = isinstance(value, x509.BasicConstraints) and not value.ca
    if may_not or (isinstance(value, x509.KeyUsage) and not value.key_cert_sign):
        raise ValueError("it is not of an authority")


def _require_signing(leaf: x509.Certificate) -> None:
    """Raise BrokenSignature for a certificate that is for something else, such as a web site."""
    for extension in leaf.extensions:
        value = extension.value
        if isinstance(value, x509.KeyUsage) and not value.digital_signature:
            raise BrokenSignature("its certificate is not for signatures")
        if isinstance(value, x509.ExtendedKeyUsage) and not {
            ExtendedKeyUsageOID.CODE_SIGNING,
            ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE,
        }.intersection(value):
            raise BrokenSignature("its certificate is not for signatures of code")


def _describe_dates(leaf: x509.Certificate, now: datetime) -> str:
    if now < leaf.not_valid_before_utc:
        return f"its certificate is valid from {leaf.not_valid_before_utc:%Y-%m-%d} on"
    if now > leaf.not_valid_after_utc:
        return f"its certificate was valid until {leaf.not_valid_after_utc:%Y-%m-%d}"
    return "a certificate above it is not valid today"


def _name_of(certificate: x509.Certificate) -> str:
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    return str(names[0].value) if names else certificate.subject.rfc4514_string()


def _require_curve(key: object, error: type[Exception] = ValueError) -> PublicKey:
    if not isinstance(key, PublicKey) or key.curve.name not in _HASHES:
        raise error("its key is none of the curves P-256, P-384 and P-521")
    return key
