"""Access file, certificates, audit log; hot reload."""

import asyncio
import logging
import os
from dataclasses import dataclass
from io import TextIOWrapper
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any

from memsidecar import logs
from memsidecar.access.access_file import InvalidAccessFile, read_access_file
from memsidecar.access.certificates import CertificateFiles, Certificates, read_certificates
from memsidecar.access.file_watcher import Watched
from memsidecar.access.policy import AccessPolicy, Allowance
from memsidecar.api.admission.admission import Gate
from memsidecar.api.admission.audit import AUDIT_LOG, Audit
from memsidecar.api.admission.auth import Credentials
from memsidecar.api.admission.receive import MOST_PARTS, Reception
from memsidecar.api.admission.tenant_limits import Crowd, Pace, Unsent, unworked
from memsidecar.api.server import Tls
from memsidecar.domain.errors import StartRefused
from memsidecar.domain.quota import Quota
from memsidecar.settings import Settings

log = logging.getLogger(__name__)

LOOK_EVERY_SECONDS = 1.0


@dataclass(frozen=True)
class Doors:
    """What stands in files that may be replaced at any time."""

    policy: Watched[AccessPolicy] | None
    certificates: Watched[Certificates] | None
    everybody: Allowance

    def allowance(self, namespace: str) -> Allowance:
        allowances = self.policy.value.allowances if self.policy else {}
        return allowances.get(namespace, self.everybody)

    def quota(self, namespace: str) -> Quota:
        return self.allowance(namespace).kept

    def credentials(self) -> Credentials:
        policy = self.policy
        return Credentials(None if policy is None else lambda: policy.value)

    def tls(self) -> Tls | None:
        certificates = self.certificates
        return None if certificates is None else Tls(lambda: certificates.value)

    async def watch(self) -> None:
        """Runs as long as the server does."""
        while True:
            await asyncio.sleep(LOOK_EVERY_SECONDS)
            for watched in (self.policy, self.certificates):
                if watched is not None:
                    await self._look(watched)

    async def _look(self, watched: Watched[Any]) -> None:
        try:
            await asyncio.to_thread(watched.look)
        except Exception:  # the edge of a background loop: else no token could be taken back any more
            log.exception("%s cannot be looked at, which is tried again", watched.what)


def open_doors(settings: Settings) -> Doors:
    """Raises what tells that a file cannot be used."""
    kept = Quota(settings.quota_sessions, settings.quota_messages, settings.quota_bytes)
    everybody = Allowance(settings.quota_calls_per_second, kept)
    _warn(settings)
    _open_audit(settings.audit_file)
    return Doors(_watched_policy(settings, everybody), _watched_certificates(settings), everybody)


def gate(settings: Settings, doors: Doors) -> Gate:
    calls_of_one = settings.max_namespace_calls or _share_of(settings.max_concurrent_calls, settings)
    return Gate(
        doors.credentials(),
        Pace(lambda namespace: doors.allowance(namespace).calls_per_second),
        calls=Crowd(calls_of_one, "calls of this namespace"),
        callers=Crowd(calls_of_one, "calls of this caller"),
        streams=Crowd(_share_of(settings.max_concurrent_streams, settings), "streams of this caller"),
        reception=None if settings.access_file is None else Reception(unworked(settings.max_unsent_bytes)),
        unsent=Unsent(settings.max_unsent_bytes),
        audit=Audit(settings.audit),
        most_bytes=settings.max_request_bytes,
        most_parts=max(MOST_PARTS, 2 * settings.max_batch_messages),
    )


def _share_of(most: int, settings: Settings) -> int:
    """Half, so that no tenant takes all of it. Without tenants, all."""
    return most if settings.access_file is None else max(1, most // 2)


def _watched_policy(settings: Settings, everybody: Allowance) -> Watched[AccessPolicy] | None:
    file = settings.access_file
    if file is None:
        return None
    watched = Watched("access_file", (file,), lambda: read_access_file(file, everybody))
    if watched.value.lets_nobody_in:
        raise InvalidAccessFile(f"access_file {file} lets nobody in: expected [[tokens]] or [[certificates]]")
    return watched


def _watched_certificates(settings: Settings) -> Watched[Certificates] | None:
    certificate, key = settings.tls_certificate_file, settings.tls_key_file
    if certificate is None or key is None:
        return None
    files = CertificateFiles(certificate, key, settings.tls_client_ca_file)
    return Watched("certificates", files.all, lambda: read_certificates(files))


def _warn(settings: Settings) -> None:
    missing = [name for name in ("tls_certificate_file", "access_file") if getattr(settings, name) is None]
    if missing and not settings.listen.is_local:
        log.warning(
            "INSECURE: %s is open to the network without %s: whoever reaches it reads and erases every memory",
            settings.listen,
            " and ".join(missing),
        )


class _Private(WatchedFileHandler):
    """Ids may name people: the file is for its owner and a group."""

    def _open(self) -> TextIOWrapper:
        os.close(os.open(self.baseFilename, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o640))
        return super()._open()


def _open_audit(file: Path | None) -> None:
    """A file that somebody moves away is begun anew, so that logs can be rotated."""
    if file is None:
        return
    try:
        handler = _Private(file, encoding="utf-8")
    except OSError as error:
        raise StartRefused(f"audit_file {file} cannot be written: {error.strerror}") from None
    handler.setFormatter(logs.JsonLines())
    audit = logging.getLogger(AUDIT_LOG)
    audit.addHandler(handler)
    audit.setLevel(logging.INFO)
    audit.propagate = False
