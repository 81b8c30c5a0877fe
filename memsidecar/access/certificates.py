"""The server's certificate and key, and the authority for client certificates: reading and validation."""

import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

from memsidecar.domain.errors import StartRefused

_PEM_BEGIN, _PEM_END = b"-----BEGIN CERTIFICATE-----", b"-----END CERTIFICATE-----"
_VERSION_TAG, _UTC_TIME_TAG = 0xA0, 0x17


class InvalidCertificates(StartRefused):
    """The message names the setting and the file, and never shows a key."""


@dataclass(frozen=True)
class CertificateFiles:
    certificate: Path
    key: Path
    client_ca: Path | None = None

    @property
    def all(self) -> tuple[Path, ...]:
        return (self.certificate, self.key, *((self.client_ca,) if self.client_ca else ()))


@dataclass(frozen=True, repr=False)
class Certificates:
    """PEM data. With `client_ca`, callers must present a certificate that it signed. `expires` is a Unix time.

    It is None for a PEM file of an old kind.
    """

    certificate: bytes
    key: bytes
    client_ca: bytes | None = None
    expires: float | None = None


def read_certificates(files: CertificateFiles) -> Certificates:
    """Read the files. Raises InvalidCertificates, also for a key of another certificate, which gRPC does not report."""
    certificate, key = _read("tls_certificate_file", files.certificate), _read("tls_key_file", files.key)
    _check_pair(files)
    client_ca = _read_ca(files.client_ca) if files.client_ca else None
    return Certificates(certificate, key, client_ca, expiry_time(certificate))


def expiry_time(pem: bytes) -> float | None:
    """Return the time until which the first certificate of a valid PEM file is valid; None if it has another label.

    Python's ssl module tells it of certificates of peers only, so the fields before it are skipped here: version,
    serial number, algorithm and issuer.
    """
    if _PEM_BEGIN not in pem:
        return None
    start, end = pem.index(_PEM_BEGIN), pem.index(_PEM_END) + len(_PEM_END)
    certificate = ssl.PEM_cert_to_DER_cert(pem[start:end].decode("ascii"))
    (signed,) = islice(_elements(_content(certificate)), 1)
    fields = [element for element in _elements(_content(signed)) if element[0] != _VERSION_TAG]
    _not_before, not_after = _elements(_content(fields[3]))
    text, tag = _content(not_after).decode("ascii"), not_after[0]
    time_format = "%y%m%d%H%M%S%z" if tag == _UTC_TIME_TAG else "%Y%m%d%H%M%S%z"
    return datetime.strptime(text.replace("Z", "+0000"), time_format).timestamp()


def _elements(content: bytes) -> Iterator[bytes]:
    """Yield the DER elements of which the content of another one consists."""
    while content:
        start, length = _header(content)
        yield content[: start + length]
        content = content[start + length :]


def _content(element: bytes) -> bytes:
    start, length = _header(element)
    return element[start : start + length]


def _header(element: bytes) -> tuple[int, int]:
    """Return where the content of a DER element begins, and its length."""
    length = element[1]
    if length < 0x80:
        return 2, length
    digits = length & 0x7F
    return 2 + digits, int.from_bytes(element[2 : 2 + digits], "big")


def _check_pair(files: CertificateFiles) -> None:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(files.certificate, files.key, password=_no_password)
    except (ssl.SSLError, OSError, ValueError) as error:
        raise InvalidCertificates(
            f"tls_certificate_file {files.certificate} and tls_key_file {files.key} are no pair of a PEM certificate "
            f"and its unencrypted key: {_summary_of(error)}"
        ) from None


def _read_ca(file: Path) -> bytes:
    data = _read("tls_client_ca_file", file)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_verify_locations(cadata=data.decode("ascii"))
    except (ssl.SSLError, ValueError) as error:
        raise InvalidCertificates(f"tls_client_ca_file {file} has no PEM certificate: {_summary_of(error)}") from None
    return data


def _read(setting: str, file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidCertificates(f"{setting} {file} cannot be read: {error.strerror}") from None


def _no_password() -> str:
    # Without it, OpenSSL would ask for the password of an encrypted key on the terminal.
    raise ValueError("the key is encrypted")


def _summary_of(error: Exception) -> str:
    return (isinstance(error, ssl.SSLError) and error.reason) or str(error)
