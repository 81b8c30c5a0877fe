"""Watch: events in commit order, from now on or from a cursor, of what the caller may see and of nothing else."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import grpc
import pytest

from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from memsidecar.v1.session_pb2 import DeleteSessionRequest, ForgetUserRequest, WatchRequest
from tests.scenarios.conversation import Conversation
from tests.scenarios.knowledge_client import KnowledgeClient, fact
from tests.support.process import CALL_SECONDS, Client, refusal
from tests.support.watch_stream import (
    ADDED,
    ANNOTATED,
    CLEARED,
    FACT,
    FORGOTTEN,
    HEARTBEAT,
    INDEXED,
    PRUNED,
    SUMMARY,
    WatchStream,
    shown,
)

WRITERS, MESSAGES = 4, 30
CHANGES = (ADDED, PRUNED, CLEARED, ANNOTATED, FACT, SUMMARY, FORGOTTEN)


@pytest.fixture
def conversation(client: Client, namespace: str) -> Conversation:
    return Conversation(client, "s", namespace, "ann")


def ids(events: Any) -> list[str]:
    return [event.id for event in events if event.kind == ADDED]


def add_batch(client: Client, namespace: str, session_id: str, *message_ids: str) -> None:
    messages = [Message(id=message_id, role=ROLE_USER, content="words") for message_id in message_ids]
    request = memory.AddBatchRequest(namespace=namespace, session_id=session_id, messages=messages)
    client.memory.AddBatch(request, timeout=CALL_SECONDS)


def test_the_first_response_is_a_heartbeat_from_which_one_can_watch(client: Client, conversation: Conversation) -> None:
    conversation.add("before", id="before")
    with WatchStream(client, conversation.namespace) as stream:
        assert stream.first.kind == HEARTBEAT
        assert stream.first.HasField("time")
        first = stream.cursor
    conversation.add("after", id="after")
    with WatchStream(client, conversation.namespace, cursor=first) as stream:
        assert ids(stream.events(1)) == ["after"]


def test_each_change_is_an_event(client: Client, conversation: Conversation, namespace: str) -> None:
    knowledge = KnowledgeClient(client, namespace, "ann")
    with WatchStream(client, namespace) as stream:
        for number in range(1, 7):
            conversation.add(f"Words about the plan for the week, part {number}.", id=f"m{number}")
        added = [shown(event) for event in stream.events(6, CHANGES)]
        assert added == [(ADDED, "ann", "s", number, f"m{number}") for number in range(1, 7)]
        conversation.annotate("m2", evaluation_score=0.5)
        assert shown(stream.events(1, CHANGES)[0]) == (ANNOTATED, "ann", "s", 2, "m2")
        conversation.prune(1, summarize=True)
        summary, pruned = sorted(map(shown, stream.events(2, CHANGES)), reverse=True)
        assert pruned == (PRUNED, "ann", "s", 4, "")
        stored_summary = conversation.summary()
        assert stored_summary is not None
        assert summary == (SUMMARY, "ann", "s", 4, stored_summary.id)
        (stored,) = knowledge.put_facts(fact("Berlin"))
        assert shown(stream.events(1, CHANGES)[0]) == (FACT, "ann", "", 0, stored.id)
        knowledge.delete_fact(stored.id)
        assert shown(stream.events(1, CHANGES)[0]) == (FACT, "ann", "", 0, "")
        conversation.clear()
        assert shown(stream.events(1, CHANGES)[0]) == (CLEARED, "ann", "s", 0, "")
        client.sessions.ForgetUser(ForgetUserRequest(namespace=namespace, user_id="ann"))
        forgotten = [shown(event) for event in stream.events(2, CHANGES)]
        assert forgotten == [(FORGOTTEN, "ann", "s", 0, ""), (FORGOTTEN, "ann", "", 0, "")]


def test_the_order_is_that_of_the_commits_for_every_watcher(client: Client, namespace: str) -> None:
    with WatchStream(client, namespace) as one, WatchStream(client, namespace) as two:
        with ThreadPoolExecutor(WRITERS) as pool:

            def write(writer: int) -> None:
                for number in range(MESSAGES):
                    client.add(f"s{writer % 2}", "words", namespace=namespace, id=f"{writer}-{number}")

            list(pool.map(write, range(WRITERS)))
        seen = [shown(event) for event in one.events(WRITERS * MESSAGES)]
        assert [shown(event) for event in two.events(WRITERS * MESSAGES)] == seen
    for writer in range(WRITERS):
        numbers = [name for *_, name in seen if name.startswith(f"{writer}-")]
        assert numbers == [f"{writer}-{number}" for number in range(MESSAGES)]
    for session in ("s0", "s1"):
        sequences = [sequence for _, _, of, sequence, _ in seen if of == session]
        assert sequences == list(range(1, len(sequences) + 1)), "in a session, commit order is sequence order"


def test_a_resume_from_any_cursor_has_everything_after_it_and_nothing_before_it(client: Client, namespace: str) -> None:
    with WatchStream(client, namespace) as stream:
        start = stream.cursor
        add_batch(client, namespace, "a", "a1", "a2")
        for number in range(3):
            client.add("b", "words", namespace=namespace, id=f"b{number}")
        KnowledgeClient(client, namespace, "ann").put_facts(fact("Berlin"))
        client.add("a", "words", namespace=namespace, id="last")
        events = stream.until(lambda found: ids(found)[-1:] == ["last"], (ADDED, FACT))
    assert len(events) == 7
    for place, cursor in enumerate([start, *(event.cursor for event in events)]):
        with WatchStream(client, namespace, cursor=cursor) as resumed:
            client.add("end", "words", namespace=namespace, id=f"end{place}")
            rest = resumed.until(lambda found, end=f"end{place}": ids(found)[-1:] == [end], (ADDED, FACT))  # type: ignore[misc]
        assert [shown(event) for event in rest[: 7 - place]] == [shown(event) for event in events[place:]]
        assert ids(rest[7 - place :]) == [f"end{number}" for number in range(place + 1)]


def test_a_scope_shows_only_its_own_events(client: Client, namespace: str) -> None:
    ann, bob = KnowledgeClient(client, namespace, "ann"), KnowledgeClient(client, namespace, "bob")
    elsewhere = KnowledgeClient(client, f"{namespace}-2", "ann")
    scopes: list[dict[str, str]] = [
        {},
        {"user_id": "ann"},
        {"session_id": "s1"},
        {"user_id": "ann", "session_id": "s2"},
    ]
    streams = [WatchStream(client, namespace, **scope) for scope in scopes]
    for number, knowledge in enumerate((elsewhere, bob, ann)):
        for session in ("s1", "s2") if knowledge is ann else (f"s{number}-other",):
            replace(knowledge, session_id=session).conversation.add("words", id=f"{knowledge.user_id}-{session}")
        knowledge.put_facts(fact(f"city {number}"))
        replace(knowledge, session_id=f"gone {number}").conversation.add("words")
        request = DeleteSessionRequest(namespace=knowledge.namespace, session_id=f"gone {number}")
        client.sessions.DeleteSession(request)
    for session in ("s1", "s2"):
        replace(ann, session_id=session).conversation.add("words", id=f"end-{session}")
    found = []
    for stream in streams:
        end = "end-s1" if stream is streams[2] else "end-s2"
        with stream:
            events = stream.until(lambda seen, end=end: ids(seen)[-1:] == [end], CHANGES)  # type: ignore[misc]
        found.append([(event.kind, event.user_id, event.session_id) for event in events])
    everyone, anns, first, second = found
    assert ("bob", "s1-other") in [names for _, *rest in everyone for names in [tuple(rest)]]
    assert {(kind, user) for kind, user, _ in everyone} >= {(FORGOTTEN, "bob"), (FORGOTTEN, "ann"), (FACT, "bob")}
    assert all("s0" not in session for _, _, session in everyone), "events of another namespace"
    assert [user for _, user, _ in anns] == ["ann"] * len(anns)
    assert [kind for kind, _, _ in anns].count(FORGOTTEN) == 1
    assert first == [(ADDED, "ann", "s1")] * 2
    assert second == [(ADDED, "ann", "s2")] * 2


def test_a_watcher_of_an_erased_session_is_told_and_a_later_one_gets_no_names(
    client: Client, conversation: Conversation, namespace: str
) -> None:
    conversation.add("words")
    with (
        WatchStream(client, namespace) as everyone,
        WatchStream(client, namespace, session_id="s") as mine,
        WatchStream(client, namespace, session_id="other") as other,
    ):
        start, others = everyone.cursor, other.cursor
        client.sessions.DeleteSession(DeleteSessionRequest(namespace=namespace, session_id="s"))
        client.add("other", "words", namespace=namespace, id="end")
        for stream in (everyone, mine):
            assert [shown(event) for event in stream.events(1, CHANGES)] == [(FORGOTTEN, "ann", "s", 0, "")]
        assert [event.kind for event in other.events(1, CHANGES)] == [ADDED]
    with WatchStream(client, namespace, cursor=start) as later:
        assert shown(later.events(1, CHANGES)[0]) == (FORGOTTEN, "", "", 0, "")
    with WatchStream(client, namespace, cursor=others, session_id="other") as later:
        assert [event.kind for event in later.events(1, CHANGES)] == [ADDED]


def test_the_index_is_told_of_after_the_messages_and_again_after_a_resume(
    client: Client, conversation: Conversation, namespace: str
) -> None:
    with WatchStream(client, namespace) as stream:
        start = stream.cursor
        for number in range(3):
            conversation.add("words", id=f"m{number}")
        events = stream.until(lambda found: found and shown(found[-1])[::3] == (INDEXED, 3), (ADDED, INDEXED))
        told = stream.cursor
    assert ids(events) == ["m0", "m1", "m2"]
    newest = 0
    for event in events:
        newest = max(newest, event.sequence) if event.kind == ADDED else newest
        assert event.sequence <= newest, "the index is told of messages that were delivered"
    last_added = [event for event in events if event.kind == ADDED][-1]
    for cursor in (start, last_added.cursor):
        with WatchStream(client, namespace, cursor=cursor) as resumed:
            (indexed,) = resumed.events(1, (INDEXED,))
            assert (indexed.user_id, indexed.session_id, indexed.sequence) == ("ann", "s", 3)
    with WatchStream(client, namespace, cursor=told) as resumed:
        conversation.add("words", id="m3")
        assert [event.sequence for event in resumed.events(2, (ADDED, INDEXED))] == [4, 4]


@pytest.mark.parametrize("fields", [{}, {"user_id": "ann"}, {"session_id": "s"}])
def test_a_cursor_belongs_to_its_request(client: Client, namespace: str, fields: dict[str, str]) -> None:
    with WatchStream(client, namespace, **fields) as stream:
        cursor = stream.cursor
    others: list[dict[str, str]] = [{}, {"user_id": "ann"}, {"session_id": "s"}, {"namespace": f"{namespace}-2"}]
    for other in others:
        request = WatchRequest(**{"namespace": namespace, "cursor": cursor, **other})
        if other != fields:
            refused = refusal(lambda request=request: next(client.sessions.Watch(request)))  # type: ignore[misc]
            assert (refused.code, refused.field) == (grpc.StatusCode.INVALID_ARGUMENT, "cursor")


def test_a_damaged_cursor_is_refused(client: Client, namespace: str) -> None:
    with WatchStream(client, namespace) as stream:
        cursor = stream.cursor
    damaged = cursor[:-1] + ("A" if cursor[-1] != "A" else "Q")
    for given in (damaged, "x", "*", cursor + cursor, "c" * 2_000):
        request = WatchRequest(namespace=namespace, cursor=given)
        refused = refusal(lambda request=request: next(client.sessions.Watch(request)))  # type: ignore[misc]
        assert (refused.code, refused.reason, refused.field) == (
            grpc.StatusCode.INVALID_ARGUMENT,
            "INVALID_FIELD",
            "cursor",
        )
