"""A self-signed certificate, usually for 127.0.0.1, created for each test run."""

from __future__ import annotations

import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID


def own_certificate(folder: Path, *, host: str = "127.0.0.1", ends: timedelta = timedelta(days=1)) -> tuple[Path, Path]:
    """The files of it and of its key, as a host names them."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a test of Attention Atlas")])
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(host))])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=30))
        .not_valid_after(now + ends)
        .add_extension(here, critical=False)
        .sign(key, hashes.SHA256())
    )
    certificate, secret = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(Encoding.PEM))
    secret.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    return certificate, secret


def trusting(certificate: Path) -> ssl.SSLContext:
    """For clients that believe this certificate and no other."""
    return ssl.create_default_context(cafile=str(certificate))
