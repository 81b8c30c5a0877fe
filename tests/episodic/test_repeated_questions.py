"""Earlier copies of the query are excluded on request, without losing other hits."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsidecar.layers.episodic.hits import PageRequest
from memsidecar.layers.episodic.memory import EpisodicLimits
from memsidecar.layers.episodic.query import Mode, SearchQuery, SearchScope
from memsidecar.layers.text_analysis import has_question_mark, is_question, tokenize
from memsidecar.v1.message_pb2 import Message
from tests.episodic.components import NO_RAM, EpisodicClient, episodic_client, messages_of

PATHS = pytest.mark.parametrize("limits", [EpisodicLimits(), NO_RAM], ids=["in RAM", "by candidates"])
QUESTION, ANSWER = "What are your opening hours?", "The hours of the shop are nine to five."


def recalled(made: EpisodicClient, query: str, mode: Mode = Mode.HYBRID, *, repeats: bool = False) -> list[str]:
    within = replace(SearchScope.of_user("default", "u"), include_repeats=repeats)
    found = made.episodic.hits.messages(SearchQuery(query, mode=mode), within, PageRequest(20), lambda _: True)
    return [Message.FromString(hit.message.body).content for _, hit in found.hits]


@PATHS
@pytest.mark.parametrize("times", [1, 700])
@pytest.mark.parametrize(("question", "answer"), [(QUESTION, ANSWER), ("商店几点开门？", "商店九点开门。")])
def test_the_answer_is_found_despite_many_copies_of_the_question(
    limits: EpisodicLimits, times: int, question: str, answer: str
) -> None:
    with episodic_client(limits=limits) as made:
        made.add(answer, "answered", user="u")
        made.add_all(messages_of(*[question] * times), "questions", user="u")
        made.index()
        for mode in (Mode.KEYWORD, Mode.HYBRID):
            assert recalled(made, question, mode) == [answer]
        assert made.find(question, user_id="u")[:1] == [question], "a search without the exclusion finds the question"


words = st.lists(
    st.sampled_from(["where", "do", "I", "live", "Do", "tea", "Lisbon", "我住", "住在", "我住在"]),
    min_size=1,
    max_size=6,
)
texts = st.builds(lambda some, end: " ".join(some) + end, words, st.sampled_from(["", "?", "? Yes", ".", "？"]))


@PATHS
@given(contents=st.lists(texts, min_size=1, max_size=8), query=texts)
def test_only_the_same_question_in_the_same_words_is_excluded(
    limits: EpisodicLimits, contents: list[str], query: str
) -> None:
    with episodic_client(limits=limits) as made:
        for number, content in enumerate(contents):
            made.add(
                content, f"session {number}", user="u"
            )  # its own session: no message is found because of a neighbour
        made.index()
        everything = Counter(recalled(made, query, repeats=True))
        left_out = everything - Counter(recalled(made, query))
    for content in left_out:
        assert (
            is_question(query) and has_question_mark(content) and sorted(tokenize(content)) == sorted(tokenize(query))
        )
    if is_question(query):
        assert query not in everything - left_out
