"""A certificate authority, and the certificates that it signs for a sidecar and for a client."""

import ipaddress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

CLIENT_URI = "spiffe://scenarios/client"
_DAY = timedelta(days=1)


def write_certificates(folder: Path) -> dict[str, str]:
    """Write and return the files of a server, a client, their authority, and an authority that signed neither."""
    key = ec.generate_private_key(ec.SECP256R1())
    authority = _signed("authority", key, key, "authority")
    files = {"ca": _file(folder / "ca.crt", _pem(authority))}
    other = ec.generate_private_key(ec.SECP256R1())
    files["other_ca"] = _file(folder / "other.crt", _pem(_signed("other", other, other, "other")))
    server_names = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    for prefix, names in (("server_", server_names), ("", [x509.UniformResourceIdentifier(CLIENT_URI)])):
        own = ec.generate_private_key(ec.SECP256R1())
        certificate = _pem(_signed(f"{prefix}certificate", own, key, "authority", names))
        files[f"{prefix}certificate"] = _file(folder / f"{prefix}tls.crt", certificate)
        files[f"{prefix}key"] = _file(folder / f"{prefix}tls.key", _key_pem(own))
    return files


def _file(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    return str(path)


def _pem(certificate: x509.Certificate) -> bytes:
    return bytes(certificate.public_bytes(Encoding.PEM))


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _signed(
    name: str,
    key: ec.EllipticCurvePrivateKey,
    by: ec.EllipticCurvePrivateKey,
    issuer: str,
    names: list[x509.GeneralName] | None = None,
) -> x509.Certificate:
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(_name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _DAY)
        .not_valid_after(now + _DAY)
        .add_extension(x509.BasicConstraints(ca=names is None, path_length=None), critical=True)
    )
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(by, hashes.SHA256())
