"""Errors of an HTTP endpoint.

They stay inside `embedding` and `language`, which translate them to errors of their own. None of them contains a key or
a part of a body.
"""


class InvalidEndpoint(ValueError):
    """The settings describe no usable endpoint; raised before the first request."""


class RetryableError(Exception):
    """No usable response this time; another attempt may succeed."""

    def __init__(self, problem: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(problem)
        self.retry_after_seconds = retry_after_seconds


class EndpointUnavailable(Exception):
    """No usable response after all attempts; the same request may succeed later."""


class EndpointMismatch(Exception):
    """The endpoint responds, but not as configured; a retry does not help."""


class RequestRejected(EndpointMismatch):
    """The endpoint rejects this input; if the length is the reason, a shorter input may be accepted.

    The configuration is wrong only if the endpoint rejects every input.
    """
