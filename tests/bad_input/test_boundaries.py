"""Capped limits, output-only fields, exclusive bounds and absent fields."""

from google.protobuf.timestamp_pb2 import Timestamp

from memsidecar.v1 import knowledge_pb2 as knowledge
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1 import session_pb2 as session
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.bad_input.field_values import DIMENSIONS, MAX_INT32
from tests.bad_input.rpcs import send, set_field, valid_request
from tests.support.process import Client, refusal


def fill(client: Client, session_id: str, count: int) -> None:
    messages = [Message(role=ROLE_USER, content="hello") for _ in range(count)]
    client.memory.AddBatch(memory.AddBatchRequest(session_id=session_id, messages=messages))


def test_a_limit_above_the_maximum_is_capped(client: Client) -> None:
    fill(client, "long", 1_001)
    page = client.memory.GetAll(memory.GetAllRequest(session_id="long", page_size=MAX_INT32))
    assert len(page.messages) == 1_000 and page.next_page_token
    for mode in (memory.SEARCH_MODE_SUBSTRING, memory.SEARCH_MODE_KEYWORD, memory.SEARCH_MODE_HYBRID):
        request = memory.SearchRequest(session_id="long", query="hello", mode=mode, limit=MAX_INT32)
        found = client.memory.Search(request)
        assert len(found.hits) == 1_000 and found.next_page_token
    assert len(client.recent("long", MAX_INT32)) == 1_001


def test_at_most_ten_thousand_recent_messages_are_returned(client: Client) -> None:
    fill(client, "longest", 10_000)
    fill(client, "longest", 1)
    assert len(client.recent("longest", 10_001)) == 10_000


def test_output_only_fields_of_a_message_are_ignored(client: Client) -> None:
    client.add("outputs", "hello", sequence=77, tokens=1_000_000, synthetic=True)
    (stored,) = client.all("outputs")
    assert (stored.sequence, stored.synthetic) == (1, False)
    assert 0 < stored.tokens < 100


def test_a_vector_is_not_returned(client: Client) -> None:
    client.add("vectors", "hello", vector=[0.5] * DIMENSIONS)
    assert not client.all("vectors")[0].vector


def test_output_only_fields_of_a_document_are_ignored(client: Client) -> None:
    document = knowledge.Document(id="outputs", text="Hello.", chunk_count=77, tokens=1_000_000, sha256="x")
    stored = send(client, "PutDocument", knowledge.PutDocumentRequest(document=document)).document
    assert (stored.chunk_count, len(stored.sha256)) == (1, 64)
    assert 0 < stored.tokens < 100


def test_the_number_of_chunks_is_capped(client: Client) -> None:
    for number in range(21):
        document = knowledge.Document(id=f"d{number}", text=f"Hello number {number}.")
        send(client, "PutDocument", knowledge.PutDocumentRequest(session_id="documents", document=document))
    request = valid_request("SearchDocuments", "documents")
    counts = []
    for limit in (0, 1, 20, 21, MAX_INT32):
        set_field(request, "limit", limit)
        counts.append(len(send(client, "SearchDocuments", request).hits))
    assert counts == [3, 1, 20, 20, 20]


def test_a_duplicate_is_detected_before_a_sequence_mismatch(client: Client) -> None:
    client.add("again", "hello", id="m", expected_sequence=0)
    assert client.add("again", "hello", id="m", expected_sequence=0).duplicate
    assert refusal(lambda: client.add("again", "new", expected_sequence=0)).metadata == {"last_sequence": "1"}


def test_one_invalid_message_refuses_the_whole_batch(client: Client) -> None:
    request = memory.AddBatchRequest(session_id="halves")
    request.messages.add(role=ROLE_USER, content="good")
    request.messages.add(role=ROLE_USER)
    assert refusal(lambda: client.memory.AddBatch(request)).field == "messages[1].content"
    assert client.all("halves") == []


def test_a_stream_ends_at_its_invalid_request_and_keeps_the_acknowledged_messages(client: Client) -> None:
    def requests() -> list[memory.AddStreamRequest]:
        contents = ("one", "two", "", "four")
        return [
            memory.AddStreamRequest(session_id="stream", message=Message(role=ROLE_USER, content=content))
            for content in contents
        ]

    assert refusal(lambda: list(client.memory.AddStream(iter(requests())))).field == "message.content"
    assert [message.content for message in client.all("stream")] == ["one", "two"]


def test_after_is_exclusive(client: Client) -> None:
    client.add("times", "hello", create_time=Timestamp(seconds=100))
    request = memory.SearchRequest(session_id="times", query="hello", mode=memory.SEARCH_MODE_SUBSTRING)
    request.after.seconds = 99
    assert len(client.memory.Search(request).hits) == 1
    request.after.seconds = 100
    assert len(client.memory.Search(request).hits) == 0


def test_before_is_exclusive(client: Client) -> None:
    client.add("times before", "hello", create_time=Timestamp(seconds=100))
    request = memory.SearchRequest(session_id="times before", query="hello", mode=memory.SEARCH_MODE_SUBSTRING)
    request.before.seconds = 101
    assert len(client.memory.Search(request).hits) == 1
    request.before.seconds = 100
    assert len(client.memory.Search(request).hits) == 0


def test_an_absent_policy_resets_a_session_to_the_default_of_its_namespace(client: Client) -> None:
    def set_policy(session_id: str, tokens: int | None) -> None:
        policy = None if tokens is None else session.SessionPolicy(auto_prune_tokens=tokens)
        request = session.SetPolicyRequest(namespace="policies", session_id=session_id, policy=policy)
        client.sessions.SetPolicy(request)

    set_policy("", 1_000)
    set_policy("own", 500)
    set_policy("own", None)
    found = client.sessions.GetSession(session.GetSessionRequest(namespace="policies", session_id="own"))
    assert found.session.policy.auto_prune_tokens == 1_000
