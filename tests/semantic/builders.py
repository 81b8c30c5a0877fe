"""Builders of facts, and functions that submit one command."""

from collections.abc import Iterable
from typing import Any

from memsidecar.domain.fact import FactType
from memsidecar.domain.ids import new_id
from memsidecar.layers.semantic.fact import CLIENT, KnownFact, PutFact
from memsidecar.layers.semantic.fact_merge import FactMerge
from memsidecar.layers.semantic.facts import Facts
from memsidecar.stores.contract import Owner, Record, RecordsUpserted
from tests.support.waiting import result_of

PROFILE, INTEREST = FactType.USER_PROFILE, FactType.INTEREST
ANN = Owner("default", "ann")


def fact(value: str, when: int = 1, **fields: Any) -> KnownFact:
    """Return a fact from a message of session s1."""
    known: dict[str, Any] = {
        "id": new_id(),
        "type": PROFILE,
        "key": "city",
        "value": value,
        "confidence": 0.8,
        "valid_from_us": when,
        "extracted_us": when,
        "seen_us": when,
        "origin": "rules",
        "session_id": "s1",
        "source_message_ids": (f"m{when}",),
        "erased_with": "s1",
    }
    return KnownFact(**known | fields)


def client_fact(value: str, when: int = 1, **fields: Any) -> KnownFact:
    """Return a fact that a client put."""
    by_client = {"origin": CLIENT, "session_id": "", "source_message_ids": (), "erased_with": ""}
    return fact(value, when, **by_client | fields)


def merged(facts: Iterable[KnownFact], records: Iterable[Record] = ()) -> FactMerge:
    merge = FactMerge.of(records)
    for one in facts:
        merge.put(one)
    return merge


def records_of(merge: FactMerge) -> list[Record]:
    return [one.to_record() for one in merge.facts.values()]


def current(merge: FactMerge) -> list[str]:
    return [one.value for one in merge.facts.values() if not one.until_us]


def history(merge: FactMerge) -> list[tuple[str, int, int]]:
    ended = [one for one in merge.facts.values() if one.until_us]
    return sorted((one.value, one.valid_from_us, one.until_us) for one in ended)


def put(facts: Facts, *known: KnownFact, owner: Owner = ANN) -> list[KnownFact]:
    requests = [PutFact(fact) for fact in known]
    upserted: RecordsUpserted = result_of(lambda on_done: facts.submit_put(owner, requests, on_done))
    return list(upserted.result)


def delete(facts: Facts, fact_id: str, owner: Owner = ANN) -> None:
    result_of(lambda on_done: facts.submit_delete(owner, fact_id, on_done))


def values(facts: Facts, owner: Owner = ANN) -> list[str]:
    return sorted(one.value for one in facts.current(owner))
