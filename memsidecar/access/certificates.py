"""The server's certificate and key, and the authority for client certificates: reading and validation."""

import ssl
from dataclasses import dataclass
from pathlib import Path

from memsidecar.domain.errors import StartRefused


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
    """PEM data. With `client_ca`, callers must present a certificate that it signed."""

    certificate: bytes
    key: bytes
    client_ca: bytes | None = None


def read_certificates(files: CertificateFiles) -> Certificates:
    """Read the files. Raises InvalidCertificates, also for a key of another certificate, which gRPC does not report."""
    certificate, key = _read("tls_certificate_file", files.certificate), _read("tls_key_file", files.key)
    _check_pair(files)
    return Certificates(certificate, key, _read_ca(files.client_ca) if files.client_ca else None)


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
