"""KnowledgeService, as far as facts are concerned."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from memsidecar.api.executors import Bridge
from memsidecar.api.wire import Names, Scoped, page_size_of, scope_of, timestamp_of
from memsidecar.domain.errors import InvalidField, TooLarge
from memsidecar.domain.fact import FactType
from memsidecar.domain.ids import check_id
from memsidecar.layers.page_tokens import place_of, place_token
from memsidecar.layers.semantic.fact import KnownFact, told_fact
from memsidecar.layers.semantic.facts import FactPage, Facts, Put
from memsidecar.layers.working.reads import ANSWER_BYTES
from memsidecar.v1 import knowledge_pb2 as pb

MAX_FACTS = 1_000


@dataclass(frozen=True)
class FactCalls:
    bridge: Bridge
    facts: Facts

    async def put_facts(self, request: pb.PutFactsRequest) -> pb.PutFactsResponse:
        put = await self.bridge.writing(self._begin_putting, request)
        await self.bridge.outcome(put.ticket)
        return pb.PutFactsResponse(facts=[_fact(one) for one in put.facts])

    def _begin_putting(self, request: pb.PutFactsRequest) -> Put:
        names = whose(request)
        if not 0 < len(request.facts) <= MAX_FACTS:
            raise InvalidField("facts", f"must be 1 to {MAX_FACTS}")
        if request.ByteSize() > ANSWER_BYTES:
            raise TooLarge(f"the request has {request.ByteSize()} bytes; facts may have {ANSWER_BYTES} together")
        told = [told_fact(fact, f"facts[{at}]", names[-1]) for at, fact in enumerate(request.facts)]
        return self.facts.begin_putting(self.facts.claim(*names), told, self.bridge.settled)

    async def list_facts(self, request: pb.ListFactsRequest) -> pb.ListFactsResponse:
        names, types = whose(request), _types_of(request.types)
        same = _same(names, types, request.include_history)
        after = place_of(request.page_token, same)
        page = FactPage(types, request.include_history, page_size_of(request.page_size), after)
        found, last = await self.bridge.reading(self._facts_page, names, page)
        token = place_token(last, same) if last else ""
        return pb.ListFactsResponse(facts=[_fact(one) for one in found], next_page_token=token)

    def _facts_page(self, names: Names, page: FactPage) -> tuple[Sequence[KnownFact], tuple[float, int, str] | None]:
        return page.of(self.facts, self.facts.owner(*names))

    async def delete_fact(self, request: pb.DeleteFactRequest) -> pb.DeleteFactResponse:
        names, fact_id = whose(request), check_id("fact_id", request.fact_id)
        owner = await self.bridge.reading(self.facts.owner, *names)
        await self.bridge.outcome(self.facts.begin_deleting(owner, fact_id, self.bridge.settled))
        return pb.DeleteFactResponse()


def whose(request: Scoped) -> Names:
    names = scope_of(request)
    if not any(names[1:]):
        raise InvalidField("user_id", "is required where no session is named")
    return names


def _types_of(types: Sequence[int]) -> frozenset[FactType]:
    for at, one in enumerate(types):
        if one not in tuple(FactType):
            raise InvalidField(f"types[{at}]", "is not a known type")
    return frozenset(map(FactType, types))


def _same(names: Names, types: frozenset[FactType], include_history: bool) -> bytes:
    """The request as far as its pages belong together."""
    namespace, user_id, session_id = names
    same = pb.ListFactsRequest(
        namespace=namespace,
        user_id=user_id,
        session_id=session_id,
        types=[cast(pb.FactType, int(one)) for one in sorted(types)],
        include_history=include_history,
    )
    return b"ListFacts\0" + same.SerializeToString(deterministic=True) + b"\0"


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
