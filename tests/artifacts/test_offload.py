"""Offloading replaces large tool results by previews, and loses nothing on concurrent changes or failures."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memsidecar.domain.errors import InvalidField, NotFound
from memsidecar.domain.ids import MAX_ID_BYTES
from memsidecar.domain.session import SessionKey
from memsidecar.layers.artifacts.artifact import id_of
from memsidecar.layers.artifacts.artifacts import Artifacts
from memsidecar.layers.working.memory import WorkingLimits, WorkingMemory
from memsidecar.stores.contract import (
    Erase,
    Journal,
    MessageVersions,
    PendingCommand,
    UpdateWindow,
    UpdateWindowExclusive,
)
from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.v1.message_pb2 import ROLE_TOOL, ROLE_USER, Message
from tests.artifacts.components import CHARS4, KEY, artifacts_over, put

REPORT = "\n".join(f"line {at} of the report" for at in range(400))
LINE = "[the whole is artifact message/big]"


class InterceptingJournal(SqliteJournal):
    """The real journal, with a hook before window updates."""

    def __init__(self, folder: Path) -> None:
        self.commands: list[type] = []
        self.before_update: Callable[[], None] = lambda: None
        super().__init__(folder)

    def submit(self, pending: PendingCommand) -> None:
        self.commands.append(type(pending.command))
        if isinstance(pending.command, UpdateWindow):
            self.before_update()
        super().submit(pending)


@pytest.fixture
def intercepted(tmp_path: Path) -> Iterator[InterceptingJournal]:
    with closing(InterceptingJournal(tmp_path / "intercepted")) as journal:
        yield journal


def memory_over(journal: Journal) -> WorkingMemory:
    return WorkingMemory(journal, CounterRegistry("chars4"), WorkingLimits())


def add(memory: WorkingMemory, content: str = REPORT, message_id: str = "big", role: int = ROLE_TOOL) -> None:
    memory.add(KEY, "", [Message(id=message_id, role=role, content=content, name="search")])  # type: ignore[arg-type]


def displayed(journal: Journal, message_id: str = "big") -> Message:
    found = journal.message(KEY, message_id)
    assert found is not None
    return Message.FromString(found.displayed.body)


def original(journal: Journal, message_id: str = "big") -> Message:
    found = journal.message(KEY, message_id)
    assert found is not None
    return Message.FromString(found.original.body)


def test_the_artifact_holds_the_whole_and_the_window_a_preview(journal: Journal, artifacts: Artifacts) -> None:
    memory = memory_over(journal)
    add(memory)
    stored = put(artifacts, offload_message_id="big")
    assert (stored.id, stored.content, stored.message_id, stored.source) == ("message/big", REPORT, "big", "search")
    assert stored.tokens == CHARS4.count(REPORT)
    preview = displayed(journal)
    assert preview.synthetic and CHARS4.count(preview.content) <= 128
    assert preview.content.startswith("line 0 of the report") and preview.content.endswith(
        f"line 399 of the report\n{LINE}"
    )
    assert original(journal).content == REPORT
    head = memory.read.head(KEY, "")
    assert head is not None and head.total_tokens == preview.tokens


@pytest.mark.parametrize("tokens", [1, 10, 20, 30, 40, 80, 500, 1_000])
def test_a_preview_has_at_most_the_requested_tokens_and_its_reference(
    journal: Journal, artifacts: Artifacts, tokens: int
) -> None:
    add(memory_over(journal))
    put(artifacts, offload_message_id="big", preview_tokens=tokens)
    preview = displayed(journal).content
    assert preview.endswith(LINE)
    assert CHARS4.count(preview) <= max(tokens, CHARS4.count(LINE))
    assert CHARS4.count(preview) >= min(tokens, 500) * 0.7 or tokens < 60


@pytest.mark.parametrize("content", ["short", "x" * 500])
def test_content_that_fits_a_preview_is_unchanged(journal: Journal, artifacts: Artifacts, content: str) -> None:
    add(memory_over(journal), content)
    assert put(artifacts, offload_message_id="big").content == content
    assert not displayed(journal).synthetic


def test_a_preview_that_would_be_longer_is_not_shown(journal: Journal, artifacts: Artifacts) -> None:
    add(memory_over(journal), "a few words")
    put(artifacts, offload_message_id="big", preview_tokens=1)
    assert displayed(journal).content == "a few words"


def test_offloading_again_changes_nothing(intercepted: InterceptingJournal) -> None:
    add(memory_over(intercepted))
    artifacts = artifacts_over(intercepted)
    first = put(artifacts, offload_message_id="big")
    head = intercepted.head(KEY)
    assert put(artifacts, offload_message_id="big") == first
    assert intercepted.head(KEY) == head
    assert intercepted.commands.count(UpdateWindow) == 1


def test_another_length_shows_another_preview(journal: Journal, artifacts: Artifacts) -> None:
    add(memory_over(journal))
    put(artifacts, offload_message_id="big")
    before = displayed(journal).tokens
    put(artifacts, offload_message_id="big", preview_tokens=400)
    assert before < displayed(journal).tokens < original(journal).tokens


def test_the_id_of_the_request_is_used(journal: Journal, artifacts: Artifacts) -> None:
    add(memory_over(journal))
    assert put(artifacts, "mine", source="tool", offload_message_id="big").source == "tool"
    assert displayed(journal).content.endswith("[the whole is artifact mine]")


def test_the_default_id_of_the_longest_message_id_is_valid() -> None:
    assert id_of("m") == "message/m"
    assert len(id_of("é" * (MAX_ID_BYTES // 2)).encode()) <= MAX_ID_BYTES


def test_only_existing_tool_results_can_be_offloaded(journal: Journal, artifacts: Artifacts) -> None:
    with pytest.raises(NotFound):
        put(artifacts, offload_message_id="big")
    add(memory_over(journal), role=ROLE_USER)
    with pytest.raises(NotFound):
        put(artifacts, offload_message_id="other")
    with pytest.raises(InvalidField) as refused:
        put(artifacts, offload_message_id="big")
    assert refused.value.field == "offload_message_id"
    with pytest.raises(InvalidField) as refused:
        put(artifacts, content="x", offload_message_id="big")
    assert refused.value.field == "artifact.content"


def test_a_shortened_message_is_offloaded_whole(journal: Journal, artifacts: Artifacts) -> None:
    memory = memory_over(journal)
    add(memory)
    put(artifacts, "first", offload_message_id="big", preview_tokens=400)
    assert put(artifacts, offload_message_id="big").content == REPORT
    assert displayed(journal).content.endswith(LINE)


def test_a_failure_between_artifact_and_preview_loses_nothing(intercepted: InterceptingJournal) -> None:
    add(memory_over(intercepted))
    artifacts = artifacts_over(intercepted)

    def break_off() -> None:
        raise KeyboardInterrupt

    intercepted.before_update = break_off
    with pytest.raises(KeyboardInterrupt):
        put(artifacts, offload_message_id="big")
    assert displayed(intercepted).content == REPORT
    intercepted.before_update = lambda: None
    put(artifacts, offload_message_id="big")
    assert displayed(intercepted).synthetic


def test_offloading_succeeds_during_endless_changes(intercepted: InterceptingJournal) -> None:
    memory = memory_over(intercepted)
    add(memory)
    intercepted.before_update = lambda: add(memory, "and again", f"m{len(intercepted.commands)}", ROLE_USER)
    put(artifacts_over(intercepted), offload_message_id="big")
    assert (intercepted.commands.count(UpdateWindow), intercepted.commands.count(UpdateWindowExclusive)) == (3, 1)
    assert displayed(intercepted).synthetic


def test_a_concurrent_clear_leaves_no_artifact(intercepted: InterceptingJournal) -> None:
    add(memory_over(intercepted))
    artifacts = artifacts_over(intercepted)
    find = intercepted.message

    def find_then_clear(key: SessionKey, message_id: str) -> MessageVersions | None:
        found = find(key, message_id)
        pending = PendingCommand(Erase(KEY, ""))
        intercepted.submit(pending)
        pending.wait()
        return found

    intercepted.message = find_then_clear  # type: ignore[method-assign]
    with pytest.raises(NotFound):
        put(artifacts, offload_message_id="big")
    assert artifacts.page(KEY, "", None, 10, 0) == ((), None)


def test_a_clear_erases_offloaded_content(journal: Journal, artifacts: Artifacts) -> None:
    add(memory_over(journal))
    put(artifacts, offload_message_id="big")
    put(artifacts, "own", "text")
    assert artifacts.relevant(KEY, "report", 0, 10) != []
    pending = PendingCommand(Erase(KEY, ""))
    journal.submit(pending)
    pending.wait()
    found, _ = artifacts.page(KEY, "", None, 10, 0)
    assert [one.id for one in found] == ["own"]
    assert artifacts.relevant(KEY, "report", 0, 10) == []


def test_concurrent_offloads_each_get_their_preview(journal: Journal, artifacts: Artifacts) -> None:
    memory = memory_over(journal)
    for number in range(8):
        add(memory, REPORT, f"m{number}")
    threads = [
        threading.Thread(target=put, args=(artifacts,), kwargs={"offload_message_id": f"m{number}"})
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(displayed(journal, f"m{number}").synthetic for number in range(8))
    head = memory.read.head(KEY, "")
    assert head is not None and head.total_tokens == sum(displayed(journal, f"m{at}").tokens for at in range(8))
