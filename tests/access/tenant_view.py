"""A sidecar as its tenants see it, and their answers in a form in which two sidecars can be compared."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import Message as Proto
from google.protobuf.message_factory import GetMessageClass

from memsidecar.v1.knowledge_pb2 import PutFactsResponse
from tests.access.calls import Answer, call
from tests.access.restricted_sidecar import Guarded
from tests.access.tenants import Asking, Step, Tenant
from tests.bad_input.rpcs import METHODS

QUERIES = ("herons in the reeds", "how many herons?")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIMES = "google.protobuf.Timestamp"
# How far the background has come is a matter of moments; a hash over times is one, too.
_OF_THE_MOMENT = frozenset({"watermarks"})

Plain = tuple[object, ...]


@dataclass(repr=False)
class World:
    door: Guarded
    facts: dict[str, str] = field(default_factory=dict)
    _ids: dict[str, dict[str, str]] = field(default_factory=dict)

    def take(self, step: Step, tenant: Tenant, other: Tenant) -> tuple[Answer, Plain]:
        """What the tenant got, as it is and in its plain form."""
        asking = Asking(step, tenant, self._query(step, tenant, other), self._fact_id(step, tenant, other))
        requests = [one.SerializeToString() for one in asking.requests()]
        answer = call(self.door.channel, step.method, requests, tenant.grant.text)
        self._remember(step, tenant, answer)
        return answer, self._plain(step.method, tenant, answer)

    def trespass(self, step: Step, tenant: Tenant, other: Tenant) -> Answer:
        """The same in the namespace of the other."""
        there = Tenant(other.namespace, tenant.canary, tenant.grant)
        requests = [one.SerializeToString() for one in Asking(step, there, "herons", "x").requests()]
        return call(self.door.channel, step.method, requests, tenant.grant.text)

    def _query(self, step: Step, tenant: Tenant, other: Tenant) -> str:
        return (*QUERIES, tenant.canary, other.canary)[(step.way + step.thing) % 4]

    def _fact_id(self, step: Step, tenant: Tenant, other: Tenant) -> str:
        """The newest of its own, or one of the other's, as far as there is one."""
        whose = other if step.way == 0 else tenant
        return self.facts.get(whose.canary, "00000000-0000-7000-8000-000000000000")

    def _remember(self, step: Step, tenant: Tenant, answer: Answer) -> None:
        if step.method == "PutFacts" and answer.bodies:
            self.facts[tenant.canary] = PutFactsResponse.FromString(answer.bodies[0]).facts[0].id

    def _plain(self, method: str, tenant: Tenant, answer: Answer) -> Plain:
        kind = GetMessageClass(METHODS[method].output_type)
        ids = self._ids.setdefault(tenant.canary, {})
        bodies = [_plain_message(kind.FromString(body), ids) for body in answer.bodies]
        return answer.code.name, answer.reason, _plain_text(answer.message, ids), *bodies


def _plain_message(given: Proto, ids: dict[str, str]) -> Plain:
    """Without times, with ids that the server made by the order in which they were seen."""
    return tuple(
        (each.name, _plain_value(each.name, value, ids))
        for each, value in given.ListFields()
        if each.name not in _OF_THE_MOMENT
    )


def _plain_value(name: str, value: Any, ids: dict[str, str]) -> object:
    if isinstance(value, Proto):
        return "some time" if value.DESCRIPTOR.full_name == _TIMES else _plain_message(value, ids)
    if isinstance(value, str):
        return "more" if name == "next_page_token" else _plain_text(value, ids)
    if isinstance(value, float):
        return round(value, 4)
    if hasattr(value, "items"):
        return tuple(sorted((key, _plain_value(key, one, ids)) for key, one in value.items()))
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return tuple(_plain_value(name, one, ids) for one in value)
    return value


def _plain_text(text: str, ids: dict[str, str]) -> str:
    return _UUID.sub(lambda found: ids.setdefault(found[0], f"id {len(ids)}"), text)
