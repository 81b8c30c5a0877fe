"""Raw calls with credentials, and their complete results."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import grpc
from google.protobuf.message import Message as Proto

from tests.bad_input.rpcs import METHODS, responses_of, valid_request
from tests.support.process import CALL_SECONDS, Refusal

SESSION = "shared"
"The default session of requests."


@dataclass(frozen=True)
class Answer:
    """The response messages and the final status."""

    bodies: tuple[bytes, ...]
    code: grpc.StatusCode = grpc.StatusCode.OK
    reason: str = ""
    message: str = ""
    trailing: tuple[tuple[str, str | bytes], ...] = ()

    @classmethod
    def of_error(cls, bodies: Sequence[bytes], error: grpc.RpcError) -> Self:
        refused = Refusal(error)
        trailing: Any = error.trailing_metadata() or ()
        return cls(tuple(bodies), refused.code, refused.reason, refused.message, tuple(map(tuple, trailing)))

    @property
    def verdict(self) -> tuple[grpc.StatusCode, str]:
        return self.code, self.reason

    @property
    def everything(self) -> bytes:
        """Return every byte that the caller receives."""
        trailing = (value if isinstance(value, bytes) else value.encode() for _, value in self.trailing)
        return b"\0".join((*self.bodies, self.message.encode(), *trailing))


def bearer(token: str | None) -> tuple[tuple[str, str], ...]:
    return () if token is None else (("authorization", f"Bearer {token}"),)


def call(
    channel: Any,
    name: str,
    requests: Iterable[bytes],
    token: str | None = None,
    *,
    metadata: tuple[tuple[str, str], ...] = (),
    seconds: float = CALL_SECONDS,
) -> Answer:
    """Call an RPC with serialized requests; a unary RPC gets the first one."""
    bodies: list[bytes] = []
    sent: dict[str, Any] = {"metadata": (*bearer(token), *metadata), "timeout": seconds}
    try:
        bodies.extend(_answers(channel, name, requests, sent))
    except grpc.RpcError as error:
        return Answer.of_error(bodies, error)
    return Answer(tuple(bodies))


def _answers(channel: Any, name: str, requests: Iterable[bytes], sent: dict[str, Any]) -> Iterable[bytes]:
    method = METHODS[name]
    path = f"/{method.containing_service.full_name}/{name}"
    if method.client_streaming:
        yield from channel.stream_stream(path)(iter(requests), **sent)
    elif method.server_streaming:
        yield from responses_of(name, channel.unary_stream(path)(next(iter(requests)), **sent))
    else:
        yield channel.unary_unary(path)(next(iter(requests)), **sent)


def minimal(name: str, namespace: str, session_id: str = SESSION) -> Proto:
    """Return a valid request of any RPC, in this namespace."""
    request: Any = valid_request(name, session_id)
    request.namespace = namespace
    return request  # type: ignore[no-any-return]
