"""What can go wrong with an endpoint.

These die in the rooms that talk to one, which say in their own words what it means for their callers. None of them
shows a key, or anything of a body.
"""


class InvalidEndpoint(ValueError):
    """The settings describe no endpoint that could be asked; found before the first request."""


class RetryableError(Exception):
    """No usable answer this time; another attempt may have one."""

    def __init__(self, problem: str, asked_seconds: float | None = None) -> None:
        super().__init__(problem)
        self.asked_seconds = asked_seconds


class EndpointUnavailable(Exception):
    """No usable answer for as long as one was ready to wait; the same may succeed later."""


class EndpointMismatch(Exception):
    """The endpoint answers, but not what was configured; waiting does not help."""


class RequestRejected(EndpointMismatch):
    """The endpoint takes no such input; where that is for its length, a shorter one may do.

    A mismatch for all only if it takes no input whatever; else it is one text's own misfortune.
    """
