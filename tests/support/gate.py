"""A gate that lets everybody in unless told otherwise, for servers that a test puts together by hand."""

from memsidecar.api.admission.admission import Gate
from memsidecar.api.admission.audit import Audit
from memsidecar.api.admission.auth import Credentials
from memsidecar.api.admission.receive import Reception
from memsidecar.api.admission.tenant_limits import Crowd, Pace, Unsent, unworked

EVERYBODY = Credentials(None)


def lenient_gate(credentials: Credentials = EVERYBODY) -> Gate:
    return Gate(
        credentials,
        Pace(lambda _namespace: 0),
        calls=Crowd(1_000, "calls"),
        callers=Crowd(1_000, "calls"),
        streams=Crowd(1_000, "streams"),
        reception=Reception(unworked(1 << 30)),
        unsent=Unsent(1 << 30),
        audit=Audit("off"),
        most_bytes=4 << 20,
    )
