"""Waiting for retrieval, which is there a while after the rest, and for what is written in the background."""

import time
from collections.abc import Callable
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.support.process import SidecarProcess

EPISODIC = "memsidecar.episodic"
"As health calls it."

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING

_PATIENCE_SECONDS = 60.0
_PAUSE_SECONDS = 0.05


def until(holds: Callable[[], bool]) -> None:
    """Wait for what comes by itself."""
    last = time.monotonic() + _PATIENCE_SECONDS
    while not holds():
        assert time.monotonic() < last, "it did not come in a minute"
        time.sleep(_PAUSE_SECONDS)


def health_of(channel: grpc.Channel, service: str) -> int:
    stub: Any = health_pb2_grpc.HealthStub(channel)
    return int(stub.Check(health_pb2.HealthCheckRequest(service=service)).status)


def until_retrieval_is_there(sidecar: SidecarProcess) -> None:
    with grpc.insecure_channel(sidecar.ready["health_listen"]) as channel:
        until(lambda: health_of(channel, EPISODIC) == SERVING)
