"""PutFacts, ListFacts, DeleteFact."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from memsidecar.api.executors import Executors
from memsidecar.api.page_tokens import PageTokens
from memsidecar.api.wire import ScopeIds, page_size_of, require_owner, timestamp_of
from memsidecar.domain.errors import InvalidField, TooLarge
from memsidecar.domain.fact import FactType
from memsidecar.domain.ids import check_id
from memsidecar.layers.field_checks import MAX_RESPONSE_BYTES
from memsidecar.layers.semantic.fact import KnownFact, parse_fact
from memsidecar.layers.semantic.facts import FactCursor, FactQuery, Facts
from memsidecar.stores.contract import PendingCommand, RecordsUpserted
from memsidecar.v1 import knowledge_pb2 as pb

MAX_PUT_FACTS = 1_000


@dataclass(frozen=True)
class FactHandlers:
    executors: Executors
    facts: Facts
    page_tokens: PageTokens

    async def put_facts(self, request: pb.PutFactsRequest) -> pb.PutFactsResponse:
        pending = await self.executors.run_write(self._submit_put, request)
        upserted: RecordsUpserted = await self.executors.wait_for(pending)
        return pb.PutFactsResponse(facts=[encode_fact(fact) for fact in upserted.result])

    def _submit_put(self, request: pb.PutFactsRequest) -> PendingCommand:
        scope = require_owner(request)
        if not 0 < len(request.facts) <= MAX_PUT_FACTS:
            raise InvalidField("facts", f"must be 1 to {MAX_PUT_FACTS}")
        if request.ByteSize() > MAX_RESPONSE_BYTES:
            raise TooLarge(f"the request has {request.ByteSize()} bytes; facts may have {MAX_RESPONSE_BYTES} together")
        facts = [parse_fact(fact, f"facts[{at}]", scope[-1]) for at, fact in enumerate(request.facts)]
        return self.facts.submit_put(self.facts.claim(*scope), facts, self.executors.on_done)

    async def list_facts(self, request: pb.ListFactsRequest) -> pb.ListFactsResponse:
        scope, types = require_owner(request), _types_of(request.types)
        after = cast(FactCursor | None, self.page_tokens.decode(request, float, int, str))
        page = FactQuery(types, request.include_history, page_size_of(request.page_size), after)
        facts, last = await self.executors.run_read(self._facts_page, scope, page)
        token = self.page_tokens.encode(request, last)
        return pb.ListFactsResponse(facts=[encode_fact(fact) for fact in facts], next_page_token=token)

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


def encode_fact(fact: KnownFact) -> pb.Fact:
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
