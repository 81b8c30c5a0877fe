"""Pages of ranked hits: together they equal one large page, also during adds."""

from collections.abc import Iterator
from itertools import count

import numpy as np
import pytest
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp
from hypothesis import given, settings
from hypothesis import strategies as st

from memsidecar.domain.errors import InvalidField
from memsidecar.layers.episodic import EpisodicLimits
from memsidecar.layers.episodic.candidates import MIN_CANDIDATES
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_SYSTEM, ROLE_USER, SCOPE_NAMESPACE, Message, Scope
from tests.episodic.components import (
    HYBRID,
    MODES,
    NO_RAM,
    SCOPES,
    SEMANTIC,
    STATIC,
    EpisodicClient,
    episodic_client,
    messages_of,
    names_of,
)

WORDS = ["tea", "coffee", "milk", "run", "running", "who", "the", "what?", "cup"]
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join), min_size=1, max_size=25)
PATHS = pytest.mark.parametrize("limits", [EpisodicLimits(), NO_RAM], ids=["in RAM", "by candidates"])


def tell(memory: EpisodicClient, texts: list[str]) -> None:
    for at, text in enumerate(texts):
        memory.add(text, f"s{at % 2}" if at % 3 else "s", user="u", name=("", "anna")[at % 2])


@PATHS
@given(
    texts=TEXTS,
    size=st.integers(1, 7),
    indexed=st.booleans(),
    scope=st.sampled_from(SCOPES),
    mode=st.sampled_from(MODES),
)
@settings(max_examples=30, deadline=None)
def test_pages_of_any_size_are_one_large_page(
    limits: EpisodicLimits, *, texts: list[str], size: int, indexed: bool, scope: Scope, mode: int
) -> None:
    with episodic_client(limits=limits) as memory:
        tell(memory, texts)
        if indexed:
            memory.index()
        fields = {"mode": mode, **names_of(scope)}
        whole = [hit.message.id for hit in memory.search("tea running who", limit=1_000, **fields).hits]
        assert memory.pages("tea running who", size, **fields) == whole
        assert len(set(whole)) == len(whole)


@PATHS
@given(
    texts=TEXTS,
    size=st.integers(1, 7),
    later=st.lists(st.sampled_from(WORDS), min_size=1, max_size=30),
    indexing=st.booleans(),
    scope=st.sampled_from(SCOPES),
    mode=st.sampled_from(MODES),
)
@settings(max_examples=30, deadline=None)
def test_messages_added_between_two_pages_change_no_page(
    limits: EpisodicLimits, *, texts: list[str], size: int, later: list[str], indexing: bool, scope: Scope, mode: int
) -> None:
    """They are added to the same sessions, by speakers with names of the query, indexed or not."""
    with episodic_client(limits=limits) as memory:
        tell(memory, texts)
        memory.index()
        fields = {"mode": mode, **names_of(scope)}
        query = "tea running who milk"
        whole = [hit.message.id for hit in memory.search(query, limit=1_000, **fields).hits]
        more = iter(later)

        def between() -> None:
            for word in [next(more, ""), next(more, "")]:
                if word:
                    memory.add(f"{word} tea", "s", user="u", name=word.strip("?"))
            if indexing:
                memory.index()

        assert memory.pages(query, size, between, **fields) == whole


def test_a_page_of_candidates_is_the_same_after_better_messages_were_added() -> None:
    with episodic_client(limits=NO_RAM) as memory:
        memory.add_all(messages_of(*(f"tea number{at} with some more words" for at in range(40))), user="u")
        memory.index()
        whole = [hit.message.id for hit in memory.search("tea", limit=1_000, user_id="u").hits]

        def between() -> None:
            memory.add_all(messages_of(*("tea" for _ in range(250))), "later", user="u")
            memory.index()

        assert memory.pages("tea", 20, between, user_id="u") == whole


@pytest.mark.parametrize("mode", MODES)
def test_pages_of_candidates_return_all_candidates(mode: int) -> None:
    random = np.random.default_rng(0)
    with episodic_client(limits=NO_RAM) as memory:
        for session in range(9):
            texts = (" ".join(random.choice(WORDS, random.integers(1, 7))) for _ in range(100))
            memory.add_all(messages_of(*texts), f"s{session}", user="u")
        memory.index()
        found = memory.pages("tea run cup", 50, user_id="u", mode=mode)
        assert len(found) == len(set(found)) >= MIN_CANDIDATES
        assert found == memory.pages("tea run cup", 70, user_id="u", mode=mode)


def numbered(number: int) -> Struct:
    tags = Struct()
    tags.update({"kind": number})
    return tags


@pytest.mark.parametrize("every", [2, 3, 7])
def test_pages_with_a_filter_on_tags_miss_nothing(every: int) -> None:
    with episodic_client() as memory:
        ids = [memory.add(f"tea {at}", user="u", metadata=numbered(at % every)) for at in range(40)]
        wanted = [name for at, name in enumerate(ids) if at % every == 1]
        for size in (1, 2, 3, 5, 8):
            found = memory.pages("tea", size, user_id="u", metadata_filter=numbered(1))
            assert sorted(found) == sorted(wanted), f"pages of {size}"


def stamps() -> Iterator[Timestamp]:
    return (Timestamp(seconds=1_700_000_000 + at) for at in count())


@PATHS
@pytest.mark.parametrize("scope", SCOPES, ids=Scope.Name)
def test_filters_by_role_and_time_exclude_everything_else(limits: EpisodicLimits, scope: Scope) -> None:
    with episodic_client(limits=limits) as memory:
        roles = (ROLE_USER, ROLE_ASSISTANT, ROLE_SYSTEM)
        for at, stamp in zip(range(9), stamps(), strict=False):
            memory.add(f"tea {at}", user="u", role=roles[at % 3], create_time=stamp)
            if at == 5:
                memory.index()
        names = names_of(scope)
        assert set(memory.find("tea", roles=[ROLE_ASSISTANT], **names)) == {"tea 1", "tea 4", "tea 7"}
        after, before = Timestamp(seconds=1_700_000_002), Timestamp(seconds=1_700_000_005)
        assert set(memory.find("tea", after=after, before=before, **names)) == {"tea 3", "tea 4"}
        assert set(memory.find("tea", after=after, roles=[ROLE_USER], **names)) == {"tea 3", "tea 6"}


@pytest.mark.parametrize("mode", MODES)
def test_the_minimum_score_is_exact(mode: int) -> None:
    with episodic_client() as memory:
        tell(memory, [" ".join(WORDS[at % 5 : at % 5 + 3]) for at in range(30)])
        every = memory.search("tea milk", limit=1_000, user_id="u", mode=mode).hits
        for least in (0.1, 0.3, 0.5, 0.7, 1.0, 2.0):
            some = memory.search("tea milk", limit=1_000, user_id="u", mode=mode, min_score=least).hits
            assert [hit.message.id for hit in some] == [hit.message.id for hit in every if hit.score >= least]


def test_the_default_limit_is_ten_and_the_maximum_a_thousand() -> None:
    with episodic_client() as memory:
        memory.add_all(messages_of(*(f"tea {at}" for at in range(600))), "a", user="u")
        memory.add_all(messages_of(*(f"tea {at}" for at in range(600))), "b", user="u")
        assert len(memory.search("tea", user_id="u").hits) == 10
        answer = memory.search("tea", user_id="u", limit=5_000)
        assert len(answer.hits) == 1_000 and answer.next_page_token


def test_large_hits_are_split_into_pages_by_size() -> None:
    with episodic_client() as memory:
        for at in range(6):
            memory.add(f"tea {at} " + "x" * 900_000, user="u")
        first = memory.search("tea", user_id="u")
        assert 0 < first.ByteSize() < 4 << 20 and first.next_page_token
        assert len(memory.pages("tea", 10, user_id="u")) == 6


@pytest.mark.parametrize("changed", [{"query": "te"}, {"mode": SEMANTIC}, {"scope": SCOPE_NAMESPACE}], ids=str)
def test_the_token_of_another_search_is_rejected(changed: dict[str, object]) -> None:
    with episodic_client() as memory:
        tell(memory, ["tea"] * 9)
        fields: dict[str, object] = {"query": "tea", "mode": HYBRID, "user_id": "u", "limit": 2}
        token = memory.search(**fields).next_page_token  # type: ignore[arg-type]
        with pytest.raises(InvalidField):
            memory.search(**{**fields, "page_token": token, **changed})  # type: ignore[arg-type]


def test_tool_calls_are_found_by_their_arguments() -> None:
    with episodic_client() as memory:
        call = Message(role=ROLE_ASSISTANT)
        call.tool_calls.add(id="c", name="lookup_weather", arguments_json='{"city": "Reykjavik"}')
        memory.add_all([call], user="u")
        assert [hit.message.tool_calls[0].id for hit in memory.search("reykjavik", user_id="u").hits] == ["c"]


@PATHS
@pytest.mark.parametrize("mode", MODES)
def test_tool_calls_without_content_are_no_hits_because_of_their_neighbours(
    mode: pb.SearchMode, limits: EpisodicLimits
) -> None:
    call = Message(role=ROLE_ASSISTANT)
    call.tool_calls.add(id="c", name="run", arguments_json='{"command": "make"}')
    with episodic_client(embedders=STATIC, limits=limits) as memory:
        question, answer = messages_of("Which port has the staging database?", "The staging database has port 5544.")
        memory.add_all([question, call, answer], user="u")
        for _ in range(2):
            found = memory.search("port of the staging database", user_id="u", mode=mode).hits
            assert sorted(hit.message.content for hit in found) == sorted([question.content, answer.content])
            memory.index()
