"""SIGKILL while a user is forgotten: after a restart and a second call, no text and no name of theirs is in a file."""

import random
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import grpc
import pytest

from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_USER, Message, ToolCall
from memsidecar.v1.session_pb2 import ErasureReceipt
from tests.faults_index.test_forgotten_messages import FLAGS, files_with
from tests.scenarios.conversation import tagged
from tests.scenarios.document_client import DocumentClient
from tests.scenarios.index_readiness import until_index_is_ready
from tests.scenarios.knowledge_client import INTEREST, KnowledgeClient, fact
from tests.scenarios.test_forget_user import forget
from tests.support.attempts import Attempts, random_source, scaled
from tests.support.process import Client, SidecarProcess
from tests.support.waiting import until

SESSIONS = 7
CANARIES = 200
KEPT = "We decided to keep the green door."


class Canaries:
    """Different texts that begin in the same way, so that one search of the files finds each of them."""

    def __init__(self, beginning: str) -> None:
        self.beginning = beginning
        self.count = 0

    def __str__(self) -> str:
        self.count += 1
        return f"{self.beginning}n{self.count}"


def fill(client: Client, user_id: str, canary: Canaries) -> None:
    for _ in range(SESSIONS):
        here = KnowledgeClient(client, "n", user_id, str(canary))
        add_messages(here, canary)
        labels = tagged({f"{canary}": f"{canary}"})
        here.put(f"{canary}", f"A tool found {canary}.", source=f"{canary}", metadata=labels)
        put_document(DocumentClient(client, "n", user_id, here.session_id), canary)
        here.put_facts(fact(f"{canary} of the session", INTEREST, f"{canary}"))
        here.conversation.prune(60, summarize=True)
    mine = KnowledgeClient(client, "n", user_id)
    mine.put_facts(fact(f"{canary} of old", key=f"{canary}"), *(fact(f"{canary} of today") for _ in range(5)))
    put_document(DocumentClient(client, "n", user_id), canary)
    assert canary.count >= CANARIES


def add_messages(here: KnowledgeClient, canary: Canaries) -> None:
    call = ToolCall(id=f"{canary}", name=f"{canary}", arguments_json=f'{{"{canary}": "{canary}"}}')
    messages = [
        Message(
            role=ROLE_USER,
            content=f"I live in {canary}.",
            name=f"{canary}",
            metadata=tagged({f"{canary}": f"{canary}"}),
        ),
        Message(role=ROLE_ASSISTANT, reasoning=f"about {canary}", content=f"looking for {canary}", tool_calls=[call]),
    ]
    result_id, message_id = f"{canary}", f"{canary}"
    here.conversation.add_batch(*messages)
    here.conversation.add_tool_result(call.id, "\n".join(f"Line {at} has {canary}." for at in range(5)), id=result_id)
    here.conversation.add(f"We decided to use {canary}.", id=message_id)
    here.conversation.annotate(message_id, {f"{canary}": f"{canary}"})
    here.offload(result_id, 20)
    here.conversation.add_turns(3)


def put_document(documents: DocumentClient, canary: Canaries) -> None:
    names = {"title": f"{canary}", "source": f"{canary}", "metadata": tagged({f"{canary}": f"{canary}"})}
    documents.put(f"{canary}", f"A text of {canary}. " * 50, **names)


def journal_with(data_dir: Path, canary: Canaries) -> list[Path]:
    """Return the files outside the index that contain a canary: they are clean when the call has returned."""
    return [path for path in data_dir.glob("journal*") if canary.beginning.encode() in path.read_bytes()]


def kill_while_forgetting(sidecar: SidecarProcess, number: int, chance: random.Random, seconds: float) -> float:
    """Return how long an uninterrupted call took; 0 if it was interrupted."""
    canary = Canaries(f"canary{number}x{chance.getrandbits(64):x}")
    user_id = str(canary)
    returned: list[float] = []
    with sidecar.client() as client:
        fill(client, user_id, canary)
        assert files_with(sidecar.data_dir, canary.beginning)

        def forget_the_user() -> None:
            began = time.monotonic()
            with suppress(grpc.RpcError):
                forget(client, "n", user_id)
                returned.append(time.monotonic() - began)

        call = threading.Thread(target=forget_the_user)
        call.start()
        call.join(chance.random() * seconds)
        sidecar.kill()
        call.join()
    sidecar.start()
    until_index_is_ready(sidecar)
    with sidecar.client() as client:
        forget(client, "n", user_id)
        assert journal_with(sidecar.data_dir, canary) == []
        assert forget(client, "n", user_id, dry_run=True) == ErasureReceipt(dry_run=True)
        assert KnowledgeClient(client, "n", "ben", "kept").conversation.contents() == [KEPT]
    found = partial(files_with, sidecar.data_dir, canary.beginning)
    until(lambda: not found(), "no file has the canaries", progress=found)
    return sum(returned)


def run(data_dir: Path, kills: int, attempts: Attempts) -> int:
    """Return how many calls were interrupted. The moments are within the longest time that a call took so far."""
    chance, interrupted, seconds = random_source(), 0, 1.0
    attack = attempts.of(
        "kill -9 while a user is forgotten",
        "after the next start and a second call, none of 200 texts and names is in any file; those of others are there",
    )
    with SidecarProcess(data_dir, *FLAGS) as sidecar:
        until_index_is_ready(sidecar)
        with sidecar.client() as client:
            KnowledgeClient(client, "n", "ben", "kept").conversation.add(KEPT)
        for number in range(kills):
            with attack.attempt():
                took = kill_while_forgetting(sidecar, number, chance, seconds)
            interrupted += not took
            seconds = took or seconds
    return interrupted


def test_a_few_kills_while_a_user_is_forgotten(tmp_path: Path, attempts: Attempts) -> None:
    run(tmp_path / "data", 2, attempts)


@pytest.mark.adversary
def test_many_kills_while_a_user_is_forgotten(tmp_path: Path, attempts: Attempts) -> None:
    interrupted = run(tmp_path / "data", scaled(0.5), attempts)
    print(f"{interrupted} of {scaled(0.5)} calls were interrupted")
    assert interrupted >= scaled(0.5) // 10
