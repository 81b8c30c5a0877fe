"""A term of few messages finds all of them, whatever their vectors are."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from memsidecar.layers.episodic import EpisodicLimits
from memsidecar.layers.text_analysis import drop_bigram_characters, tokenize
from memsidecar.v1.message_pb2 import ROLE_USER, SCOPE_USER, Message, Scope
from tests.episodic.components import (
    DIMENSIONS,
    HYBRID,
    KEYWORD,
    NO_RAM,
    SCOPES,
    EpisodicClient,
    episodic_client,
    names_of,
)

UNSPACED = "天気予報今日猫をはーラメ서울에กิน"
WORDS = (
    st.text(st.characters(categories=["L"]), min_size=1, max_size=10)
    | st.text(st.sampled_from(UNSPACED + "x"), min_size=1, max_size=6)
    | st.sampled_from(
        ["the", "run", "runs", "running", "not", "who", "Straße", "naïve", "天気", "привет", "i", "İ", "أَب"]
    )
)
CASINGS: st.SearchStrategy[Callable[[str], str]] = st.sampled_from([str.upper, str.lower, str.title, str.swapcase])
AGAINST = [-1.0] + [0.0] * (DIMENSIONS - 1)
FOR = [1.0] + [0.0] * (DIMENSIONS - 1)
FEW = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@dataclass(frozen=True)
class MarkedMessages:
    """Messages in two sessions; the ones at `marked` have the word."""

    word: str
    query: str
    contents: list[str]
    marked: list[int]
    indexed: int

    def add_to(self, memory: EpisodicClient) -> list[str]:
        """Add the messages; return the ids of those with the word. All vectors are opposite to the query."""
        ids = []
        for at, content in enumerate(self.contents):
            vector = AGAINST if at in self.marked else FOR
            ids.append(memory.add(content, "s", user="u", vector=vector))
            if at + 1 == self.indexed:
                memory.index(batch_entries=3)
        return [ids[at] for at in self.marked]


@st.composite
def marked_messages(draw: st.DrawFn) -> MarkedMessages:
    word = draw(WORDS)
    query = draw(CASINGS)(word)
    assume(tokenize(query) == tokenize(word))
    # The same characters apart, as a filler, are not the word.
    wanted = set(drop_bigram_characters(tokenize(word)))
    fillers = [*draw(st.lists(WORDS, min_size=1, max_size=5)), "x", f"{word}ing", f"{word}s", " ".join(word)]
    fillers = [filler for filler in fillers if not wanted & set(tokenize(filler))] or ["y z"]
    count = draw(st.integers(2, 14))
    contents = [" ".join(draw(st.lists(st.sampled_from(fillers), min_size=1, max_size=6))) for _ in range(count)]
    marked = sorted(draw(st.sets(st.integers(0, count - 1), min_size=1)))
    for at in marked:
        contents[at] = f"{contents[at]} {word}, {draw(st.sampled_from(fillers))}"
    return MarkedMessages(word, query, contents, marked, draw(st.integers(0, count)))


@pytest.mark.parametrize("limits", [EpisodicLimits(), NO_RAM], ids=["in RAM", "by candidates"])
@given(marked=marked_messages())
@example(marked=MarkedMessages("กิ", "กิ", ["A กิ, A", "A"], [0], 0))
@FEW
def test_every_message_with_the_word_is_found(limits: EpisodicLimits, marked: MarkedMessages) -> None:
    with episodic_client(limits=limits) as memory:
        wanted = marked.add_to(memory)
        for scope in SCOPES:
            hits = memory.search(marked.query, mode=HYBRID, limit=len(wanted), query_vector=FOR, **names_of(scope)).hits
            assert {hit.message.id for hit in hits} == set(wanted), Scope.Name(scope)


@given(marked=marked_messages())
@FEW
def test_every_message_with_the_word_is_found_before_the_index_is_open(marked: MarkedMessages) -> None:
    with episodic_client(opened=False) as memory:
        wanted = MarkedMessages(marked.word, marked.query, marked.contents, marked.marked, -1).add_to(memory)
        hits = memory.search(marked.query, limit=len(wanted), query_vector=FOR, **names_of(SCOPE_USER)).hits
        assert {hit.message.id for hit in hits} == set(wanted)


@dataclass(frozen=True)
class Clauses:
    """Unspaced messages, and a part of one of them."""

    contents: list[str]
    part: str

    @property
    def wanted(self) -> set[str]:
        return {content for content in self.contents if self.part in content}


@st.composite
def clauses(draw: st.DrawFn) -> Clauses:
    contents = draw(st.lists(st.text(st.sampled_from("天気予報今日猫をはー。x"), min_size=1), min_size=1, max_size=8))
    run = draw(st.sampled_from([run for content in contents for run in content.replace("x", "。").split("。")]))
    assume(run)
    start = draw(st.integers(0, len(run) - 1))
    return Clauses(contents, run[start : draw(st.integers(start + 1, len(run)))])


@pytest.mark.parametrize("limits", [EpisodicLimits(), NO_RAM], ids=["in RAM", "by candidates"])
@given(marked=clauses())
@FEW
def test_every_part_of_an_unspaced_clause_finds_all_messages_with_it(limits: EpisodicLimits, marked: Clauses) -> None:
    wanted_terms = set(tokenize(marked.part))
    with episodic_client(limits=limits) as memory:
        for content in marked.contents:
            memory.add(content, user="u")
        memory.index()
        found = memory.find(marked.part, mode=KEYWORD, limit=100, user_id="u")
    assert marked.wanted <= set(found)
    has_all_terms = [wanted_terms <= set(tokenize(content)) for content in found]
    assert has_all_terms == sorted(has_all_terms, reverse=True), (
        "messages with some of the characters rank below those with all in sequence"
    )


def add_inflections(memory: EpisodicClient, exact: int, inflected: int) -> set[str]:
    """Add few long messages with the word, and many short ones with an inflection three times."""
    messages = [Message(role=ROLE_USER, content="running runs running", vector=FOR) for _ in range(inflected)]
    long = "run " + " ".join(f"w{at}" for at in range(60))
    messages += [Message(id=f"exact-{at}", role=ROLE_USER, content=long, vector=AGAINST) for at in range(exact)]
    order = np.random.default_rng(5).permutation(len(messages))
    memory.add_all([messages[at] for at in order], user="u")
    return {f"exact-{at}" for at in range(exact)}


@pytest.mark.parametrize("limits", [EpisodicLimits(), NO_RAM], ids=["in RAM", "by candidates"])
@pytest.mark.parametrize(("exact", "inflected"), [(10, 400), (250, 500)])
def test_the_exact_word_is_found_among_many_inflections(limits: EpisodicLimits, exact: int, inflected: int) -> None:
    with episodic_client(limits=limits) as memory:
        wanted = add_inflections(memory, exact, inflected)
        memory.index()
        for scope in SCOPES:
            hits = memory.search("run", limit=exact, query_vector=FOR, **names_of(scope)).hits
            assert {hit.message.id for hit in hits} == wanted, Scope.Name(scope)


@pytest.mark.parametrize("limits", [EpisodicLimits(), NO_RAM], ids=["in RAM", "by candidates"])
def test_characters_in_sequence_are_found_among_many_that_have_some_of_them(limits: EpisodicLimits) -> None:
    with episodic_client(limits=limits) as memory:
        memory.add_all([Message(role=ROLE_USER, content="天、天、気、気") for _ in range(500)], user="u")
        memory.add(f"今日の天気は{'とても長い話です' * 20}", user="u", id="exact")
        memory.index()
        hits = memory.search("天気", mode=KEYWORD, limit=1, user_id="u").hits
        assert [hit.message.id for hit in hits] == ["exact"]


def test_a_rare_term_is_found_while_many_erased_messages_with_it_are_indexed() -> None:
    with episodic_client(limits=NO_RAM) as memory:
        memory.add_all([Message(role=ROLE_USER, content="tea") for _ in range(300)], "gone", user="u")
        memory.add("tea and a lot of other things that make this one longer", "s", user="u", id="kept")
        memory.index()
        memory.erase("gone", user="u", delete_session=True)
        found = memory.search("tea", limit=5, **names_of(SCOPE_USER)).hits
        assert [hit.message.id for hit in found] == ["kept"]
