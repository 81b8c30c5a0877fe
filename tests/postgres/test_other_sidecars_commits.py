"""Background tasks and searches of one sidecar follow what another one commits."""

import pytest

from memsidecar.layers.background import CommitSignal
from memsidecar.stores.postgres.journal import PostgresJournal
from tests.background.recording_task import RecordingTask, running
from tests.conformance.builders import append, draft
from tests.postgres.conftest import OpenJournal
from tests.support.waiting import until


@pytest.fixture
def journals(open_journal: OpenJournal) -> tuple[PostgresJournal, PostgresJournal]:
    return open_journal(exclusive=False), open_journal(exclusive=False)


def test_a_count_is_current_when_another_sidecar_has_committed(
    journals: tuple[PostgresJournal, PostgresJournal],
) -> None:
    one, other = journals
    signal = CommitSignal(one)
    counts = [signal.current_count("default")]
    for content in ("a", "b"):
        append(other, draft(content))
        counts.append(signal.current_count("default"))
    assert counts == sorted(set(counts)) and counts[0] == 0
    assert signal.current_count("default") == signal.commit_count("default") == counts[-1]
    assert signal.committed_namespaces() == ["default"]


def test_a_runner_processes_what_another_sidecar_has_committed(
    journals: tuple[PostgresJournal, PostgresJournal],
) -> None:
    one, other = journals
    append(other, draft("a"))
    task = RecordingTask()
    with running(one, task):
        append(other, draft("b"))
        append(one, draft("c"))
        until(lambda: task.state.effects["default"] == [1, 2, 3], "all entries")
        append(other, draft("d"))
        until(lambda: task.state.effects["default"] == [1, 2, 3, 4], "the last entry")
