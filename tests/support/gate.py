"""A gate that lets everybody in unless told otherwise, for servers that a test puts together by hand."""

from memsidecar.api.gate.audit import Audit
from memsidecar.api.gate.credentials import Credentials
from memsidecar.api.gate.crowd import Crowd, Unsent, unworked
from memsidecar.api.gate.gate import Gate
from memsidecar.api.gate.pace import Pace
from memsidecar.api.gate.reception import Reception

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
