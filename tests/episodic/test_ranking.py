"""Scores are from 0 to 1, are the sum of their parts, and are comparable."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsidecar.layers.episodic import EpisodicLimits
from memsidecar.layers.episodic.query import Weights
from memsidecar.layers.text_analysis import stem, tokenize
from memsidecar.v1 import memory_pb2 as pb
from tests.episodic.components import (
    DIMENSIONS,
    HYBRID,
    KEYWORD,
    MODES,
    NO_RAM,
    SEMANTIC,
    EpisodicClient,
    ToyEmbedder,
    ToyEmbedders,
    episodic_client,
)

WORDS = ["tea", "teas", "coffee", "run", "running", "anna", "bert", "who", "the", "what?", "cup"]
TEXTS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), st.sampled_from(["", "Anna", "Bert"])
    ),
    min_size=1,
    max_size=20,
)
QUERIES = st.lists(st.sampled_from([*WORDS, "Anna", "nowhere"]), min_size=1, max_size=4).map(" ".join)
WEIGHTS = st.builds(Weights, **{field.name: st.sampled_from([0.0, 0.5, 1.0, 3.0]) for field in fields(Weights)})
PARTS = ("keyword", "semantic", "neighbours", "speaker", "session", "recency")


def tell(memory: EpisodicClient, texts: list[tuple[str, str]]) -> None:
    for at, (text, name) in enumerate(texts):
        memory.add(text, f"s{at // 4}", user="u", name=name)
        if at == len(texts) // 2:
            memory.index()


def assert_sound(answer: pb.SearchResponse) -> None:
    scores = [hit.score for hit in answer.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)
    for hit in answer.hits:
        parts = [getattr(hit.scores, name) for name in PARTS]
        assert sum(parts) == pytest.approx(hit.score, abs=1e-5)
        assert min(parts) >= 0


@given(texts=TEXTS, query=QUERIES, weights=WEIGHTS, mode=st.sampled_from(MODES))
@settings(max_examples=60, deadline=None)
def test_parts_add_up_to_scores_between_0_and_1_and_the_best_comes_first(
    texts: list[tuple[str, str]], query: str, weights: Weights, mode: pb.SearchMode
) -> None:
    with episodic_client(limits=EpisodicLimits(weights=weights)) as memory:
        tell(memory, texts)
        assert_sound(memory.search(query, user_id="u", limit=1_000, mode=mode))


SAID = [("where is the tea?", "Anna"), ("in the cup", "Bert"), ("run", ""), ("anna has tea", "Bert"), ("cup", "")]
SIGNALS = {
    "keyword_context": "neighbours",
    "semantic": "semantic",
    "semantic_context": "neighbours",
    "speaker": "speaker",
}


def shares(weights: Weights) -> dict[str, float]:
    """Return the largest share of each part in any score; no row has all the words of the query."""
    with episodic_client(limits=EpisodicLimits(weights=weights)) as memory:
        tell(memory, SAID)
        hits = memory.search("Anna tea where nowhere", user_id="u").hits
        assert hits
        return {part: max(getattr(hit.scores, part) for hit in hits) for part in PARTS}


@pytest.mark.parametrize(("signal", "part"), SIGNALS.items())
def test_a_signal_that_alone_has_a_weight_is_all_of_the_score(signal: str, part: str) -> None:
    nothing = Weights(**{field.name: 0.0 for field in fields(Weights)})
    assert shares(replace(nothing, **{signal: 2.0})) == pytest.approx({name: float(name == part) for name in PARTS})


@pytest.mark.parametrize("part", ["semantic", "speaker", "session"])
def test_a_weight_of_0_leaves_its_signal_out(part: str) -> None:
    assert shares(Weights())[part] > 0
    assert shares(replace(Weights(), **{part: 0.0}))[part] == 0


def test_the_keyword_part_of_a_hybrid_score_is_one_half_for_every_word_and_else_nothing() -> None:
    with episodic_client() as memory:
        tell(memory, SAID)
        hits = memory.search("tea anna", user_id="u").hits
        assert {hit.message.content: hit.scores.keyword for hit in hits if "tea" in hit.message.content} == {
            "where is the tea?": 0.0,
            "anna has tea": 0.5,
        }


@given(texts=TEXTS, query=QUERIES)
@settings(max_examples=60, deadline=None)
def test_keyword_search_returns_all_rows_with_a_term_and_no_other(texts: list[tuple[str, str]], query: str) -> None:
    nameless = [(text, "") for text, _ in texts]
    with episodic_client() as memory:
        tell(memory, nameless)
        found = memory.find(query, user_id="u", limit=1_000, mode=KEYWORD)
        wanted_terms = {stem(word) for word in tokenize(query)}
        content = {stem(word) for word in tokenize(query) if word not in ("the", "who", "what")} or wanted_terms
        wanted = [text for text, _ in texts if content & {stem(word) for word in tokenize(text)}]
        assert sorted(found) == sorted(wanted)


@given(texts=TEXTS, query=QUERIES)
@settings(max_examples=40, deadline=None)
def test_a_semantic_score_is_the_cosine(texts: list[tuple[str, str]], query: str) -> None:
    embedder = ToyEmbedder()
    nameless = [(f"{text} {at}", "") for at, (text, _) in enumerate(texts)]
    with episodic_client() as memory:
        tell(memory, nameless)
        hits = memory.search(query, user_id="u", limit=1_000, mode=SEMANTIC).hits
        found = {hit.message.content: hit.score for hit in hits}
        for text, _ in nameless:
            cosine = float(embedder.vector(text) @ embedder.vector(query))
            assert found.get(text, 0.0) == pytest.approx(max(cosine, 0.0), abs=0.012)


def test_a_query_vector_replaces_the_embedding_of_the_query() -> None:
    east, west = np.eye(DIMENSIONS)[0].tolist(), np.eye(DIMENSIONS)[1].tolist()
    with episodic_client() as memory:
        memory.add("tea", user="u", vector=east)
        memory.add("coffee", user="u", vector=west)
        assert memory.find("", mode=SEMANTIC, user_id="u", query_vector=east) == ["tea"]
        assert memory.find("whatever", mode=HYBRID, user_id="u", query_vector=west)[0] == "coffee"


def test_a_matching_question_raises_the_score_of_its_answer() -> None:
    with episodic_client() as memory:
        for text in ("hello there", "which colour is the bicycle?", "green, mostly", "and now something else", "bye"):
            memory.add(text, user="u")
        assert memory.find("colour bicycle", user_id="u")[:2] == ["which colour is the bicycle?", "green, mostly"]


def test_a_name_in_the_query_matches_speakers() -> None:
    with episodic_client() as memory:
        for at, name in enumerate(["Anna", "Bert", "Anna", "Bert"]):
            memory.add(f"I like tea {at}", f"s{at}", user="u", name=name)
        hits = memory.search("what did Anna say about tea", user_id="u").hits
        assert [hit.message.name for hit in hits] == ["Anna", "Anna", "Bert", "Bert"]


def test_equal_scores_are_ordered_newest_first() -> None:
    with episodic_client() as memory:
        for at in range(5):
            memory.add("tea", f"s{at}", user="u", id=f"m{at}")
        found = [hit.message.id for hit in memory.search("tea", user_id="u", mode=KEYWORD).hits]
        assert found == ["m4", "m3", "m2", "m1", "m0"]


def semantic_scores(unrelated_cosine: float, limits: EpisodicLimits | None) -> dict[str, float]:
    embedders = ToyEmbedders(ToyEmbedder(unrelated_cosine=unrelated_cosine))
    with episodic_client(embedders=embedders, limits=limits) as memory:
        for number, text in enumerate(("tea", "tea cup", "tea cup run", "coffee", "run anna", "the who")):
            memory.add(text, f"s{number}", user="u")
        memory.index()
        hits = memory.search("tea", user_id="u", limit=100, mode=SEMANTIC).hits
        return {hit.message.content: hit.score for hit in hits}


@pytest.mark.parametrize("limits", [None, NO_RAM], ids=["in RAM", "by candidates"])
def test_cosines_count_from_that_of_unrelated_texts_on(limits: EpisodicLimits | None) -> None:
    plain, scaled = semantic_scores(0.0, limits), semantic_scores(0.4, limits)
    assert scaled == pytest.approx(
        {text: (score - 0.4) / 0.6 for text, score in plain.items() if score > 0.4}, abs=1e-5
    )
    assert 1 < len(scaled) < len(plain)


def test_close_cosines_are_told_apart_by_what_exceeds_that_of_unrelated_texts() -> None:
    weights = Weights(keyword_context=0, semantic=1, semantic_context=0, speaker=0, session=0)

    def gap(unrelated_cosine: float) -> float:
        embedders = ToyEmbedders(ToyEmbedder(unrelated_cosine=unrelated_cosine))
        with episodic_client(embedders=embedders, limits=EpisodicLimits(weights=weights)) as memory:
            for text in ("green tea cup", "green tea coffee cup"):
                memory.add(text, text, user="u")
            memory.index()
            best, second = memory.search("green tea", user_id="u").hits
            return best.score - second.score

    assert gap(0.3) > gap(0.0) > 0
