"""Codecs and compression of the Connect protocol: between the bytes of a body and encoded messages."""

import asyncio
import json
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

import grpc
from google.protobuf import json_format
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from memsidecar.api.status import CallAborted
from memsidecar.domain.errors import InvalidField, TooLarge
from memsidecar.http.json_decoder import REQUEST, JsonDecoder

LARGE_BYTES = 64 * 1024
"Larger bodies are converted on a thread. JSON takes the event loop about a millisecond for 64 KiB of text."
MIN_COMPRESSED_BYTES = 1_024
"Smaller responses are not compressed."
GZIP = "gzip"
IDENTITY = "identity"
_GZIP_WINDOW = 31
_COMPRESSION_LEVEL = 1

T = TypeVar("T")


@dataclass(frozen=True)
class CodecLimits:
    max_request_bytes: int
    max_repeated_items: int


@dataclass(frozen=True)
class Codecs:
    """Converts bodies. Handlers take and return messages in the binary encoding, as over gRPC."""

    limits: CodecLimits
    _threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, "http-json"))

    async def decode_request(self, method: MethodDescriptor, codec: str, data: bytes) -> bytes:
        if codec != "json":
            return data
        return await self._run(len(data), lambda: self._from_json(GetMessageClass(method.input_type)(), data))

    async def encode_response(self, method: MethodDescriptor, codec: str, data: bytes) -> bytes:
        if codec != "json":
            return data
        return await self._run(len(data), lambda: _to_json(GetMessageClass(method.output_type), data))

    async def decompress(self, encoding: str, data: bytes) -> bytes:
        if encoding != GZIP or not data:
            return data
        return await self._run(len(data), lambda: _gunzip(data, self.limits.max_request_bytes))

    async def compress(self, data: bytes) -> bytes:
        return await self._run(len(data), lambda: _gzip(data))

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self, size: int, work: Callable[[], T]) -> T:
        if size <= LARGE_BYTES:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    def _from_json(self, message: Message, data: bytes) -> bytes:
        JsonDecoder(self.limits.max_repeated_items).decode(data, message)
        return message.SerializeToString()


def check_encoding(encoding: str) -> str:
    """Return a supported content encoding, or raise the error that the specification requires."""
    if encoding in ("", IDENTITY):
        return IDENTITY
    if encoding != GZIP:
        problem = f"the encoding {encoding[:50]!r} is not known: expected {GZIP} or {IDENTITY}"
        raise CallAborted.with_code(grpc.StatusCode.UNIMPLEMENTED, problem)
    return encoding


def accepts_gzip(header: str) -> bool:
    """Return whether a list of encodings, as in Accept-Encoding, allows gzip."""
    for part in header.split(","):
        name, _, weight = part.partition(";")
        if name.strip().lower() == GZIP:
            return weight.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False


def json_bytes(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _to_json(message_class: type[Message], data: bytes) -> bytes:
    return json_bytes(json_format.MessageToDict(message_class.FromString(data)))


def _gunzip(data: bytes, max_bytes: int) -> bytes:
    reader = zlib.decompressobj(_GZIP_WINDOW)
    try:
        unpacked = reader.decompress(data, max_bytes + 1)
    except zlib.error:
        raise InvalidField(REQUEST, "is not valid gzip") from None
    if len(unpacked) > max_bytes:
        raise TooLarge(f"the request has more than {max_bytes} bytes when it is unpacked; {max_bytes} are allowed")
    if not reader.eof or reader.unused_data:
        raise InvalidField(REQUEST, "is not one whole gzip stream")
    return unpacked


def _gzip(data: bytes) -> bytes:
    writer = zlib.compressobj(_COMPRESSION_LEVEL, zlib.DEFLATED, _GZIP_WINDOW)
    return writer.compress(data) + writer.flush()
