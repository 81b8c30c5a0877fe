"""Answers that are compared with each other, without what is only of the moment."""

from memsidecar.v1.session_pb2 import Session


def without_watermarks(session: Session) -> Session:
    """How far the background has come goes on by itself."""
    still = Session()
    still.CopyFrom(session)
    still.ClearField("watermarks")
    return still
