"""Wait until the index of a sidecar is ready: it opens after the listener."""

from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.support.process import SidecarProcess
from tests.support.waiting import until

EPISODIC = "memsidecar.episodic"
"The name of the index in the health service."

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


def health_of(channel: grpc.Channel, service: str) -> int:
    stub: Any = health_pb2_grpc.HealthStub(channel)
    return int(stub.Check(health_pb2.HealthCheckRequest(service=service)).status)


def until_index_is_ready(sidecar: SidecarProcess) -> None:
    with grpc.insecure_channel(sidecar.ready["health_listen"]) as channel:
        until(lambda: health_of(channel, EPISODIC) == SERVING)
