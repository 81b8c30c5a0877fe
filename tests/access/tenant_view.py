"""Responses of a sidecar to its tenants, in a form that can be compared between two sidecars."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import Message as Proto
from google.protobuf.message_factory import GetMessageClass

from memsidecar.v1.knowledge_pb2 import PutFactsResponse
from tests.access.calls import Answer, call
from tests.access.restricted_sidecar import RestrictedSidecar
from tests.access.tenants import Step, StepRequest, Tenant
from tests.bad_input.rpcs import METHODS

QUERIES = ("herons in the reeds", "how many herons?")
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TIMES = "google.protobuf.Timestamp"
# The progress of background tasks varies between two runs, and a cursor is encrypted. The size of a stored time varies.
_VARYING_FIELDS = frozenset({"watermarks", "learned", "cursor", "bytes"})

Comparable = tuple[object, ...]


@dataclass(repr=False)
class TenantView:
    restricted: RestrictedSidecar
    facts: dict[str, str] = field(default_factory=dict)
    _ids: dict[str, dict[str, str]] = field(default_factory=dict)

    def run(self, step: Step, tenant: Tenant, other: Tenant) -> tuple[Answer, Comparable]:
        """Run a step; return the answer, and its comparable form."""
        step_request = StepRequest(step, tenant, self._query(step, tenant, other), self._fact_id(step, tenant, other))
        requests = [request.SerializeToString() for request in step_request.requests()]
        answer = call(self.restricted.channel, step.method, requests, tenant.grant.text)
        self._remember(step, tenant, answer)
        return answer, self._comparable(step.method, tenant, answer)

    def run_in_other_namespace(self, step: Step, tenant: Tenant, other: Tenant) -> Answer:
        """Run a step in the namespace of the other tenant."""
        there = Tenant(other.namespace, tenant.canary, tenant.grant)
        requests = [request.SerializeToString() for request in StepRequest(step, there, "herons", "x").requests()]
        return call(self.restricted.channel, step.method, requests, tenant.grant.text)

    def _query(self, step: Step, tenant: Tenant, other: Tenant) -> str:
        return (*QUERIES, tenant.canary, other.canary)[(step.way + step.thing) % 4]

    def _fact_id(self, step: Step, tenant: Tenant, other: Tenant) -> str:
        """Return the tenant's newest fact, or the other's."""
        whose = other if step.way == 0 else tenant
        return self.facts.get(whose.canary, "00000000-0000-7000-8000-000000000000")

    def _remember(self, step: Step, tenant: Tenant, answer: Answer) -> None:
        if step.method == "PutFacts" and answer.bodies:
            self.facts[tenant.canary] = PutFactsResponse.FromString(answer.bodies[0]).facts[0].id

    def _comparable(self, method: str, tenant: Tenant, answer: Answer) -> Comparable:
        kind = GetMessageClass(METHODS[method].output_type)
        ids = self._ids.setdefault(tenant.canary, {})
        bodies = [_comparable_message(kind.FromString(body), ids) for body in answer.bodies]
        # How many records of an import are acknowledged at once varies, too.
        compared = bodies[-1:] if method == "Import" else bodies
        return answer.code.name, answer.reason, _comparable_text(answer.message, ids), *compared


def _comparable_message(given: Proto, ids: dict[str, str]) -> Comparable:
    """Omit times, and number the server's ids in order of appearance."""
    return tuple(
        (each.name, _comparable_value(each.name, value, ids))
        for each, value in given.ListFields()
        if each.name not in _VARYING_FIELDS
    )


def _comparable_value(name: str, value: Any, ids: dict[str, str]) -> object:
    if isinstance(value, Proto):
        return "some time" if value.DESCRIPTOR.full_name == _TIMES else _comparable_message(value, ids)
    if isinstance(value, str):
        return "more" if name in ("next_page_token", "cursor") else _comparable_text(value, ids)
    if isinstance(value, float):
        return round(value, 4)
    if hasattr(value, "items"):
        return tuple(sorted((key, _comparable_value(key, item, ids)) for key, item in value.items()))
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return tuple(_comparable_value(name, item, ids) for item in value)
    return value


def _comparable_text(text: str, ids: dict[str, str]) -> str:
    return _UUID.sub(lambda found: ids.setdefault(found[0], f"id {len(ids)}"), text)
