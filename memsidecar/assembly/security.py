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
from memsidecar.access.file_watcher import ReloadingFile
from memsidecar.access.policy import AccessPolicy, NamespaceLimits
from memsidecar.api.admission.admission import Admission
from memsidecar.api.admission.audit import AUDIT_LOGGER, AuditLog
from memsidecar.api.admission.auth import Authenticator
from memsidecar.api.admission.receive import MAX_REPEATED_ITEMS, ReceiveSlots
from memsidecar.api.admission.tenant_limits import ConcurrencyLimiter, RateLimiter, Unsent, pending_requests
from memsidecar.api.server import TlsCredentials
from memsidecar.domain.errors import StartRefused
from memsidecar.domain.quota import Quota
from memsidecar.settings import Settings

log = logging.getLogger(__name__)

POLL_SECONDS = 1.0


@dataclass(frozen=True)
class SecurityFiles:
    """What stands in files that may be replaced at any time."""

    policy: ReloadingFile[AccessPolicy] | None
    certificates: ReloadingFile[Certificates] | None
    everybody: NamespaceLimits

    def allowance(self, namespace: str) -> NamespaceLimits:
        allowances = self.policy.value.namespace_limits if self.policy else {}
        return allowances.get(namespace, self.everybody)

    def quota(self, namespace: str) -> Quota:
        return self.allowance(namespace).quota

    def authenticator(self) -> Authenticator:
        policy = self.policy
        return Authenticator(None if policy is None else lambda: policy.value)

    def tls(self) -> TlsCredentials | None:
        certificates = self.certificates
        return None if certificates is None else TlsCredentials(lambda: certificates.value)

    async def watch(self) -> None:
        """Runs as long as the server does."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            for watched in (self.policy, self.certificates):
                if watched is not None:
                    await self._look(watched)

    async def _look(self, watched: ReloadingFile[Any]) -> None:
        try:
            await asyncio.to_thread(watched.poll)
        except Exception:  # the edge of a background loop: else no token could be taken back any more
            log.exception("%s cannot be looked at, which is tried again", watched.what)


def open_security_files(settings: Settings) -> SecurityFiles:
    """Raises what tells that a file cannot be used."""
    kept = Quota(settings.quota_sessions, settings.quota_messages, settings.quota_bytes)
    everybody = NamespaceLimits(settings.quota_calls_per_second, kept)
    _warn(settings)
    _open_audit(settings.audit_file)
    return SecurityFiles(_watched_policy(settings, everybody), _watched_certificates(settings), everybody)


def admission(settings: Settings, doors: SecurityFiles) -> Admission:
    calls_of_one = settings.max_namespace_calls or _share_of(settings.max_concurrent_calls, settings)
    return Admission(
        doors.authenticator(),
        RateLimiter(lambda namespace: doors.allowance(namespace).calls_per_second),
        calls=ConcurrencyLimiter(calls_of_one, "calls of this namespace"),
        callers=ConcurrencyLimiter(calls_of_one, "calls of this caller"),
        streams=ConcurrencyLimiter(_share_of(settings.max_concurrent_streams, settings), "streams of this caller"),
        receive_slots=None
        if settings.access_file is None
        else ReceiveSlots(pending_requests(settings.max_unsent_bytes)),
        unsent=Unsent(settings.max_unsent_bytes),
        audit=AuditLog(settings.audit),
        max_request_bytes=settings.max_request_bytes,
        max_repeated_items=max(MAX_REPEATED_ITEMS, 2 * settings.max_batch_messages),
    )


def _share_of(most: int, settings: Settings) -> int:
    """Half, so that no tenant takes all of it. Without tenants, all."""
    return most if settings.access_file is None else max(1, most // 2)


def _watched_policy(settings: Settings, everybody: NamespaceLimits) -> ReloadingFile[AccessPolicy] | None:
    file = settings.access_file
    if file is None:
        return None
    watched = ReloadingFile("access_file", (file,), lambda: read_access_file(file, everybody))
    if watched.value.is_empty:
        raise InvalidAccessFile(f"access_file {file} lets nobody in: expected [[tokens]] or [[certificates]]")
    return watched


def _watched_certificates(settings: Settings) -> ReloadingFile[Certificates] | None:
    certificate, key = settings.tls_certificate_file, settings.tls_key_file
    if certificate is None or key is None:
        return None
    files = CertificateFiles(certificate, key, settings.tls_client_ca_file)
    return ReloadingFile("certificates", files.all, lambda: read_certificates(files))


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
    handler.setFormatter(logs.JsonFormatter())
    audit = logging.getLogger(AUDIT_LOGGER)
    audit.addHandler(handler)
    audit.setLevel(logging.INFO)
    audit.propagate = False
