"""Make certificates as a company has them: a root, an authority below it, and a signer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NOW = datetime.now(UTC)
Key = ec.EllipticCurvePrivateKey


def write_key(path: Path, key: Key | None = None) -> Key:
    """Write a private key as PEM."""
    key = key or ec.generate_private_key(ec.SECP384R1())
    form, secret = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    path.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, secret))
    return key


def write_public(path: Path, key: Key) -> Path:
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    path.write_bytes(key.public_key().public_bytes(serialization.Encoding.PEM, form))
    return path


def certify(
    name: str,
    key: Key | rsa.RSAPrivateKey,
    issuer: str = "",
    issuer_key: Key | rsa.RSAPrivateKey | None = None,
    *,
    is_authority: bool = False,
    days: tuple[int, int] = (-30, 365),
    usage: x509.ObjectIdentifier | None = None,
    certifies: bool | None = None,
) -> bytes:
    """Return a certificate as PEM; without an issuer it is its own root."""
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    issuer_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer or name)])
    issuer_key = issuer_key or key
    certifies = is_authority if certifies is None else certifies
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer_name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW + timedelta(days[0]))
        .not_valid_after(NOW + timedelta(days[1]))
        .add_extension(x509.BasicConstraints(is_authority, None), critical=True)
        .add_extension(
            x509.KeyUsage(not certifies, False, False, False, False, certifies, certifies, False, False),
            critical=True,
        )
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False
        )
    )
    if usage is not None:
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    return builder.sign(issuer_key, hashes.SHA384()).public_bytes(serialization.Encoding.PEM)


class Company:
    """A signer with the certificates above it, in files."""

    WEB = ExtendedKeyUsageOID.SERVER_AUTH

    def __init__(self, folder: Path, name: str = "ACME Skills Signing 001") -> None:
        self.folder, self.name = folder, name
        folder.mkdir(exist_ok=True)
        self.root_key, self.middle_key = (ec.generate_private_key(ec.SECP384R1()) for _ in range(2))
        self.key = write_key(folder / "key.pem")
        self.root = certify("ACME Root", self.root_key, is_authority=True, days=(-400, 4000))
        self.middle = certify(
            "ACME Skills", self.middle_key, "ACME Root", self.root_key, is_authority=True, days=(-400, 4000)
        )
        (folder / "root.pem").write_bytes(self.root)

    def chain(self, *, days: tuple[int, int] = (-30, 365), usage: x509.ObjectIdentifier | None = None) -> str:
        """Write the signer's certificate and those above it; return the file."""
        leaf = certify(self.name, self.key, "ACME Skills", self.middle_key, days=days, usage=usage)
        path = self.folder / "chain.pem"
        path.write_bytes(leaf + self.middle + self.root)
        return str(path)
