"""Keys and certificates: read those that a person trusts, check signatures, and say who holds a key.

Keys are those of elliptic curves that Sigstore's bundles have: P-256, P-384 and P-521. This is the only
module that loads `cryptography`, of the extra `sign`.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from skillc import paths
from skillc.errors import InvalidConfiguration, InvalidOption, require_extra
from skillc.origins.signature import EXPIRED, UNKNOWN, VALID, BrokenSignature

with require_extra("sign"):
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509 import verification
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# What is odd in a certificate from elsewhere is no news for people.
warnings.filterwarnings("ignore", module=__name__.replace(".", r"\."))
MAX_FILE = 1 << 20  # bytes of a file of keys or certificates
MAX_CHAIN = 10  # certificates in a bundle
_HASHES: dict[int, hashes.HashAlgorithm] = {256: hashes.SHA256(), 384: hashes.SHA384(), 521: hashes.SHA512()}
_SIZES = {"secp256r1": 256, "secp384r1": 384, "secp521r1": 521}
_BLOCK = re.compile(rb"-----BEGIN ([A-Z ]+)-----.+?-----END \1-----", re.DOTALL)
# What a key or certificate that is none raises.
_FAULTS = (
    *(ValueError, TypeError, UnsupportedAlgorithm),
    *(x509.DuplicateExtension, x509.InvalidVersion, x509.UnsupportedGeneralNameType),
)


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A key that checks signatures, and what its holder is called."""

    key: ec.EllipticCurvePublicKey
    name: str = ""

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the key as DER, written as `ssh-keygen` writes it."""
        return _fingerprint(self.key)

    @property
    def hint(self) -> str:
        """What a bundle without certificates names a key by: the SHA-256 of its PEM."""
        return hashlib.sha256(self.pem).hexdigest()

    @property
    def pem(self) -> bytes:
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        return self.key.public_bytes(serialization.Encoding.PEM, form)

    def has_signed(self, data: bytes, signature: bytes) -> bool:
        try:
            self.key.verify(signature, data, ec.ECDSA(_HASHES[_SIZES[self.key.curve.name]]))
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, slots=True)
class SigningKey:
    """A private key, read from a file that stays where it is."""

    key: ec.EllipticCurvePrivateKey

    @property
    def public(self) -> PublicKey:
        return PublicKey(self.key.public_key())

    def sign(self, data: bytes) -> bytes:
        return self.key.sign(data, ec.ECDSA(_HASHES[_SIZES[self.key.curve.name]]))


@dataclass(frozen=True, slots=True)
class Roots:
    """What a person trusts: root certificates and keys, each from a PEM file that the person named."""

    certificates: tuple[x509.Certificate, ...] = ()
    keys: tuple[PublicKey, ...] = ()


@dataclass(frozen=True, slots=True)
class Holder:
    """The holder of a certificate: its key, its name, the key of its root, and what is to be said of it."""

    key: PublicKey
    root: str
    state: str
    reason: str = ""


def read_roots(files: Sequence[str]) -> Roots:
    """Read PEM files of certificates and public keys; raises InvalidConfiguration for one that is neither."""
    certificates: list[x509.Certificate] = []
    keys: list[PublicKey] = []
    for path in files:
        for kind, block in _read_blocks(path):
            try:
                if kind == b"CERTIFICATE":
                    certificates.append(x509.load_pem_x509_certificate(block))
                elif kind == b"PUBLIC KEY":
                    name = os.path.splitext(os.path.basename(path))[0]
                    keys.append(PublicKey(_require_curve(serialization.load_pem_public_key(block)), name))
            except _FAULTS as error:
                reason = f"a certificate or key in it can't be read ({error})"
                raise InvalidConfiguration(path, reason) from None
    return Roots(tuple(certificates), tuple(keys))


def read_signing_key(path: str) -> SigningKey:
    """Read the private key in a PEM file; raises InvalidOption for one that can't be used."""
    try:
        data = paths.read_regular(path, MAX_FILE)
        key = serialization.load_pem_private_key(data, None)
        _require_curve(key.public_key())
    except OSError as error:
        raise InvalidOption(f"the key '{path}' can't be read: {error.strerror or error}") from None
    except TypeError:
        reason = "it has a passphrase; an SSH key can have one, with ssh-agent or without"
        raise InvalidOption(f"the key '{path}' can't be used: {reason}") from None
    except _FAULTS as error:
        raise InvalidOption(f"the key '{path}' can't be used: {error}") from None
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return SigningKey(key)


def make_signing_key() -> bytes:
    """Return a new private key as PEM."""
    form, secret = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return ec.generate_private_key(ec.SECP256R1()).private_bytes(serialization.Encoding.PEM, form, secret)


def read_public_key(pem: bytes, name: str = "") -> PublicKey:
    """Return a public key from its PEM; raises BrokenSignature."""
    try:
        return PublicKey(_require_curve(serialization.load_pem_public_key(pem)), name)
    except _FAULTS:
        raise BrokenSignature("a key in it can't be read") from None


def read_certificates(path: str, key: SigningKey) -> list[bytes]:
    """Read the certificate of a key and those above it, as DER; raises InvalidOption."""
    try:
        chain = [x509.load_pem_x509_certificate(block) for _, block in _read_blocks(path)]
        if not chain or chain[0].public_key() != key.key.public_key():
            raise InvalidOption(f"the first certificate in '{path}' is not that of the key")
    except InvalidConfiguration as error:
        raise InvalidOption(error.message) from None
    except _FAULTS as error:
        raise InvalidOption(f"the certificates in '{path}' can't be used: {error}") from None
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
        key = PublicKey(_require_curve(leaf.public_key(), BrokenSignature), _name_of(leaf))
        _require_signing(leaf)
        top = [others[-1] if others else leaf]
        for certificates, state in ((roots.certificates, VALID), (top, UNKNOWN)):
            for time in (now, leaf.not_valid_before_utc):
                root = _find_root(leaf, others, certificates, time)
                if root is None:
                    continue
                if state == UNKNOWN:
                    return Holder(key, root, state, "its root is not among those of [trust] roots")
                if time == now:
                    return Holder(key, root, state)
                return Holder(key, root, EXPIRED, _describe_dates(leaf, now))
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
        return _fingerprint(_require_curve(leaf.public_key())) if inside else None
    # Certificates of signers have no host names: what the verifier wants of web sites does not count.
    authority = verification.ExtensionPolicy.permit_all().require_present(
        x509.BasicConstraints, verification.Criticality.AGNOSTIC, _require_authority
    )
    authority = authority.may_be_present(
        x509.KeyUsage, verification.Criticality.AGNOSTIC, _require_certifying
    )
    signer = verification.ExtensionPolicy.permit_all()
    policy = verification.PolicyBuilder().store(verification.Store(list(roots))).time(time)
    policy = policy.extension_policies(ca_policy=authority, ee_policy=signer).max_chain_depth(MAX_CHAIN)
    try:
        result = policy.build_client_verifier().verify(leaf, list(others))
    except verification.VerificationError:
        return None
    root = result.chain[-1].public_key()
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    assert not isinstance(root, bytes)
    return _digest(root.public_bytes(serialization.Encoding.DER, form))


def _require_authority(
    policy: verification.Policy, certificate: x509.Certificate, value: x509.BasicConstraints
) -> None:
    if not value.ca:
        raise ValueError("it is no certificate of an authority")


def _require_certifying(
    policy: verification.Policy, certificate: x509.Certificate, value: x509.KeyUsage | None
) -> None:
    if value is not None and not value.key_cert_sign:
        raise ValueError("it is not for certificates")


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


def _require_curve(key: object, error: type[Exception] = ValueError) -> ec.EllipticCurvePublicKey:
    if not isinstance(key, ec.EllipticCurvePublicKey) or key.curve.name not in _SIZES:
        raise error("its key is none of the curves P-256, P-384 and P-521")
    return key


def _fingerprint(key: ec.EllipticCurvePublicKey) -> str:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return _digest(key.public_bytes(serialization.Encoding.DER, form))


def _digest(data: bytes) -> str:
    return "SHA256:" + base64.b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def _read_blocks(path: str) -> list[tuple[bytes, bytes]]:
    """Return the parts of a PEM file with their kinds; raises InvalidConfiguration where there are none."""
    try:
        data = paths.read_regular(path, MAX_FILE)
    except OSError as error:
        raise InvalidConfiguration(path, error.strerror or str(error)) from None
    blocks = [(match[1], match[0]) for match in _BLOCK.finditer(data)]
    if not blocks:
        raise InvalidConfiguration(path, "it is no PEM file of certificates or keys")
    return blocks
