"""Reflection: a client without generated code reads the contract from the server."""

from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pool, json_format, message_factory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from memsidecar.v1 import knowledge_pb2, memory_pb2, session_pb2
from tests.support.process import Client, refusal


class ReflectionClient:
    """A client that uses reflection only; requests and responses are dicts, as with grpcurl."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._channel = channel
        self._database = ProtoReflectionDescriptorDatabase(channel)
        self._pool = descriptor_pool.DescriptorPool(self._database)

    def services(self) -> set[str]:
        return set(self._database.get_services())

    def methods(self, service: str) -> list[str]:
        return [method.name for method in self._pool.FindServiceByName(service).methods]

    def call(self, service: str, rpc: str, **fields: Any) -> dict[str, Any]:
        method = self._pool.FindServiceByName(service).methods_by_name[rpc]
        request = message_factory.GetMessageClass(method.input_type)
        response = message_factory.GetMessageClass(method.output_type)
        call = self._channel.unary_unary(
            f"/{service}/{rpc}",
            request_serializer=request.SerializeToString,
            response_deserializer=response.FromString,
        )
        return json_format.MessageToDict(
            call(json_format.ParseDict(fields, request())), preserving_proto_field_name=True
        )


MEMORY, SESSIONS, KNOWLEDGE = (f"memsidecar.v1.{name}Service" for name in ("Memory", "Session", "Knowledge"))


@pytest.fixture
def reflection_client(client: Client) -> ReflectionClient:
    return ReflectionClient(client.channel)


def test_the_services_of_the_contract_are_listed_and_no_other(reflection_client: ReflectionClient) -> None:
    ours = {name for name in reflection_client.services() if name.startswith("memsidecar")}
    assert ours == {MEMORY, SESSIONS, KNOWLEDGE}
    assert {"grpc.health.v1.Health", "grpc.reflection.v1alpha.ServerReflection"} <= reflection_client.services()


def test_reflection_names_the_rpcs_of_the_contract(reflection_client: ReflectionClient) -> None:
    for name, file in ((MEMORY, memory_pb2), (SESSIONS, session_pb2), (KNOWLEDGE, knowledge_pb2)):
        contract = file.DESCRIPTOR.services_by_name[name.rpartition(".")[2]]
        assert reflection_client.methods(name) == [method.name for method in contract.methods]


def test_a_conversation_needs_no_generated_code(reflection_client: ReflectionClient, namespace: str) -> None:
    where = {"namespace": namespace, "session_id": "s1"}
    sent = {"role": "ROLE_USER", "content": "hi", "metadata": {"important": True}}
    added = reflection_client.call(MEMORY, "Add", **where, message=sent)
    assert added["sequence"] == "1"
    (message,) = reflection_client.call(MEMORY, "GetRecent", **where, n=5)["messages"]
    assert {key: message[key] for key in sent} == sent
    (session,) = reflection_client.call(SESSIONS, "ListSessions", namespace=namespace)["sessions"]
    assert session["session_id"] == "s1"


def test_a_document_needs_no_generated_code(reflection_client: ReflectionClient, namespace: str) -> None:
    document = {"id": "d1", "text": "Herons stand in the reeds."}
    put = reflection_client.call(KNOWLEDGE, "PutDocument", namespace=namespace, document=document)
    assert (put["document"]["id"], put["document"]["chunk_count"]) == ("d1", 1)
    (hit,) = reflection_client.call(KNOWLEDGE, "SearchDocuments", namespace=namespace, query="heron")["hits"]
    assert (hit["chunk"]["document_id"], hit["chunk"]["text"]) == ("d1", document["text"])


def test_an_error_is_readable_without_generated_code(reflection_client: ReflectionClient) -> None:
    refused = refusal(lambda: reflection_client.call(MEMORY, "GetRecent", session_id="s1"))
    assert (refused.code, refused.reason, refused.field) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD", "n")
