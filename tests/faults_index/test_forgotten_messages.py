"""SIGKILL while messages are forgotten: after a restart and a second call nothing of them is in any file."""

import os
import random
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import grpc
import pytest

from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, Message, ToolCall
from tests.scenarios.conversation import tagged
from tests.scenarios.index_readiness import until_index_is_ready
from tests.scenarios.knowledge_client import KnowledgeClient, fact
from tests.scenarios.test_forget_message import forget
from tests.support.attempts import Attempts, random_source, scaled
from tests.support.process import SidecarProcess
from tests.support.waiting import until

FLAGS = ("--index", "lancedb", "--facts-quiet-seconds", "0.05", "--index-linger-ms", "1")
NAMES = ("spoken", "call", "result", "tagged")
KEPT = "We decided to keep the green door."


def files_with(data_dir: Path, canary: str) -> list[str]:
    """Return the files that contain the canary in any case: the index has terms in lower case."""
    files = [Path(folder, name) for folder, _, names in os.walk(data_dir) for name in names]
    return [path.name for path in files if canary.lower().encode() in _lower(path)]


def _lower(path: Path) -> bytes:
    with suppress(FileNotFoundError):  # the index replaces its files
        return path.read_bytes().lower()
    return b""


def fill(here: KnowledgeClient, canary: str) -> None:
    """Store the canary in all fields of four messages, and in a learned fact, a put fact, an artifact, a summary."""
    spoken = here.conversation
    spoken.add(KEPT, id="kept")
    spoken.add(f"I live in {canary}.", id="spoken", name=f"name-{canary}")
    arguments = f'{{"query": "{canary}"}}'
    call = Message(role=ROLE_ASSISTANT, id="call", reasoning=f"about {canary}", content=f"looking for {canary}")
    call.tool_calls.append(ToolCall(id="c", name="search", arguments_json=arguments))
    spoken.add_batch(call)
    spoken.add_tool_result("c", "\n".join(f"Line {at} names {canary}." for at in range(200)), id="result")
    spoken.add(f"The code is {canary}.", id="tagged", metadata=tagged({"tag": canary}))
    spoken.annotate("tagged", {"later": canary})
    here.offload("result", 50)
    here.put_facts(fact(f"{canary} put", key="pet", source_message_ids=["tagged"]))
    spoken.add_turns(3)
    spoken.prune(60, summarize=True)


def kill_while_forgetting(sidecar: SidecarProcess, number: int, chance: random.Random) -> None:
    canary = f"Canary{number}x{chance.getrandbits(64):x}"
    with sidecar.client() as client:
        here = KnowledgeClient(client, "n", "ann", f"s{number}")
        fill(here, canary)
        if chance.random() < 0.5:
            until(lambda: any(canary in value for value in here.values() if "put" not in value))
        assert files_with(sidecar.data_dir, canary)

        def forget_all() -> None:
            with suppress(grpc.RpcError):
                for name in NAMES:
                    forget(here.conversation, name)

        calls = threading.Thread(target=forget_all)
        calls.start()
        time.sleep(chance.random() * chance.choice([0.01, 0.1, 1]))
        sidecar.kill()
        calls.join()
    sidecar.start()
    until_index_is_ready(sidecar)
    with sidecar.client() as client:
        here = KnowledgeClient(client, "n", "ann", f"s{number}")
        for name in NAMES:
            with suppress(grpc.RpcError):
                forget(here.conversation, name)
        found = partial(files_with, sidecar.data_dir, canary)
        until(lambda: not found(), "no file has the canary", progress=found)
        contents = here.conversation.contents(include_pruned=True)
        assert KEPT in contents and not any(canary in content for content in contents)
        assert not any(canary in value for value in here.values(include_history=True))


def run(data_dir: Path, kills: int, attempts: Attempts) -> None:
    chance = random_source()
    attack = attempts.of(
        "kill -9 while messages are forgotten",
        "after the next start and a second call, nothing of them is in any file or response; the others are there",
    )
    with SidecarProcess(data_dir, *FLAGS) as sidecar:
        until_index_is_ready(sidecar)
        for number in range(kills):
            with attack.attempt():
                kill_while_forgetting(sidecar, number, chance)


def test_a_few_kills_while_messages_are_forgotten(tmp_path: Path, attempts: Attempts) -> None:
    run(tmp_path / "data", 3, attempts)


@pytest.mark.adversary
def test_many_kills_while_messages_are_forgotten(tmp_path: Path, attempts: Attempts) -> None:
    run(tmp_path / "data", scaled(0.5), attempts)
