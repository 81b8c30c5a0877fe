"""Errors of rejected calls, with their retry delay."""

from collections.abc import Callable
from typing import Any

import grpc
from google.rpc import error_details_pb2, status_pb2

from tests.support.process import Refusal


class Refused(Refusal):
    seconds = 0.0

    def _read(self, status: status_pb2.Status) -> None:
        super()._read(status)
        for detail in status.details:
            retry = error_details_pb2.RetryInfo()
            if detail.Unpack(retry):
                self.seconds = retry.retry_delay.ToTimedelta().total_seconds()


def refused(call: Callable[[], Any]) -> Refused | None:
    """Return the error of the call; None if it succeeds."""
    try:
        call()
    except grpc.RpcError as error:
        return Refused(error)
    return None


def first_refusal(call: Callable[[], Any], at_most: int) -> tuple[int, Refused]:
    """Repeat the call; return how many succeeded before the first error, and the error."""
    for done in range(at_most):
        found = refused(call)
        if found is not None:
            return done, found
    raise AssertionError(f"none of {at_most} calls was refused")
