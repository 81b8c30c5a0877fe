"""Searches never return hits of another namespace, user or session."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsidecar.domain.errors import InvalidField, SessionOwnerMismatch
from memsidecar.layers.episodic import EpisodicLimits
from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE, SCOPE_SESSION, SCOPE_UNSPECIFIED, SCOPE_USER
from tests.episodic.components import MODES, NO_RAM, STATIC, EpisodicClient, episodic_client

HOSTILE = [
    "a' OR '1'='1",
    'x"; DROP TABLE episodes; --',
    "%",
    "_",
    "*",
    "../..",
    "a/b\\c",
    "𝕱𝖔𝖔 🦊",
    "\u202eolleh\u202c",
    "مرحبا",
    "l" * 256,
    "é" * 128,
    "true",
    "0",
    "-1",
    "~?",
    "session IS NOT NULL",
    "a",
    "A",
    "a ",
    "\u00e5",
    "a\u030a",
]
QUERIES = [
    *HOSTILE,
    "secret",
    "secret AND NOT x",
    '"secret',
    "(secret OR",
    "secret~2",
    "+secret -x",
    "\0secret",
    "sec\nret",
    "?" * 50,
]
IDS = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=20)
QUERY = st.sampled_from(QUERIES) | st.text(min_size=1, max_size=60).filter(
    lambda text: text.isascii() or _encodes(text)
)


def _encodes(text: str) -> bool:
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


PEOPLE = st.lists(st.tuples(IDS, IDS | st.just(""), IDS), min_size=2, max_size=4, unique=True)


def tell(memory: EpisodicClient, people: Sequence[tuple[str, str, str]]) -> None:
    """Add the same messages for everyone; the metadata has the owner."""
    for namespace, user, session in people:
        for at in range(2):
            try:
                memory.add(f"my secret {at} is a OR x", session, user=user, namespace=namespace, name=session)
            except SessionOwnerMismatch:
                continue  # two of them picked the same session


def ask(memory: EpisodicClient, query: str, **fields: Any) -> Sequence[Any]:
    try:
        return memory.search(query, limit=100, **fields).hits
    except (InvalidField, SessionOwnerMismatch):
        return []


@pytest.mark.parametrize("limits", [EpisodicLimits(), NO_RAM], ids=["in RAM", "by candidates"])
@given(people=PEOPLE, query=QUERY, indexed=st.booleans())
@settings(max_examples=15, deadline=None)
def test_no_hit_comes_from_another_namespace_user_or_session(
    limits: EpisodicLimits, people: Sequence[tuple[str, str, str]], query: str, indexed: bool
) -> None:
    with episodic_client(limits=limits) as memory:
        tell(memory, people)
        if indexed:
            memory.index()
        owners = {
            (namespace, found.message.sequence, found.lsn): found
            for namespace in {one[0] for one in people}
            for found in memory.journal.scan(_all_owners(namespace), None, 1_000)
        }
        for namespace, user, session in people:
            for mode in MODES:
                for scope in (SCOPE_UNSPECIFIED, SCOPE_SESSION, SCOPE_USER, SCOPE_NAMESPACE):
                    names = {
                        "namespace": namespace,
                        "user_id": user,
                        "session_id": session,
                        "scope": scope,
                        "mode": mode,
                    }
                    hits = ask(memory, query, **names)
                    mine = [one for place, one in owners.items() if place[0] == namespace]
                    if scope == SCOPE_SESSION or (scope == SCOPE_UNSPECIFIED and not user):
                        mine = [one for one in mine if one.key.session_id == session]
                    elif scope != SCOPE_NAMESPACE and user:
                        mine = [one for one in mine if one.user_id == user]
                    allowed = {one.message.body for one in mine}
                    assert all(hit.message.SerializeToString() in allowed or _is_among(hit, mine) for hit in hits)
                    assert len(hits) <= len(mine)


def _all_owners(namespace: str) -> Any:
    from memsidecar.stores.contract import Scope  # noqa: PLC0415 - the name is taken by the wire's

    return Scope(namespace)


def _is_among(hit: Any, mine: Sequence[Any]) -> bool:
    return any(hit.message.id.encode() in one.message.body for one in mine)


@pytest.mark.parametrize("bad", ["a\0b", "a\nb", "\x7f", "é" * 129, "l" * 257])
@pytest.mark.parametrize("field", ["namespace", "user_id", "session_id"])
def test_an_invalid_id_is_rejected_by_field(bad: str, field: str) -> None:
    with episodic_client() as memory:
        memory.add("tea", user="u")
        with pytest.raises(InvalidField) as refused:
            memory.search("tea", **{"session_id": "s", field: bad})
        assert refused.value.field == field


def test_a_very_long_query_is_answered() -> None:
    with episodic_client(embedders=STATIC) as memory:
        memory.add("tea", user="u")
        assert memory.find("tea " + "x y z " * 30_000, user_id="u") == ["tea"]


def test_a_users_session_is_not_searched_by_another_user() -> None:
    with episodic_client() as memory:
        memory.add("tea", user="u")
        with pytest.raises(SessionOwnerMismatch):
            memory.search("tea", user_id="v", session_id="s", scope=SCOPE_SESSION)


def test_a_search_creates_no_table_for_an_empty_namespace() -> None:
    with episodic_client() as memory:
        memory.add("tea", user="u")
        for at in range(5):
            assert not memory.search("tea", namespace=f"made up {at}", user_id="u").hits
            assert memory.tables.generations(f"made up {at}") == []
            assert memory.journal.watermark("episodic.generation", f"made up {at}") == 0
