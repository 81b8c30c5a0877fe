"""One API behind one address, asked with patience, and left alone while it does not answer."""

from collections.abc import Callable
from typing import TypeVar

from memsidecar.endpoint.breaker import Breaker
from memsidecar.endpoint.errors import EndpointAway, Unanswered
from memsidecar.endpoint.refusals import refusal
from memsidecar.endpoint.settings import EndpointSettings
from memsidecar.endpoint.transport import Transport

T = TypeVar("T")


class Endpoint:
    """Thread-safe: callers share kept connections and one breaker."""

    def __init__(self, settings: EndpointSettings, elder: Breaker | None = None) -> None:
        """While the breaker `elder` refuses requests, so does this endpoint."""
        address, authorization = settings.address, settings.authorization
        headers = {"Authorization": authorization} if authorization else {}
        self.base = address.base
        self.breaker = Breaker(settings.failures_before_rest, settings.rest_seconds, settings.clock, elder)
        self._patience = settings.patience
        self._transport = Transport(
            address.origin, address.path + settings.api.leaf, headers, settings.timeout_seconds, settings.clock
        )

    def ask(self, body: bytes, largest_answer_bytes: int, read: Callable[[bytes], T]) -> T:
        """What `read` makes of the answer. It raises Unanswered for one that is not as it should be, to ask again.

        Raises EndpointAway, or EndpointMismatch at once: InputRefused where it is the input that is refused.
        """
        failures = 0
        while True:
            try:
                with self.breaker.request():
                    return self._asked_once(body, largest_answer_bytes, read)
            except Unanswered as failed:
                failures += 1
                if failures >= self._patience.attempts:
                    raise EndpointAway(f"no answer from {self.base}: {failed}") from failed
                self._patience.wait(failures, failed.asked_seconds)

    def _asked_once(self, body: bytes, largest_answer_bytes: int, read: Callable[[bytes], T]) -> T:
        answer = self._transport.post(body, largest_answer_bytes)
        if answer.status // 100 != 2:
            raise refusal(answer, self.base)
        return read(answer.body)
