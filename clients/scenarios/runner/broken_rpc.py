"""Breaks one RPC of a sidecar in this process.

The RPC's response arrives empty. If the response has no fields, the request arrives empty instead.
"""

from collections.abc import Mapping
from typing import Any

import grpc

from runner.contract import METHODS


def break_rpc(rpc: str) -> None:
    """Break `rpc` in every server that this process starts later."""
    original = grpc.method_handlers_generic_handler

    def make(service: str, handlers: Mapping[str, Any]) -> Any:
        return original(
            service, {name: _broken(name, handler) if name == rpc else handler for name, handler in handlers.items()}
        )

    setattr(grpc, "method_handlers_generic_handler", make)  # noqa: B010 - the stubs declare a function


def _broken(name: str, handler: Any) -> Any:
    if METHODS[name].output_type.fields:
        return handler._replace(response_serializer=lambda _: b"")
    deserialize = handler.request_deserializer or bytes
    return handler._replace(request_deserializer=lambda _: deserialize(b""))
