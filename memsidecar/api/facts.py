"""PutFacts, ListFacts, DeleteFact."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from memsidecar.api.executors import Executors
from memsidecar.api.wire import ScopeIds, page_size_of, require_owner, timestamp_of
from memsidecar.domain.errors import InvalidField, TooLarge
from memsidecar.domain.fact import FactType
from memsidecar.domain.ids import check_id
from memsidecar.layers.field_checks import MAX_RESPONSE_BYTES
from memsidecar.layers.page_tokens import decode_cursor, encode_cursor
from memsidecar.layers.semantic.fact import KnownFact, parse_fact
from memsidecar.layers.semantic.facts import FactQuery, Facts, PendingPut
from memsidecar.v1 import knowledge_pb2 as pb

MAX_PUT_FACTS = 1_000


@dataclass(frozen=True)
class FactHandlers:
    executors: Executors
    facts: Facts

    async def put_facts(self, request: pb.PutFactsRequest) -> pb.PutFactsResponse:
        put = await self.executors.run_write(self._submit_put, request)
        await self.executors.wait_for(put.pending)
        return pb.PutFactsResponse(facts=[_fact(fact) for fact in put.facts])

    def _submit_put(self, request: pb.PutFactsRequest) -> PendingPut:
        scope = require_owner(request)
        if not 0 < len(request.facts) <= MAX_PUT_FACTS:
            raise InvalidField("facts", f"must be 1 to {MAX_PUT_FACTS}")
        if request.ByteSize() > MAX_RESPONSE_BYTES:
            raise TooLarge(f"the request has {request.ByteSize()} bytes; facts may have {MAX_RESPONSE_BYTES} together")
        facts = [parse_fact(fact, f"facts[{at}]", scope[-1]) for at, fact in enumerate(request.facts)]
        return self.facts.submit_put(self.facts.claim(*scope), facts, self.executors.on_done)

    async def list_facts(self, request: pb.ListFactsRequest) -> pb.ListFactsResponse:
        scope, types = require_owner(request), _types_of(request.types)
        fingerprint = _fingerprint(scope, types, request.include_history)
        after = decode_cursor(request.page_token, fingerprint)
        page = FactQuery(types, request.include_history, page_size_of(request.page_size), after)
        facts, last = await self.executors.run_read(self._facts_page, scope, page)
        token = encode_cursor(last, fingerprint) if last else ""
        return pb.ListFactsResponse(facts=[_fact(fact) for fact in facts], next_page_token=token)

    def _facts_page(
        self, scope: ScopeIds, page: FactQuery
    ) -> tuple[Sequence[KnownFact], tuple[float, int, str] | None]:
        return page.of(self.facts, self.facts.owner(*scope))

    async def delete_fact(self, request: pb.DeleteFactRequest) -> pb.DeleteFactResponse:
        scope, fact_id = require_owner(request), check_id("fact_id", request.fact_id)
        owner = await self.executors.run_read(self.facts.owner, *scope)
        await self.executors.wait_for(self.facts.submit_delete(owner, fact_id, self.executors.on_done))
        return pb.DeleteFactResponse()


def _types_of(types: Sequence[int]) -> frozenset[FactType]:
    for at, number in enumerate(types):
        if number not in tuple(FactType):
            raise InvalidField(f"types[{at}]", "is not a known type")
    return frozenset(map(FactType, types))


def _fingerprint(scope: ScopeIds, types: frozenset[FactType], include_history: bool) -> bytes:
    """Return the part of the request that must not change between two pages."""
    namespace, user_id, session_id = scope
    request = pb.ListFactsRequest(
        namespace=namespace,
        user_id=user_id,
        session_id=session_id,
        types=[cast(pb.FactType, int(fact_type)) for fact_type in sorted(types)],
        include_history=include_history,
    )
    return b"ListFacts\0" + request.SerializeToString(deterministic=True) + b"\0"


def _fact(fact: KnownFact) -> pb.Fact:
    return pb.Fact(
        id=fact.id,
        type=cast(pb.FactType, int(fact.type)),
        key=fact.key,
        value=fact.value,
        confidence=fact.confidence,
        valid_from=timestamp_of(fact.valid_from_us),
        valid_until=timestamp_of(fact.until_us) if fact.until_us else None,
        extracted_at=timestamp_of(fact.extracted_us),
        last_updated=timestamp_of(fact.seen_us),
        session_id=fact.session_id,
        source_message_ids=fact.source_message_ids,
        origin=fact.origin,
        pinned=fact.pinned,
    )
