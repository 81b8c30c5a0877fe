"""Comparison of sessions without the watermarks of background tasks."""

from memsidecar.v1.session_pb2 import Session


def without_watermarks(session: Session) -> Session:
    """Return a copy without watermarks, which background tasks advance."""
    copy = Session()
    copy.CopyFrom(session)
    copy.ClearField("watermarks")
    return copy
