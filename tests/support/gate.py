"""A gate that lets everybody in, for servers that a test puts together by hand."""

from memsidecar.api.gate.audit import Audit
from memsidecar.api.gate.credentials import Credentials
from memsidecar.api.gate.crowd import Crowd, Unsent
from memsidecar.api.gate.gate import Gate
from memsidecar.api.gate.pace import Pace


def open_gate() -> Gate:
    return Gate(
        Credentials(None),
        Pace(lambda _namespace: 0),
        calls=Crowd(1_000, "calls"),
        streams=Crowd(1_000, "streams"),
        unsent=Unsent(1 << 30),
        audit=Audit("off"),
    )
