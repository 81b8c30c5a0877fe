"""Sessions as they are compared with each other: without the progress of background tasks."""

from memsidecar.v1.session_pb2 import Session


def without_watermarks(session: Session) -> Session:
    """Return a copy without watermarks, which background tasks move by themselves."""
    still = Session()
    still.CopyFrom(session)
    still.ClearField("watermarks")
    return still
