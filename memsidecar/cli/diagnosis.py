"""Diagnoses of `memsidecar doctor`, and the rules for files that hold secrets and certificates."""

from __future__ import annotations

import ssl
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

EXPIRY_DAYS = 14
_DAY_SECONDS = 86_400.0
_EXPLICIT_VERSION = 0xA0
_UTC_TIME = 0x17
_LONG_FORM = 0x80


@dataclass(frozen=True)
class Diagnosis:
    """The result of one check. A fault needs the remedy; a warning may be intended."""

    level: Literal["ok", "warning", "fault", "not checked"]
    subject: str
    text: str
    remedy: str = ""


def ok(subject: str, text: str) -> Diagnosis:
    return Diagnosis("ok", subject, text)


def warning(subject: str, text: str, remedy: str) -> Diagnosis:
    return Diagnosis("warning", subject, text, remedy)


def fault(subject: str, text: str, remedy: str) -> Diagnosis:
    return Diagnosis("fault", subject, text, remedy)


def not_checked(subject: str, text: str) -> Diagnosis:
    return Diagnosis("not checked", subject, text)


def secret_file(subject: str, file: Path) -> Iterator[Diagnosis]:
    """Check a file that only its owner, or its group, may read."""
    try:
        mode = stat.S_IMODE(file.stat().st_mode)
    except OSError as error:
        yield fault(subject, f"{file} cannot be read: {error.strerror}", "Name a file that exists and is readable.")
        return
    if mode & (stat.S_IROTH | stat.S_IWOTH | stat.S_IWGRP):
        yield fault(
            subject,
            f"{file} has the mode {mode:o}: other users of this machine may read or change it",
            f"chmod 600 {file}, and make a new secret if others had access.",
        )


def certificate_file(subject: str, file: Path) -> Iterator[Diagnosis]:
    """Check how long each certificate of a PEM file is valid."""
    try:
        certificates = certificates_of(file.read_text("ascii"))
    except (OSError, ValueError) as error:
        yield fault(subject, f"{file} has no readable certificate: {error}", "Name a PEM file with a certificate.")
        return
    for certificate in certificates:
        yield from expiry(subject, str(file), certificate)


def certificates_of(text: str) -> list[bytes]:
    """Return the certificates of a PEM text, in DER."""
    certificates = [block.partition(ssl.PEM_FOOTER)[0] for block in text.split(ssl.PEM_HEADER)[1:]]
    if not certificates:
        raise ValueError("it has no PEM certificate")
    return [ssl.PEM_cert_to_DER_cert(f"{ssl.PEM_HEADER}{content}{ssl.PEM_FOOTER}") for content in certificates]


def expiry(subject: str, where: str, certificate: bytes) -> Iterator[Diagnosis]:
    """Check how long a certificate in DER is valid."""
    begins, ends = validity(certificate)
    now, day = time.time(), datetime.fromtimestamp(ends, UTC).strftime("%Y-%m-%d %H:%M UTC")
    renew = f"Renew the certificate of {where}; the sidecar reads changed files without a restart."
    if begins > now:
        yield fault(subject, f"the certificate of {where} is not valid yet", "Set the clock, or wait until it is.")
    elif ends <= now:
        yield fault(subject, f"the certificate of {where} expired at {day}", renew)
    elif ends - now < EXPIRY_DAYS * _DAY_SECONDS:
        yield fault(subject, f"the certificate of {where} is about to expire, at {day}", renew)
    else:
        yield ok(subject, f"the certificate of {where} is valid until {day}")


def validity(certificate: bytes) -> tuple[float, float]:
    """Return when a certificate in DER begins and ends to be valid, as Unix times. Raises ValueError."""
    try:
        fields = list(_elements(next(_elements(next(_elements(certificate))[1]))[1]))
        # A version may precede serial number, algorithm, issuer and validity.
        times = list(_elements(fields[4 if fields[0][0] == _EXPLICIT_VERSION else 3][1]))
        begins, ends = (_unix_time(kind, value) for kind, value in times)
    except (IndexError, StopIteration) as error:
        raise ValueError("it is not a certificate") from error
    return begins, ends


def _elements(encoded: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield tag and content of each element of a DER sequence."""
    at = 0
    while at < len(encoded):
        tag, length = encoded[at], encoded[at + 1]
        at += 2
        if length & _LONG_FORM:
            size = length & ~_LONG_FORM
            length = int.from_bytes(encoded[at : at + size])
            at += size
        yield tag, encoded[at : at + length]
        at += length


def _unix_time(kind: int, value: bytes) -> float:
    text = value.decode("ascii")
    if kind == _UTC_TIME:
        # Two digits of the year: those from 50 on are of the last century.
        text = ("19" if int(text[:2]) >= 50 else "20") + text
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC).timestamp()
