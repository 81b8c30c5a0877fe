"""Access file, certificates and audit log: opened at start, reloaded on change. The admission chain from settings."""

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
from memsidecar.access.policy import AccessPolicy, LimitTable, NamespaceLimits
from memsidecar.api.admission.admission import Admission
from memsidecar.api.admission.audit import AUDIT_LOGGER, AuditLog
from memsidecar.api.admission.auth import Authenticator
from memsidecar.api.admission.receive import MAX_REPEATED_ITEMS, ReceiveSlots
from memsidecar.api.admission.tenant_limits import (
    ConcurrencyLimiter,
    RateLimiter,
    pending_requests,
    pending_responses,
)
from memsidecar.api.server import TlsCredentials
from memsidecar.domain.errors import StartRefused
from memsidecar.domain.quota import Quota
from memsidecar.http.tls_context import TlsContext
from memsidecar.settings import Settings

log = logging.getLogger(__name__)

POLL_SECONDS = 1.0


@dataclass(frozen=True)
class SecurityFiles:
    """The files that may be replaced while the server runs, and the limits that come from them."""

    policy: ReloadingFile[AccessPolicy] | None
    certificates: ReloadingFile[Certificates] | None
    limits: LimitTable

    def authenticator(self) -> Authenticator:
        policy = self.policy
        return Authenticator(None if policy is None else lambda: policy.value)

    def tls(self) -> TlsCredentials | None:
        certificates = self.certificates
        return None if certificates is None else TlsCredentials(lambda: certificates.value)

    def http_tls(self) -> TlsContext | None:
        certificates = self.certificates
        if certificates is None:
            return None
        return TlsContext(lambda: certificates.value, CertificateFiles(*certificates.files))

    async def watch(self) -> None:
        """Reload changed files, until this task is cancelled."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            if self.policy is not None:
                await self._poll(self.policy)
                self.limits.replace(self.policy.value.namespace_limits)
            if self.certificates is not None:
                await self._poll(self.certificates)

    async def _poll(self, file: ReloadingFile[Any]) -> None:
        try:
            await asyncio.to_thread(file.poll)
        except Exception:  # the edge of a background loop: if it ended, no token could be revoked any more
            log.exception("%s cannot be checked for changes; the next check is in %s s", file.what, POLL_SECONDS)


def open_security_files(settings: Settings) -> SecurityFiles:
    """Read the files and open the audit log. Raises StartRefused for a file that cannot be used."""
    quota = Quota(settings.quota_sessions, settings.quota_messages, settings.quota_bytes)
    default_limits = NamespaceLimits(settings.quota_calls_per_second, quota)
    _warn_if_insecure(settings)
    _open_audit_file(settings.audit_file)
    policy = _open_access_file(settings, default_limits)
    limits = LimitTable(default_limits, policy.value.namespace_limits if policy else None)
    return SecurityFiles(policy, _open_certificates(settings), limits)


def admission(settings: Settings, files: SecurityFiles) -> Admission:
    is_restricted = settings.access_file is not None
    calls_per_tenant = settings.max_namespace_calls or _share_of(settings.max_concurrent_calls, is_restricted)
    streams_per_tenant = _share_of(settings.max_concurrent_streams, is_restricted)
    watchers_per_tenant = settings.max_namespace_watchers or _share_of(settings.max_watchers, is_restricted)
    return Admission(
        authenticator=files.authenticator(),
        rate_limiter=RateLimiter(files.limits),
        calls=ConcurrencyLimiter(calls_per_tenant, "calls of this namespace"),
        callers=ConcurrencyLimiter(calls_per_tenant, "calls of this caller"),
        streams=ConcurrencyLimiter(streams_per_tenant, "streams of this caller"),
        watchers=ConcurrencyLimiter(watchers_per_tenant, "Watch streams of this namespace or caller"),
        slow_reader_seconds=settings.watch_slow_reader_seconds,
        receive_slots=ReceiveSlots() if is_restricted else None,
        request_bytes=pending_requests(settings.max_pending_bytes) if is_restricted else None,
        response_bytes=pending_responses(settings.max_pending_bytes),
        audit=AuditLog(settings.audit),
        max_request_bytes=settings.max_request_bytes,
        max_repeated_items=max(MAX_REPEATED_ITEMS, 2 * settings.max_batch_messages),
    )


def _share_of(limit: int, is_restricted: bool) -> int:
    """Return half of a limit, so that no tenant takes all of it; without tenants, all of it."""
    return max(1, limit // 2) if is_restricted else limit


def _open_access_file(settings: Settings, default_limits: NamespaceLimits) -> ReloadingFile[AccessPolicy] | None:
    path = settings.access_file
    if path is None:
        return None
    file = ReloadingFile("access_file", (path,), lambda: read_access_file(path, default_limits))
    if file.value.is_empty:
        raise InvalidAccessFile(f"access_file {path} grants no access: expected [[tokens]] or [[certificates]]")
    return file


def _open_certificates(settings: Settings) -> ReloadingFile[Certificates] | None:
    certificate, key = settings.tls_certificate_file, settings.tls_key_file
    if certificate is None or key is None:
        return None
    files = CertificateFiles(certificate, key, settings.tls_client_ca_file)
    return ReloadingFile("certificates", files.all, lambda: read_certificates(files))


def _warn_if_insecure(settings: Settings) -> None:
    missing = [name for name in ("tls_certificate_file", "access_file") if getattr(settings, name) is None]
    for address in (settings.listen, settings.http_listen):
        if missing and address is not None and not address.is_local:
            log.warning(
                "INSECURE: %s is open to the network without %s: every client that reaches it can read and erase all "
                "data",
                address,
                " and ".join(missing),
            )


class _AuditFileHandler(WatchedFileHandler):
    """Creates the file for its owner and a group only, because ids may name people."""

    def _open(self) -> TextIOWrapper:
        os.close(os.open(self.baseFilename, os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o640))
        return super()._open()


def _open_audit_file(path: Path | None) -> None:
    """Send audit lines to the file. A file that was moved away is created again, as log rotation needs it."""
    if path is None:
        return
    try:
        handler = _AuditFileHandler(path, encoding="utf-8")
    except OSError as error:
        raise StartRefused(f"audit_file {path} cannot be written: {error.strerror}") from None
    handler.setFormatter(logs.JsonFormatter())
    audit = logging.getLogger(AUDIT_LOGGER)
    audit.addHandler(handler)
    audit.setLevel(logging.INFO)
    audit.propagate = False
