"""Fields that are not in the contract are neither refused nor stored."""

import pytest

from memsidecar.v1 import knowledge_pb2 as knowledge
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, Message
from tests.bad_input.mutations import delimited
from tests.bad_input.rpcs import send_bytes, valid_request
from tests.support.process import Client, SidecarProcess

CANARY = b"a field from the future"
UNKNOWN = delimited(1_000, CANARY)
MESSAGE_FIELD, TOOL_CALLS, CREATE_TIME, METADATA = 4, 5, 7, 8
TAGS = delimited(1, delimited(1, b"key") + delimited(2, delimited(3, b"value") + UNKNOWN)) + UNKNOWN
CALL = delimited(1, b"call") + delimited(2, b"tool") + UNKNOWN


def message_with_unknown_fields() -> bytes:
    """Return a message with an unknown field at each level."""
    plain = Message(role=ROLE_ASSISTANT, content="hello").SerializeToString()
    parts = delimited(TOOL_CALLS, CALL) + delimited(CREATE_TIME, b"\x08\x01" + UNKNOWN) + delimited(METADATA, TAGS)
    return plain + parts + UNKNOWN


def stored(client: Client, session_id: str) -> bytes:
    request = memory.GetAllRequest(session_id=session_id).SerializeToString()
    (answer,) = send_bytes(client, "GetAll", [request])
    assert b"hello" in answer
    return answer


def assert_not_stored(sidecar: SidecarProcess, client: Client, session_id: str) -> None:
    assert CANARY not in stored(client, session_id)
    assert_in_no_file(sidecar)


def assert_in_no_file(sidecar: SidecarProcess) -> None:
    for file in sidecar.data_dir.rglob("*"):
        assert not file.is_file() or CANARY not in file.read_bytes(), file.name


@pytest.mark.parametrize("name", ["Add", "AddBatch", "AddStream"])
def test_unknown_fields_of_a_message_are_not_stored(sidecar: SidecarProcess, client: Client, name: str) -> None:
    request = valid_request(name, name)
    request.ClearField("message" if name != "AddBatch" else "messages")
    send_bytes(
        client, name, [request.SerializeToString() + delimited(MESSAGE_FIELD, message_with_unknown_fields()) + UNKNOWN]
    )
    assert_not_stored(sidecar, client, name)


def test_unknown_fields_of_a_turn_are_not_stored(sidecar: SidecarProcess, client: Client) -> None:
    request = valid_request("StoreInteraction", "turn").SerializeToString() + delimited(8, TAGS) + UNKNOWN
    send_bytes(client, "StoreInteraction", [request])
    assert_not_stored(sidecar, client, "turn")


def test_unknown_fields_of_a_policy_are_not_stored(sidecar: SidecarProcess, client: Client) -> None:
    client.add("policy", "hello")
    send_bytes(client, "SetPolicy", [valid_request("SetPolicy", "policy").SerializeToString() + delimited(4, UNKNOWN)])
    assert_not_stored(sidecar, client, "policy")


def test_unknown_fields_of_an_annotation_are_not_stored(sidecar: SidecarProcess, client: Client) -> None:
    client.add("annotated", "hello", id="known")
    request = valid_request("Annotate", "annotated").SerializeToString() + delimited(6, TAGS) + UNKNOWN
    send_bytes(client, "Annotate", [request])
    assert_not_stored(sidecar, client, "annotated")


def test_unknown_fields_of_a_document_are_not_stored(sidecar: SidecarProcess, client: Client) -> None:
    document = knowledge.Document(id="d", text="hello").SerializeToString() + delimited(5, TAGS) + UNKNOWN
    send_bytes(client, "PutDocument", [delimited(4, document) + UNKNOWN])
    (answer,) = send_bytes(client, "ListDocuments", [b""])
    assert b"key" in answer and CANARY not in answer
    assert_in_no_file(sidecar)


@pytest.mark.parametrize("name", ["Facts", "Artifact"])
def test_unknown_fields_of_facts_and_artifacts_are_not_stored(
    sidecar: SidecarProcess, client: Client, name: str
) -> None:
    encoded = {
        "Facts": knowledge.Fact(type=knowledge.FACT_TYPE_DOMAIN, key="key", value="hello").SerializeToString()
        + delimited(6, b"\x08\x01" + UNKNOWN),
        "Artifact": knowledge.Artifact(id="key", content="hello").SerializeToString() + delimited(6, TAGS),
    }[name]
    session_id = delimited(3, b"knowledge")
    send_bytes(client, f"Put{name}", [session_id + delimited(4, encoded + UNKNOWN) + UNKNOWN])
    (answer,) = send_bytes(client, f"List{name.removesuffix('s')}s", [session_id])
    assert b"key" in answer and CANARY not in answer
    assert_in_no_file(sidecar)
