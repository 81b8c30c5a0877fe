"""A stream of the runner's own, which keeps a sidecar draining for as long as it is open."""

import threading
from collections.abc import Iterator
from typing import Any

import grpc

from memsidecar.v1.memory_pb2 import AddStreamRequest
from memsidecar.v1.memory_pb2_grpc import MemoryServiceStub
from memsidecar.v1.message_pb2 import ROLE_USER, Message

# A draining sidecar ends streams that are silent for five seconds.
REQUEST_SECONDS = 1
ANSWER_SECONDS = 60


class OpenStream:
    """Sends a message a second until it is closed. Open when it has its first answer."""

    def __init__(self, address: str) -> None:
        self._closed = threading.Event()
        self._channel = grpc.insecure_channel(address)
        stub: Any = MemoryServiceStub(self._channel)  # type: ignore[no-untyped-call]
        self._responses = stub.AddStream(self._requests(), timeout=ANSWER_SECONDS)
        next(self._responses)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _requests(self) -> Iterator[AddStreamRequest]:
        while not self._closed.is_set():
            message = Message(role=ROLE_USER, content="still open")
            yield AddStreamRequest(namespace="open-stream", session_id="s", message=message)
            self._closed.wait(REQUEST_SECONDS)

    def _read(self) -> None:
        try:
            for _ in self._responses:
                pass
        except grpc.RpcError:  # the sidecar was killed
            pass

    def close(self) -> None:
        self._closed.set()
        self._reader.join()
        self._channel.close()
