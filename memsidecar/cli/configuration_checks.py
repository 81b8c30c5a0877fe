"""Checks of the configuration on this machine: settings, and the files that settings and flags name."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memsidecar.access.access_file import parse_access_file
from memsidecar.access.bearer_token import read_token
from memsidecar.cli.client_options import ClientFlags
from memsidecar.cli.diagnosis import EXPIRY_DAYS, Diagnosis, certificate_file, fault, ok, secret_file, warning
from memsidecar.domain.errors import SidecarError
from memsidecar.settings import InvalidSettings, Settings
from memsidecar.settings.client import ClientEnvironment


def invalid_settings(error: InvalidSettings) -> Iterator[Diagnosis]:
    for problem in error.problems:
        yield fault("configuration", problem, "Correct or remove it; `memsidecar settings` prints every setting.")


def client_findings(flags: ClientFlags, environment: ClientEnvironment) -> Iterator[Diagnosis]:
    """Check the files that the command line's own flags and variables name."""
    token = flags.token_file or _path(environment.token_file)
    if token:
        yield from secret_file("token file", token)
    key = flags.key_file or _path(environment.key_file)
    if key:
        yield from secret_file("client key", key)
    certificate = flags.certificate_file or _path(environment.certificate_file)
    if certificate:
        yield from certificate_file("client certificate", certificate)
    authority = flags.ca_file or _path(environment.ca_file)
    if authority:
        yield from certificate_file("authority", authority)


def settings_findings(settings: Settings, config: Path | None, token: str) -> Iterator[Diagnosis]:
    """Check the settings, and the files that they name, as a sidecar with these settings on this machine has them."""
    if config is not None:
        yield from _config_file(config)
    if settings.tls_key_file:
        yield from secret_file("server key", settings.tls_key_file)
    if settings.tls_certificate_file:
        yield from certificate_file("server certificate", settings.tls_certificate_file)
    if settings.access_file:
        yield from _access_file(settings.access_file, token)
    if settings.journal == "volatile":
        yield warning(
            "configuration",
            "journal = volatile: every restart loses all memories",
            "Set journal = sqlite to keep them.",
        )
    if settings.insecure_listen == "allow":
        yield warning(
            "configuration",
            "insecure_listen = allow: every client that reaches the port can read all memories",
            "Set tls_certificate_file, tls_key_file and access_file, and remove insecure_listen.",
        )
    yield ok("configuration", "the settings of this machine are valid")


def _config_file(file: Path) -> Iterator[Diagnosis]:
    if file.stat().st_mode & (stat.S_IWOTH | stat.S_IWGRP):
        yield fault("configuration", f"{file} can be changed by other users of this machine", f"chmod go-w {file}")


def _access_file(file: Path, token: str) -> Iterator[Diagnosis]:
    yield from secret_file("access file", file)
    try:
        tokens = parse_access_file(file).tokens
    except (SidecarError, OSError) as error:
        yield fault("access file", str(error), "Correct it; `memsidecar token list --access-file FILE` checks it.")
        return
    own = read_token(token)
    soon = datetime.now(UTC) + timedelta(days=EXPIRY_DAYS)
    for known in tokens:
        if known.expires is not None and known.expires <= soon:
            yield (fault if own is not None and known.id == own.id else warning)(
                "access file",
                f"the token of {known.caller.name} ({known.id}) ends at {known.expires.isoformat()}",
                "Make a new one: memsidecar token new --access-file FILE",
            )


def _path(text: str) -> Path | None:
    return Path(text) if text else None
