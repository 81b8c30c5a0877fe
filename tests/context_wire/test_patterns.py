"""Patterns over the wire: recurring observations become hints, random ones do not, and erased ones do not count."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from uuid import uuid4

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from memsidecar.layers.procedural.observations import ObservedMessage
from memsidecar.v1.memory_pb2 import AddBatchRequest
from memsidecar.v1.message_pb2 import Message
from tests.context_wire.agent import Agent, section_of
from tests.procedural.histories import SHORT, conversation, lines_of, random_history
from tests.procedural.test_patterns import SUBJECTS, at, plain
from tests.support.process import CALL_SECONDS, Client

WISH = "Prefers concise answers (asked in {} conversations)"
TOPIC = "Often talks about espresso machine ({}) in {} conversations"


@pytest.fixture
def ann(client: Client) -> Agent:
    return Agent(client, "now", user_id=f"user-{uuid4()}", namespace=f"space-{uuid4()}")


def add_history(agent: Agent, history: Iterable[ObservedMessage]) -> None:
    for session, messages in groupby(history, key=lambda one: one.session):
        request = AddBatchRequest(
            namespace=agent.namespace,
            user_id=agent.user_id,
            session_id=f"s{session}",
            messages=[_message(message) for message in messages],
        )
        agent.client.memory.AddBatch(request, timeout=CALL_SECONDS)


def _message(one: ObservedMessage) -> Message:
    stamp = Timestamp()
    stamp.FromMicroseconds(one.time_us)
    return Message(role=one.role, content=one.text, create_time=stamp)  # type: ignore[arg-type]


def history_with_patterns() -> Iterator[ObservedMessage]:
    """Yield 20 conversations: a preference in every third, a topic in every second."""
    for session in range(1, 21):
        wish = [("Shorter please.", SHORT)] if session % 3 == 0 else []
        topic = [(f"My espresso machine likes {SUBJECTS[session // 2]}.", SHORT)] if session % 2 else []
        yield from conversation(session, at(session), [plain(session), *wish, *topic])


def test_a_history_with_patterns_yields_hints(ann: Agent) -> None:
    add_history(ann, history_with_patterns())
    found = ann.patterns()
    assert found.conversations == 20 and found.answer_length == "concise" and found.HasField("computed_at")
    assert found.hints.splitlines() == [WISH.format(6), TOPIC.format(10, 20)]
    assert ("topic", "espresso machine", 10) in {
        (pattern.kind, pattern.value, pattern.evidence) for pattern in found.patterns
    }
    assert [one.evidence for one in found.patterns] == sorted((one.evidence for one in found.patterns), reverse=True)
    built = ann.build(system_prompt="Be kind.")
    assert [item.preview for item in section_of(built, "HINTS").items] == found.hints.splitlines()
    assert f"- {WISH.format(6)}\n" in built.memory_text


def test_a_random_history_yields_no_hints(ann: Agent) -> None:
    add_history(ann, random_history(3, conversations=60))
    found = ann.patterns()
    assert found.conversations == 60 and found.hints == ""
    assert not section_of(ann.build(), "HINTS").items


def test_without_a_refresh_patterns_are_unchanged(ann: Agent) -> None:
    add_history(ann, history_with_patterns())
    assert ann.patterns(refresh=False).hints == ""
    computed = ann.patterns()
    add_history(ann, conversation(21, at(21), [("Shorter please.", SHORT)]))
    assert ann.patterns(refresh=False) == computed
    assert ann.patterns().hints.splitlines()[0] == WISH.format(7)


def test_erased_conversations_do_not_count(ann: Agent) -> None:
    add_history(ann, history_with_patterns())
    assert WISH.format(6) in ann.patterns().hints
    ann.knowledge_client.of(ann.user_id, "s2").delete_session()
    ann.knowledge_client.of(ann.user_id, "s3").delete_session()
    assert ann.patterns().hints.splitlines() == remaining_history(2, 3)
    ann.knowledge_client.of(ann.user_id, "s6").conversation.clear()
    assert ann.patterns().hints.splitlines() == remaining_history(2, 3, 6)
    assert WISH.format(4) in ann.patterns().hints and ann.patterns().conversations == 17
    assert [item.preview for item in section_of(ann.build(), "HINTS").items] == ann.patterns().hints.splitlines()


def remaining_history(*sessions: int) -> list[str]:
    """Return the patterns of a history without these conversations."""
    return lines_of(habit for habit in history_with_patterns() if habit.session not in sessions)


def test_when_all_conversations_are_erased_there_are_no_patterns(ann: Agent) -> None:
    add_history(ann, history_with_patterns())
    assert ann.patterns().hints
    for number in range(1, 21):
        ann.knowledge_client.of(ann.user_id, f"s{number}").delete_session()
    assert not section_of(ann.build(), "HINTS").items, "also without a read of the patterns"
    found = ann.patterns()
    assert (found.hints, found.conversations, list(found.patterns)) == ("", 0, [])


def test_patterns_are_not_visible_to_another_user(ann: Agent) -> None:
    add_history(ann, history_with_patterns())
    assert ann.patterns().hints
    bob = Agent(ann.client, "bobs", ann.namespace, "bob")
    bob.conversation.add("Hello.")
    assert bob.patterns().hints == "" and not section_of(bob.build(), "HINTS").items
