"""Token counts by a model are right during concurrent writes."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memsidecar.domain.session import SessionKey, Strategy
from memsidecar.layers.working.memory import WorkingMemory
from memsidecar.layers.working.window_update import PruneRequest
from memsidecar.stores.contract import Append, Erase
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_TOOL, ROLE_USER, Message
from tests.support.process import CALL_SECONDS, Client, SidecarProcess
from tests.working.components import QUICK, journal_in, memory_over, messages_of

KEY = SessionKey("default", "s")
MESSAGES, COUNTS = 2_000, 20
MODEL = "mistral-large"


@contextmanager
def continuous_writes(client: Client, session_id: str) -> Iterator[list[int]]:
    """Write to the session in a loop; yield the sequences so far."""
    added: list[int] = []
    enough = threading.Event()

    def write() -> None:
        while not enough.is_set():
            added.append(client.add(session_id, "one more").sequence)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield added
    finally:
        enough.set()
        writer.join()


def test_a_count_by_a_model_succeeds_during_continuous_writes(data_dir: Path) -> None:
    with SidecarProcess(data_dir, *QUICK) as sidecar, sidecar.client() as client, sidecar.client() as other:
        report_usage(client)
        messages = [Message(role=ROLE_USER, content=f"message {at}") for at in range(MESSAGES)]
        client.memory.AddBatch(pb.AddBatchRequest(session_id="s", messages=messages), timeout=CALL_SECONDS)
        with continuous_writes(other, "s") as added:
            counts = [count_by_model(client, added) for _ in range(COUNTS)]
    assert counts == sorted(counts)


def report_usage(client: Client) -> None:
    usage = pb.ReportUsageRequest(model=MODEL, estimated_tokens=100, actual_tokens=200)
    client.memory.ReportUsage(usage, timeout=CALL_SECONDS)


def count_by_model(client: Client, added: list[int]) -> int:
    """Count by a model; check that all acknowledged messages are counted."""
    at_least = added[-1] if added else MESSAGES
    stats = client.memory.Count(pb.CountRequest(session_id="s", model=MODEL), timeout=CALL_SECONDS).stats
    assert stats.message_count == stats.last_sequence >= at_least
    assert stats.tokens > 2 * stats.message_count
    return int(stats.message_count)


def test_a_count_by_a_model_succeeds_with_an_add_before_each_read(data_dir: Path) -> None:
    with journal_in(data_dir) as journal:
        memory_over(journal).add(KEY, "", messages_of(*["four"] * MESSAGES))
        memory = memory_over(journal)  # whose tail in RAM is shorter than the session
        memory.token_counts.report(KEY.namespace, MODEL, 100, 200)
        head = memory.read.head(KEY, "")
        assert head is not None
        journal.before_each_read(
            lambda: journal.carry_out(Append(KEY, "", [memory.add.validator(messages_of("more")[0], "m")]))
        )
        counted = memory.count_by_model(head, MODEL)
    each = head.total_tokens // MESSAGES
    assert counted.message_count == MESSAGES and counted.version == head.version
    assert counted.total_tokens > each * MESSAGES


# -- what is remembered of the last count


def total(memory: WorkingMemory) -> int:
    head = memory.read.head(KEY, "")
    assert head is not None
    return memory.count_by_model.total(head, MODEL)


def test_a_growing_session_is_counted_incrementally(data_dir: Path) -> None:
    """This holds also for a window that is longer than its cached part."""
    with journal_in(data_dir) as journal:
        memory = memory_over(journal)
        memory.token_counts.report(KEY.namespace, MODEL, 100, 200)
        memory.add(KEY, "", messages_of(*["four"] * MESSAGES))
        before = total(memory)
        journal.before_each_read(lambda: pytest.fail("the session is read"))
        for added in range(1, 4):
            memory.add(KEY, "", messages_of("four"))
            assert total(memory) == before + added * (before // MESSAGES)


def test_a_total_is_right_after_any_change(data_dir: Path) -> None:
    with journal_in(data_dir) as journal:
        memory = memory_over(journal)
        memory.token_counts.report(KEY.namespace, MODEL, 100, 200)
        for happens in (
            lambda: memory.add(KEY, "", messages_of(*["some words"] * 30)),
            lambda: memory.add(
                KEY, "", [Message(role=ROLE_TOOL, content="a line\n" * 900), *messages_of("more", "words")]
            ),
            lambda: memory.prune(KEY, "", PruneRequest(1_200, Strategy.RECENCY, 5, 2, overflow=True)),
            lambda: memory.annotate(KEY, "", memory_id(memory), 9.0, None),
            lambda: memory.add(KEY, "", messages_of("one")),
            lambda: memory.prune(KEY, "", PruneRequest(60, Strategy.RECENCY, 5, 2)),
            lambda: memory.add(KEY, "", messages_of("two", "three")),
            lambda: memory.sessions.submit_erase(Erase(KEY, "")).wait(),
            lambda: memory.add(KEY, "", messages_of("anew")),
        ):
            happens()
            assert total(memory) == total(memory_over(journal))


def memory_id(memory: WorkingMemory) -> str:
    view = memory.session_cache.get(KEY)
    assert view is not None
    return Message.FromString(view.messages()[-1].body).id


def test_a_session_that_was_erased_meanwhile_counts_zero(data_dir: Path) -> None:
    with journal_in(data_dir) as journal:
        memory = memory_over(journal)
        memory.token_counts.report(KEY.namespace, MODEL, 100, 200)
        head = memory.add(KEY, "", messages_of("words")).head
        memory.sessions.submit_erase(Erase(KEY, "", delete_session=True)).wait()
        assert memory.count_by_model.total(head, MODEL) == 0
