"""After concurrent changes of a default policy, the one in force is the stored one."""

import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from memsidecar.domain.session import Policy, SessionKey
from memsidecar.v1.session_pb2 import GetSessionRequest, SessionPolicy, SetPolicyRequest
from tests.support.process import CALL_SECONDS, Client, SidecarProcess
from tests.working.components import QUICK, journal_in, memory_over, messages_of

NAMESPACES = [f"n{at}" for at in range(8)]
CALLS_AT_ONCE = 16
DEFAULT = SessionKey("default", "")
OVERTAKING_SECONDS = 0.3


def set_default(client: Client, namespace: str, tokens: int | None) -> None:
    policy = None if tokens is None else SessionPolicy(auto_prune_tokens=tokens)
    client.sessions.SetPolicy(SetPolicyRequest(namespace=namespace, policy=policy), timeout=CALL_SECONDS)


def set_at_once(clients: list[Client], namespace: str, wanted: Iterable[int | None]) -> None:
    with ThreadPoolExecutor(CALLS_AT_ONCE) as callers:
        calls = [
            callers.submit(set_default, clients[at % len(clients)], namespace, tokens)
            for at, tokens in enumerate(wanted)
        ]
        for call in calls:
            call.result()


def tokens_in_force(client: Client) -> dict[str, int]:
    """Return the budget of a session without its own policy, by namespace."""
    requests = [GetSessionRequest(namespace=namespace, session_id="s") for namespace in NAMESPACES]
    answers = [client.sessions.GetSession(request, timeout=CALL_SECONDS) for request in requests]
    return {answer.session.namespace: answer.session.policy.auto_prune_tokens for answer in answers}


def test_the_default_in_force_after_concurrent_calls_is_in_force_after_a_restart(data_dir: Path) -> None:
    with SidecarProcess(data_dir, *QUICK, "--read-threads", str(CALLS_AT_ONCE)) as sidecar:
        with sidecar.client() as first, sidecar.client() as second:
            for namespace in NAMESPACES:
                first.add("s", "hello", namespace=namespace)
                set_at_once([first, second], namespace, [None, *range(1_001, 1_000 + CALLS_AT_ONCE)])
            before = tokens_in_force(first)
        assert sidecar.stop() == 0
        sidecar.start()
        with sidecar.client() as client:
            assert tokens_in_force(client) == before
    assert len(before) == len(NAMESPACES)


def test_a_default_that_is_set_before_an_earlier_one_is_answered_is_the_one_in_force(data_dir: Path) -> None:
    with journal_in(data_dir) as journal:
        memory = memory_over(journal)
        head = memory.add(SessionKey("default", "s"), "", messages_of("hello")).head
        later = threading.Thread(target=memory.policies.set, args=(DEFAULT, "", Policy(2_000)))

        def overtake() -> None:
            """Set another default; it may complete now, or wait for the earlier one."""
            later.start()
            later.join(OVERTAKING_SECONDS)

        journal.after_the_next_commit(overtake)
        memory.policies.set(DEFAULT, "", Policy(1_000))
        later.join()
        assert memory.policies.of(head) == memory_over(journal).policies.of(head) == Policy(2_000)
