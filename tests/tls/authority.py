"""Certificate authorities, and valid and invalid certificates."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import NameOID

Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
DAY = timedelta(days=1)
HOST = "localhost"


def ec_key() -> Key:
    return ec.generate_private_key(ec.SECP256R1())


def rsa_key() -> Key:
    return rsa.generate_private_key(65_537, 2048)


def key_pem(key: Key, password: bytes | None = None) -> bytes:
    encryption: KeySerializationEncryption = BestAvailableEncryption(password) if password else NoEncryption()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)


@dataclass(frozen=True)
class Pair:
    """A certificate with its intermediate certificates, and its key."""

    key: Key
    chain: Sequence[x509.Certificate]

    @property
    def certificate_pem(self) -> bytes:
        return b"".join(one.public_bytes(Encoding.PEM) for one in self.chain)

    @property
    def key_pem(self) -> bytes:
        return key_pem(self.key)

    @property
    def serial(self) -> int:
        return self.chain[0].serial_number

    def write(self, folder: Path, name: str = "tls") -> tuple[Path, Path]:
        """Write the files `<name>.crt` and `<name>.key`."""
        certificate, key = folder / f"{name}.crt", folder / f"{name}.key"
        certificate.write_bytes(self.certificate_pem)
        key.write_bytes(self.key_pem)
        return certificate, key


@dataclass(frozen=True)
class Validity:
    begins: timedelta = -DAY
    ends: timedelta = DAY


CURRENT, EXPIRED, NOT_YET = Validity(), Validity(-2 * DAY, -DAY), Validity(DAY, 2 * DAY)


@dataclass(frozen=True)
class Authority:
    key: Key
    certificate: x509.Certificate
    above: Sequence[x509.Certificate] = field(default=())
    """The intermediates that a certificate of ours must bring along, ourselves first."""

    @classmethod
    def new(cls, name: str = "test authority") -> "Authority":
        key = ec_key()
        return cls(key, _signed(name, key, by=key, issuer=_name(name), authority=True))

    def intermediate(self, name: str) -> "Authority":
        key = ec_key()
        made = _signed(name, key, by=self.key, issuer=self.certificate.subject, authority=True)
        return Authority(key, made, (made, *self.above))

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(Encoding.PEM)

    def server(self, validity: Validity = CURRENT, key: Key | None = None) -> Pair:
        names = [x509.DNSName(HOST), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        return self._pair("server", names, validity, key)

    def client(
        self,
        *,
        uri: str | None = None,
        dns: str | None = None,
        common_name: str = "client",
        validity: Validity = CURRENT,
    ) -> Pair:
        names: list[x509.GeneralName] = [x509.UniformResourceIdentifier(uri)] if uri else []
        return self._pair(common_name, [*names, *([x509.DNSName(dns)] if dns else [])], validity)

    def _pair(self, name: str, names: Sequence[x509.GeneralName], validity: Validity, key: Key | None = None) -> Pair:
        key = key or ec_key()
        issuer = self.certificate.subject
        made = _signed(name, key, by=self.key, issuer=issuer, names=names, validity=validity)
        return Pair(key, (made, *self.above))


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _signed(
    name: str,
    key: Key,
    *,
    by: Key,
    issuer: x509.Name,
    names: Sequence[x509.GeneralName] = (),
    validity: Validity = CURRENT,
    authority: bool = False,
) -> x509.Certificate:
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(_name(name))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + validity.begins)
        .not_valid_after(now + validity.ends)
        .add_extension(x509.BasicConstraints(ca=authority, path_length=None), critical=True)
    )
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(by, hashes.SHA256())
