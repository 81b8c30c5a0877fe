"""A sidecar with a small memory, for the commands that read it."""

from collections.abc import Iterator

import pytest

from memsidecar.v1.knowledge_pb2 import (
    FACT_TYPE_USER_PROFILE,
    Document,
    Fact,
    PutDocumentRequest,
    PutFactsRequest,
)
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT
from tests.cli.commands import HOSTILE, WIDE, CommandLine
from tests.support.process import Client, SidecarProcess


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    folder = tmp_path_factory.mktemp("cli")
    with SidecarProcess(folder / "data", "--index", "volatile") as sidecar:
        with sidecar.client() as client:
            fill(client)
        yield CommandLine(sidecar, folder)


def fill(client: Client) -> None:
    client.add("trip", "I fly to Lisbon on Friday.", user_id="ann", id="m1")
    client.add("trip", "Noted: Lisbon, Friday.", ROLE_ASSISTANT, user_id="ann", id="m2")
    client.add("trip", HOSTILE, user_id="ann", id="m3")
    client.add("trip", WIDE, user_id="ann", id="m4")
    client.add("other", "My flight to Lisbon leaves at nine.", user_id="ann", id="o1")
    client.add("draft", "A draft without a user.", id="d1")
    client.add("bobs", "Bob was here.", user_id="bob", id="b1")
    fact = Fact(type=FACT_TYPE_USER_PROFILE, key="city", value="Oslo", confidence=0.9)
    client.knowledge.PutFacts(PutFactsRequest(user_id="ann", facts=[fact]))
    document = Document(id="guide", title="Guide to Lisbon", text="Trams climb the hills of Lisbon.")
    client.knowledge.PutDocument(PutDocumentRequest(document=document))
