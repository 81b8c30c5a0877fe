"""An admission chain that admits all calls by default, for servers that a test composes."""

from memsidecar.access.policy import LimitTable, NamespaceLimits
from memsidecar.api.admission.admission import Admission
from memsidecar.api.admission.audit import AuditLog
from memsidecar.api.admission.auth import Authenticator
from memsidecar.api.admission.receive import ReceiveSlots
from memsidecar.api.admission.tenant_limits import (
    ConcurrencyLimiter,
    RateLimiter,
    pending_requests,
    pending_responses,
)

ANONYMOUS_ONLY = Authenticator(None)


def lenient_admission(authenticator: Authenticator = ANONYMOUS_ONLY) -> Admission:
    return Admission(
        authenticator=authenticator,
        rate_limiter=RateLimiter(LimitTable(NamespaceLimits())),
        calls=ConcurrencyLimiter(1_000, "calls"),
        callers=ConcurrencyLimiter(1_000, "calls"),
        streams=ConcurrencyLimiter(1_000, "streams"),
        watchers=ConcurrencyLimiter(1_000, "Watch streams"),
        slow_reader_seconds=30.0,
        receive_slots=ReceiveSlots(),
        request_bytes=pending_requests(1 << 30),
        response_bytes=pending_responses(1 << 30),
        audit=AuditLog("off"),
        max_request_bytes=4 << 20,
    )
