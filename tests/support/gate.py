"""A gate that lets everybody in unless told otherwise, for servers that a test puts together by hand."""

from memsidecar.api.admission.admission import Admission
from memsidecar.api.admission.audit import AuditLog
from memsidecar.api.admission.auth import Authenticator
from memsidecar.api.admission.receive import ReceiveSlots
from memsidecar.api.admission.tenant_limits import ConcurrencyLimiter, RateLimiter, Unsent, pending_requests

EVERYBODY = Authenticator(None)


def lenient_gate(credentials: Authenticator = EVERYBODY) -> Admission:
    return Admission(
        credentials,
        RateLimiter(lambda _namespace: 0),
        calls=ConcurrencyLimiter(1_000, "calls"),
        callers=ConcurrencyLimiter(1_000, "calls"),
        streams=ConcurrencyLimiter(1_000, "streams"),
        receive_slots=ReceiveSlots(pending_requests(1 << 30)),
        unsent=Unsent(1 << 30),
        audit=AuditLog("off"),
        max_request_bytes=4 << 20,
    )
