"""Relevance is a probability: a question that the memory does not answer gets no memory, with or without `query`."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from benchmarks.context.work import WorkQuestion, work
from memsidecar.v1.context_pb2 import (
    INCLUSION_BELOW_THRESHOLD,
    SECTION_DOCUMENTS,
    SECTION_EPISODIC,
    BuildContextResponse,
    ItemReceipt,
)
from memsidecar.v1.knowledge_pb2 import PutDocumentRequest, SearchDocumentsRequest
from memsidecar.v1.memory_pb2 import AddBatchRequest, SearchRequest
from memsidecar.v1.message_pb2 import SCOPE_USER
from tests.context_wire.agent import Agent, new_agent
from tests.scenarios.index_readiness import until_index_is_ready
from tests.support.process import Client, SidecarProcess

USER = "kim"
THRESHOLD = 0.25
OFF_TOPIC = (
    "What is the tallest building in Dubai?",
    "asdf qwer",
    "Thanks a lot!",
    "\N{THUMBS UP SIGN}",
    "Recommend a science fiction movie for tonight",
    "Wer hat die Zauberflöte komponiert?",
)
ON_TOPIC = [question for question in work().questions if question.id in ("staging-host", "ttl-zh", "switch-de")]


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    corpus = work()
    with SidecarProcess(tmp_path_factory.mktemp("off-topic") / "data", "--index", "volatile") as running:
        until_index_is_ready(running)
        for session in corpus.sessions:
            if session.user == corpus.user:
                request = AddBatchRequest(user_id=USER, session_id=session.id, messages=session.messages)
                running.client().memory.AddBatch(request)
        for owned in corpus.documents:
            running.client().knowledge.PutDocument(PutDocumentRequest(user_id=USER, document=owned.document))
        yield running


def asked_both_ways(client: Client, text: str) -> list[BuildContextResponse]:
    """Return the context with the text as `query`, and with the text as the newest message."""
    agent = Agent(client, new_agent(client).session_id, user_id=USER)
    as_query = agent.build(query=text, max_tokens=2_000, debug=True)
    agent.turns([(text, "")])
    return [as_query, agent.build(max_tokens=2_000, debug=True)]


def retrieved(built: BuildContextResponse) -> list[ItemReceipt]:
    sections = (SECTION_EPISODIC, SECTION_DOCUMENTS)
    return [item for each in built.receipt.sections if each.section in sections for item in each.items]


@pytest.mark.parametrize("text", OFF_TOPIC)
def test_an_off_topic_message_gets_no_memory(client: Client, text: str) -> None:
    for built in asked_both_ways(client, text):
        assert [item.preview for item in retrieved(built) if item.included] == []


@pytest.mark.parametrize("text", ["Thanks!", "Hi!", "ok", "Danke dir!", "好的，谢谢", "Thanks, that's all for today."])
def test_small_talk_does_not_retrieve_earlier_small_talk(client: Client, text: str) -> None:
    agent = new_agent(client, user=True)
    agent.turns(
        [("Hi! Thanks for your help. ok?", "Thanks!"), ("Danke dir!", "好的，谢谢"), ("That's all for today.", "ok")]
    )
    later = replace(agent, session_id=f"{agent.session_id} later")
    built = later.build(query=text, append_query=True, max_tokens=2_000, debug=True)
    assert retrieved(built) and not any(item.included for item in retrieved(built))


@pytest.mark.parametrize("question", ON_TOPIC, ids=lambda question: question.id)
def test_a_question_gets_its_evidence_with_and_without_query(client: Client, question: WorkQuestion) -> None:
    for built in asked_both_ways(client, question.text):
        shown = {name for item in retrieved(built) if item.included for name in item.message_ids}
        assert question.evidence <= shown


@pytest.mark.parametrize("text", [*OFF_TOPIC, *(question.text for question in ON_TOPIC)])
def test_the_threshold_is_compared_with_the_relevance_of_the_receipt(client: Client, text: str) -> None:
    for built in asked_both_ways(client, text):
        for item in retrieved(built):
            assert 0 <= item.relevance <= 1
            assert not (item.included and item.relevance < THRESHOLD)
            assert not (item.reason == INCLUSION_BELOW_THRESHOLD and item.relevance >= THRESHOLD)


def test_search_tells_off_topic_hits_by_their_relevance(client: Client) -> None:
    def best(query: str) -> tuple[float, float]:
        messages = client.memory.Search(SearchRequest(user_id=USER, scope=SCOPE_USER, query=query)).hits
        chunks = client.knowledge.SearchDocuments(SearchDocumentsRequest(user_id=USER, query=query)).hits
        return max(hit.relevance for hit in messages), max(hit.relevance for hit in chunks)

    assert max(best("How many strings does a violin have?")) < THRESHOLD
    assert min(best("Within how many minutes does the on-call engineer answer a SEV-1?")) > THRESHOLD
