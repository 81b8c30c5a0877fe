"""SIGTERM and start again: everything that was acknowledged is there, as it was."""

import signal
import threading
from dataclasses import dataclass, field
from pathlib import Path

import grpc

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.session_pb2 import GetSessionRequest, ListSessionsRequest, SessionPolicy, SetPolicyRequest
from tests.scenarios.talk import Talk
from tests.support.comparable import without_watermarks
from tests.support.process import CALL_SECONDS, Client, Refusal, SidecarProcess, refusal
from tests.support.waiting import until

LEARNING = ("semantic.facts", "summaries", "procedural")
NAMES = ("plain", "pruned", "shortened", "cleared", "summarized", "automatic")


def furnish(client: Client) -> None:
    """One session for each thing that can happen to one."""
    Talk(client, "plain", user_id="alice").turns(3)
    Talk(client, "plain").annotate("a1", {"important": True}, evaluation_score=9)
    pruned = Talk(client, "pruned")
    pruned.call("open", id="call")
    pruned.turns(3)
    pruned.prune(1)
    shortened = Talk(client, "shortened")
    shortened.call("c", id="call")
    shortened.answer("c", "\n".join(f"line {at} of many" for at in range(300)), id="result")
    shortened.turns(1)
    shortened.prune(shortened.count().tokens - 500, overflow=True)
    cleared = Talk(client, "cleared")
    cleared.turns(1)
    cleared.clear()
    summarized = Talk(client, "summarized")
    summarized.turns(3)
    assert summarized.prune(1, summarize=True).summary_id
    policy = SessionPolicy(auto_prune_tokens=100, strategy=pb.PRUNE_STRATEGY_TURNS, model="gpt-4", summarize=True)
    client.sessions.SetPolicy(SetPolicyRequest(session_id="automatic", policy=policy))
    client.sessions.SetPolicy(SetPolicyRequest(policy=SessionPolicy(auto_prune_tokens=5000)))


def everything(client: Client) -> list[object]:
    """All that can be read."""
    found: list[object] = [*map(without_watermarks, client.sessions.ListSessions(ListSessionsRequest()).sessions)]
    for name in NAMES:
        talk = Talk(client, name)
        found += [
            without_watermarks(client.sessions.GetSession(GetSessionRequest(session_id=name)).session),
            talk.messages(),
            talk.messages(include_pruned=True),
            talk.count(),
            talk.count("gpt-4"),
            list(talk.search("line", limit=1000).hits),
            talk.summary(),
        ]
    return found


def test_everything_survives_a_restart(data_dir: Path) -> None:
    with SidecarProcess(data_dir) as sidecar:
        with sidecar.client() as client:
            furnish(client)
            before = everything(client)
        assert sidecar.stop() == 0
        sidecar.start()
        with sidecar.client() as client:
            assert everything(client) == before
            go_on(client)


def go_on(client: Client) -> None:
    """What was known before the restart counts after it."""
    plain = Talk(client, "plain", user_id="bob")
    assert refusal(plain.messages).reason == "SESSION_OWNER_MISMATCH"
    assert Talk(client, "plain").say("q1 and some words to weigh something", id="q1").duplicate
    assert Talk(client, "cleared").say("next").sequence == 3
    Talk(client, "pruned").answer("open", "at last", id="late")
    assert Talk(client, "pruned").ids() == ["call", "q3", "a3", "late"]
    automatic = Talk(client, "automatic")
    automatic.turns(20)
    assert automatic.count("gpt-4").tokens <= 100
    summary = automatic.summary()
    assert summary is not None and summary.last_sequence >= automatic.count().pruned_count


def test_the_background_is_where_it_was_after_a_restart(data_dir: Path) -> None:
    with SidecarProcess(data_dir, "--index", "off") as sidecar:
        with sidecar.client() as client:
            Talk(client, "s").turns(3)
            until(lambda: watermarks(client) == dict.fromkeys(LEARNING, 6))
        assert sidecar.stop() == 0
        sidecar.start()
        with sidecar.client() as client:
            until(lambda: watermarks(client) == dict.fromkeys(LEARNING, 6))


def watermarks(client: Client) -> dict[str, int]:
    return dict(client.sessions.GetSession(GetSessionRequest(session_id="s")).session.watermarks)


def test_a_page_token_from_before_the_restart_goes_on_after_it(data_dir: Path) -> None:
    with SidecarProcess(data_dir) as sidecar:
        with sidecar.client() as client:
            Talk(client, "s").turns(2)
            token = client.memory.GetAll(pb.GetAllRequest(session_id="s", page_size=3)).next_page_token
        assert sidecar.stop() == 0
        sidecar.start()
        with sidecar.client() as client:
            page = client.memory.GetAll(pb.GetAllRequest(session_id="s", page_size=3, page_token=token))
            assert [message.id for message in page.messages] == ["a2"]


@dataclass
class Writer:
    """Adds messages to a session of its own until it is refused."""

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
    """Eight writers; the order to stop comes when each of them has been answered twenty times."""
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
                assert Talk(client, writer.session_id).ids()[: len(writer.acknowledged)] == writer.acknowledged


def test_who_is_refused_because_of_a_shutdown_is_told_to_try_again(data_dir: Path) -> None:
    with SidecarProcess(data_dir) as sidecar:
        writers = stop_under_load(sidecar)
    assert {writer.refused.code for writer in writers if writer.refused} == {grpc.StatusCode.UNAVAILABLE}
