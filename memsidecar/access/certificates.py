"""The server's certificate and key, and who may sign those of its callers."""

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
    """As PEM. With `client_ca`, only callers whose certificate it signed get in."""

    certificate: bytes
    key: bytes
    client_ca: bytes | None = None


def read_certificates(files: CertificateFiles) -> Certificates:
    """Raises InvalidCertificates, also where the key belongs to another certificate: gRPC would say so to nobody."""
    certificate, key = _read("tls_certificate_file", files.certificate), _read("tls_key_file", files.key)
    _check_pair(files)
    return Certificates(certificate, key, _checked_ca(files.client_ca) if files.client_ca else None)


def _check_pair(files: CertificateFiles) -> None:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(files.certificate, files.key, password=_no_password)
    except (ssl.SSLError, OSError, ValueError) as error:
        raise InvalidCertificates(
            f"tls_certificate_file {files.certificate} and tls_key_file {files.key} are no pair of a PEM certificate "
            f"and its unencrypted key: {_in_short(error)}"
        ) from None


def _checked_ca(file: Path) -> bytes:
    data = _read("tls_client_ca_file", file)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_verify_locations(cadata=data.decode("ascii"))
    except (ssl.SSLError, ValueError) as error:
        raise InvalidCertificates(f"tls_client_ca_file {file} has no PEM certificate: {_in_short(error)}") from None
    return data


def _read(setting: str, file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InvalidCertificates(f"{setting} {file} cannot be read: {error.strerror}") from None


def _no_password() -> str:
    # Else an encrypted key would ask for its password on the terminal.
    raise ValueError("the key is encrypted")


def _in_short(error: Exception) -> str:
    return (isinstance(error, ssl.SSLError) and error.reason) or str(error)
