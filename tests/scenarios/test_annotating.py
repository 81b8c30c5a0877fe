"""Annotate: what is learned about a message later."""

import grpc
import pytest

from memsidecar.v1 import memory_pb2 as pb
from tests.scenarios.talk import Talk, tagged
from tests.support.process import refusal


def tagged_so(talk: Talk, **tags: object) -> list[str]:
    request = pb.GetAllRequest(**talk.names, metadata_filter=tagged(dict(tags)))
    return [message.id for message in talk.client.memory.GetAll(request).messages]


def test_tags_are_merged_into_those_that_are_there(talk: Talk) -> None:
    talk.say("hi", id="m", metadata=tagged({"kept": 1, "changed": "old"}))
    answer = talk.annotate("m", {"changed": "new", "added": True})
    assert answer.metadata == tagged({"kept": 1, "changed": "new", "added": True})
    assert talk.messages() == [answer]


def test_a_null_removes_its_tag(talk: Talk) -> None:
    talk.say("hi", id="m", metadata=tagged({"kept": 1, "removed": 2}))
    assert talk.annotate("m", {"removed": None, "never there": None}).metadata == tagged({"kept": 1})


def test_a_score_that_is_known_later_is_set_and_the_tags_stay(talk: Talk) -> None:
    talk.say("hi", id="m", metadata=tagged({"kept": 1}))
    message = talk.annotate("m", evaluation_score=8.5)
    assert (message.evaluation_score, message.metadata) == (8.5, tagged({"kept": 1}))


def test_content_tokens_and_place_do_not_change(talk: Talk) -> None:
    talk.turns(2)
    before = talk.messages()
    talk.annotate("a1", {"important": True}, evaluation_score=1)
    after = talk.messages()
    assert [(one.id, one.content, one.tokens, one.sequence, one.create_time) for one in after] == [
        (one.id, one.content, one.tokens, one.sequence, one.create_time) for one in before
    ]


def test_every_read_shows_the_annotation(talk: Talk) -> None:
    talk.say("hi", id="m")
    talk.annotate("m", {"topic": "greeting"})
    wanted = tagged({"topic": "greeting"})
    (recent,) = talk.client.recent(talk.session_id, 1)
    assert recent.metadata == wanted
    assert talk.search("hi").hits[0].message.metadata == wanted
    assert tagged_so(talk, topic="greeting") == ["m"]
    assert talk.find("hi", metadata_filter=wanted) == ["hi"]


def test_a_removed_tag_no_longer_matches_the_filter(talk: Talk) -> None:
    talk.say("hi", id="m", metadata=tagged({"important": True}))
    assert tagged_so(talk, important=True) == ["m"]
    talk.annotate("m", {"important": None})
    assert tagged_so(talk, important=True) == []


def test_a_pruned_message_can_be_annotated_and_stays_pruned(talk: Talk) -> None:
    talk.turns(3)
    talk.prune(1)
    talk.annotate("q1", {"important": True})
    assert "q1" not in talk.ids()
    assert talk.messages(include_pruned=True)[0].metadata == tagged({"important": True})


def test_an_annotated_message_is_still_the_same_for_a_retry(talk: Talk) -> None:
    talk.say("hi", id="m")
    talk.annotate("m", {"a": 1}, evaluation_score=3)
    assert talk.say("hi", id="m").duplicate
    assert talk.messages()[0].metadata == tagged({"a": 1})


@pytest.mark.parametrize("message_id", ["unknown", "M"])
def test_an_unknown_message_is_not_found(talk: Talk, message_id: str) -> None:
    talk.say("hi", id="m")
    refused = refusal(lambda: talk.annotate(message_id, evaluation_score=1))
    assert (refused.code, refused.reason) == (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")


def test_a_message_of_an_unknown_session_is_not_found_and_no_session_comes_into_being(talk: Talk) -> None:
    assert refusal(lambda: talk.annotate("m", evaluation_score=1)).reason == "NOT_FOUND"
    assert talk.count().last_sequence == 0


def test_a_score_outside_0_to_10_is_refused(talk: Talk) -> None:
    talk.say("hi", id="m")
    assert refusal(lambda: talk.annotate("m", evaluation_score=10.5)).field == "evaluation_score"
    assert not talk.messages()[0].HasField("evaluation_score")
