"""Restart after SIGTERM: all acknowledged data is read as before."""

import signal
import threading
from dataclasses import dataclass, field
from pathlib import Path

import grpc

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.session_pb2 import GetSessionRequest, ListSessionsRequest, SessionPolicy, SetPolicyRequest
from tests.scenarios.conversation import Conversation
from tests.support.comparable import without_watermarks
from tests.support.process import CALL_SECONDS, Client, Refusal, SidecarProcess, refusal
from tests.support.waiting import until

TASKS = ("semantic.facts", "summaries", "procedural")
NAMES = ("plain", "pruned", "shortened", "cleared", "summarized", "automatic")


def fill(client: Client) -> None:
    """Write one session for each state that a session can have."""
    Conversation(client, "plain", user_id="alice").add_turns(3)
    Conversation(client, "plain").annotate("a1", {"important": True}, evaluation_score=9)
    pruned = Conversation(client, "pruned")
    pruned.add_tool_call("open", id="call")
    pruned.add_turns(3)
    pruned.prune(1)
    shortened = Conversation(client, "shortened")
    shortened.add_tool_call("c", id="call")
    shortened.add_tool_result("c", "\n".join(f"line {at} of many" for at in range(300)), id="result")
    shortened.add_turns(1)
    shortened.prune(shortened.count().tokens - 500, overflow=True)
    cleared = Conversation(client, "cleared")
    cleared.add_turns(1)
    cleared.clear()
    summarized = Conversation(client, "summarized")
    summarized.add_turns(3)
    assert summarized.prune(1, summarize=True).summary_id
    policy = SessionPolicy(auto_prune_tokens=100, strategy=pb.PRUNE_STRATEGY_TURNS, model="gpt-4", summarize=True)
    client.sessions.SetPolicy(SetPolicyRequest(session_id="automatic", policy=policy))
    client.sessions.SetPolicy(SetPolicyRequest(policy=SessionPolicy(auto_prune_tokens=5000)))


def read_all(client: Client) -> list[object]:
    """Return the results of all reads."""
    found: list[object] = [*map(without_watermarks, client.sessions.ListSessions(ListSessionsRequest()).sessions)]
    for name in NAMES:
        conversation = Conversation(client, name)
        found += [
            without_watermarks(client.sessions.GetSession(GetSessionRequest(session_id=name)).session),
            conversation.messages(),
            conversation.messages(include_pruned=True),
            conversation.count(),
            conversation.count("gpt-4"),
            list(conversation.search("line", limit=1000).hits),
            conversation.summary(),
        ]
    return found


def test_all_reads_are_equal_after_a_restart(data_dir: Path) -> None:
    with SidecarProcess(data_dir) as sidecar:
        with sidecar.client() as client:
            fill(client)
            before = read_all(client)
        assert sidecar.stop() == 0
        sidecar.start()
        with sidecar.client() as client:
            assert read_all(client) == before
            check_later_writes(client)


def check_later_writes(client: Client) -> None:
    """Check writes that depend on state from before the restart."""
    plain = Conversation(client, "plain", user_id="bob")
    assert refusal(plain.messages).reason == "SESSION_OWNER_MISMATCH"
    assert Conversation(client, "plain").add("q1 and some words to weigh something", id="q1").duplicate
    assert Conversation(client, "cleared").add("next").sequence == 3
    Conversation(client, "pruned").add_tool_result("open", "at last", id="late")
    assert Conversation(client, "pruned").ids() == ["call", "q3", "a3", "late"]
    automatic = Conversation(client, "automatic")
    automatic.add_turns(20)
    assert automatic.count("gpt-4").tokens <= 100
    summary = automatic.summary()
    assert summary is not None and summary.last_sequence >= automatic.count().pruned_count


def test_watermarks_survive_a_restart(data_dir: Path) -> None:
    with SidecarProcess(data_dir, "--index", "off") as sidecar:
        with sidecar.client() as client:
            Conversation(client, "s").add_turns(3)
            until(lambda: watermarks(client) == dict.fromkeys(TASKS, 6))
        assert sidecar.stop() == 0
        sidecar.start()
        with sidecar.client() as client:
            until(lambda: watermarks(client) == dict.fromkeys(TASKS, 6))


def watermarks(client: Client) -> dict[str, int]:
    return dict(client.sessions.GetSession(GetSessionRequest(session_id="s")).session.watermarks)


def test_a_page_token_is_valid_after_a_restart(data_dir: Path) -> None:
    with SidecarProcess(data_dir) as sidecar:
        with sidecar.client() as client:
            Conversation(client, "s").add_turns(2)
            token = client.memory.GetAll(pb.GetAllRequest(session_id="s", page_size=3)).next_page_token
        assert sidecar.stop() == 0
        sidecar.start()
        with sidecar.client() as client:
            page = client.memory.GetAll(pb.GetAllRequest(session_id="s", page_size=3, page_token=token))
            assert [message.id for message in page.messages] == ["a2"]


@dataclass
class Writer:
    """A thread that adds messages to its own session until an error."""

    session_id: str
    acknowledged: list[str] = field(default_factory=list)
    refused: Refusal | None = None
    under_way: threading.Event = field(default_factory=threading.Event)

    def run(self, sidecar: SidecarProcess) -> None:
        with sidecar.client() as client:
            while self.refused is None:
                self._add(client, f"m{len(self.acknowledged)}")
                if len(self.acknowledged) == 20:
                    self.under_way.set()

    def _add(self, client: Client, message_id: str) -> None:
        try:
            client.add(self.session_id, "some words", id=message_id)
        except grpc.RpcError as error:
            self.refused = Refusal(error)
        else:
            self.acknowledged.append(message_id)


def stop_under_load(sidecar: SidecarProcess) -> list[Writer]:
    """Run eight writers, and send SIGTERM when each of them has twenty acknowledgements."""
    writers = [Writer(f"s{at}") for at in range(8)]
    threads = [threading.Thread(target=writer.run, args=(sidecar,)) for writer in writers]
    for thread in threads:
        thread.start()
    assert all(writer.under_way.wait(CALL_SECONDS) for writer in writers)
    sidecar.process.send_signal(signal.SIGTERM)
    for thread in threads:
        thread.join()
    return writers


def test_a_shutdown_under_load_exits_0_and_keeps_every_acknowledged_message(data_dir: Path) -> None:
    with SidecarProcess(data_dir) as sidecar:
        writers = stop_under_load(sidecar)
        assert sidecar.stop() == 0
        sidecar.start()
        with sidecar.client() as client:
            for writer in writers:
                assert Conversation(client, writer.session_id).ids()[: len(writer.acknowledged)] == writer.acknowledged


def test_a_call_refused_by_a_shutdown_has_a_retryable_error(data_dir: Path) -> None:
    with SidecarProcess(data_dir) as sidecar:
        writers = stop_under_load(sidecar)
    assert {writer.refused.code for writer in writers if writer.refused} == {grpc.StatusCode.UNAVAILABLE}
