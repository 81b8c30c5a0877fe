"""The table of RPC handlers: complete, and spelt like the proto."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from google.protobuf.descriptor import ServiceDescriptor

from memsidecar.api.admission.auth import ROLES
from memsidecar.api.handlers import Handler, HandlerFactory
from memsidecar.api.interceptors.concurrency import InFlightCounter, InFlightLimits
from memsidecar.api.interceptors.deadlines import Deadlines
from memsidecar.api.interceptors.request_log import RequestLog
from memsidecar.api.knowledge_service import KnowledgeService
from memsidecar.api.memory_service import MemoryService
from memsidecar.api.session_service import SessionService
from memsidecar.v1 import session_pb2
from tests.support.admission import lenient_admission

SERVICES = (MemoryService, SessionService, KnowledgeService)
NAMES = frozenset(session_pb2.DESCRIPTOR.services_by_name["SessionService"].methods_by_name)


@dataclass(frozen=True)
class Tabled:
    names: frozenset[str]
    descriptor: ClassVar[ServiceDescriptor] = session_pb2.DESCRIPTOR.services_by_name["SessionService"]

    def rpcs(self) -> Mapping[str, Handler]:
        return dict.fromkeys(self.names, lambda request: request)


def register(names: frozenset[str]) -> None:
    limits = InFlightLimits(InFlightCounter(1, "calls"), InFlightCounter(1, "streams"))
    factory = HandlerFactory(RequestLog("none", 1.0), limits, Deadlines(1.0, 1.0), lenient_admission())
    service: Any = Tabled(names)
    factory.generic_handler(service)


def test_a_complete_table_is_registered() -> None:
    register(NAMES)


@pytest.mark.parametrize(
    "names",
    [NAMES - {"Watch"}, NAMES - {"Watch"} | {"Wacht"}, NAMES | {"Wacht"}],
    ids=["missing", "misspelt", "unknown"],
)
def test_a_table_that_does_not_match_the_proto_is_an_error(names: frozenset[str]) -> None:
    with pytest.raises(ValueError, match="SessionService does not match its descriptor"):
        register(names)


def test_every_rpc_has_a_role_and_no_other_has() -> None:
    assert {name for service in SERVICES for name in service.descriptor.methods_by_name} == ROLES.keys()
