"""What a refusal means: wait, shorten, or give up."""

from collections.abc import Mapping
from http import HTTPStatus

from memsidecar.endpoint.errors import EndpointMismatch, InputRefused, Unanswered
from memsidecar.endpoint.patience import asked_seconds
from memsidecar.endpoint.transport import Answer

_REFUSES_INPUT = {HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, HTTPStatus.UNPROCESSABLE_ENTITY}
_LATER = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}

_MEANING: Mapping[int, str] = {
    HTTPStatus.UNAUTHORIZED: "it does not accept the key",
    HTTPStatus.FORBIDDEN: "the key may not use this model",
    HTTPStatus.NOT_FOUND: "it knows no such path or model",
}


def refusal(answer: Answer, base: str) -> EndpointMismatch | Unanswered:
    """The error for a status other than 2xx. It shows nothing of the body, which may repeat the key or a text."""
    status = answer.status
    if status in _REFUSES_INPUT or _too_large_says_llama_cpp(answer):
        return InputRefused(f"{base} refuses the input (status {status})")
    if status in _LATER or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return Unanswered(f"status {status}", asked_seconds(answer.retry_after))
    if status < HTTPStatus.BAD_REQUEST:
        return EndpointMismatch(f"{base} redirects elsewhere (status {status}), which is not followed: set its new URL")
    return EndpointMismatch(f"{base}: {_MEANING.get(status, 'it refuses')} (status {status})")


def _too_large_says_llama_cpp(answer: Answer) -> bool:
    """It answers 500 to a text that is longer than its batch, and would answer so for ever."""
    return answer.status == HTTPStatus.INTERNAL_SERVER_ERROR and b"too large" in answer.body
