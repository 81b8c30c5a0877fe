"""The session of another user is denied; for an unknown session, the other sources are used."""

from memsidecar.v1.context_pb2 import BuildContextRequest
from memsidecar.v1.message_pb2 import ROLE_USER
from tests.context_wire.agent import Agent, new_agent, shown_in
from tests.context_wire.invariants import check_token_counts
from tests.scenarios.knowledge_client import PROFILE, fact
from tests.support.process import Client, refusal


def test_the_context_of_another_users_session_is_refused(client: Client) -> None:
    ann = new_agent(client, user=True)
    ann.conversation.add("My password is hunter2.")
    for fields in ({}, {"query": "password"}, {"scope": 2, "query": "password"}):
        bob = Agent(client, ann.session_id, user_id="bob")
        refused = refusal(lambda fields=fields, bob=bob: bob.build(**fields))  # type: ignore[misc]
        assert (refused.code.name, refused.reason) == ("FAILED_PRECONDITION", "SESSION_OWNER_MISMATCH")
        assert "hunter2" not in refused.message


def test_a_denied_call_changes_nothing(client: Client) -> None:
    ann = new_agent(client, user=True)
    ann.conversation.add("Hello.")
    refusal(lambda: Agent(client, ann.session_id, user_id="bob").build())
    assert [message.content for message in ann.build().messages] == ["Hello."]


def test_an_unknown_session_gives_a_context_from_the_rest(client: Client) -> None:
    ann = new_agent(client, user=True)
    ann.knowledge_client.put_facts(fact("Priya Nair", PROFILE, "name"))
    ann.conversation.add("The spare key is under the blue pot.")
    unknown = Agent(client, f"{ann.session_id}-unknown", user_id=ann.user_id)
    request = BuildContextRequest(
        **unknown.names,
        query="Where is the spare key?",
        append_query=True,
        system_prompt="Be kind.",
        profile="A nurse.",
    )
    built = unknown.built(request)
    check_token_counts(request, built)
    assert built.messages[0].content.startswith("Be kind.") and "name: Priya Nair" in built.memory_text
    assert "A nurse." in built.memory_text and "under the blue pot" in built.memory_text
    assert (built.messages[-1].role, built.messages[-1].content) == (ROLE_USER, "Where is the spare key?")
    assert shown_in(built, "WORKING") == ["query"]


def test_an_unknown_session_without_a_user_gives_the_content_of_the_request(client: Client) -> None:
    anonymous = new_agent(client)
    assert list(anonymous.build().messages) == []
    built = anonymous.build(system_prompt="Be kind.", documents=["A leaflet."])
    assert [("Be kind." in message.content, "A leaflet." in message.content) for message in built.messages] == [
        (True, False),
        (False, True),
    ]


def test_building_a_context_creates_no_session(client: Client) -> None:
    anonymous = new_agent(client)
    anonymous.build(query="Anything?", append_query=True, user_id="ann")
    assert anonymous.conversation.count().message_count == 0
    # The session has no owner yet: the first user that adds a message owns it.
    Agent(client, anonymous.session_id, user_id="bob").conversation.add("Mine.")
