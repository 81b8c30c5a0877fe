"""Large results of tools leave the window, and nothing is lost whatever happens in between."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from memsidecar.domain.errors import InvalidField, NotFound
from memsidecar.domain.ids import MAX_ID_BYTES
from memsidecar.domain.session import SessionKey
from memsidecar.layers.artifacts.artifacts import Artifacts
from memsidecar.layers.artifacts.offload import id_of
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
from memsidecar.tokens.registry import Counters
from memsidecar.v1.message_pb2 import ROLE_TOOL, ROLE_USER, Message
from tests.artifacts.components import CHARS4, KEY, artifacts_over, put

REPORT = "\n".join(f"line {at} of the report" for at in range(400))
LINE = "[the whole is artifact message/big]"


class Watched(SqliteJournal):
    """The real journal, which lets the test act before each command."""

    def __init__(self, folder: Path) -> None:
        self.commands: list[type] = []
        self.before_trim: Callable[[], None] = lambda: None
        super().__init__(folder)

    def submit(self, ticket: PendingCommand) -> None:
        self.commands.append(type(ticket.command))
        if isinstance(ticket.command, UpdateWindow):
            self.before_trim()
        super().submit(ticket)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    with closing(Watched(tmp_path / "watched")) as journal:
        yield journal


def memory_over(journal: Journal) -> WorkingMemory:
    return WorkingMemory(journal, Counters("chars4"), WorkingLimits())


def say(memory: WorkingMemory, content: str = REPORT, message_id: str = "big", role: int = ROLE_TOOL) -> None:
    memory.add(KEY, "", [Message(id=message_id, role=role, content=content, name="search")])  # type: ignore[arg-type]


def shown(journal: Journal, message_id: str = "big") -> Message:
    found = journal.message(KEY, message_id)
    assert found is not None
    return Message.FromString(found.displayed.body)


def written(journal: Journal, message_id: str = "big") -> Message:
    found = journal.message(KEY, message_id)
    assert found is not None
    return Message.FromString(found.original.body)


def test_the_artifact_holds_the_whole_and_the_window_a_preview(journal: Journal, artifacts: Artifacts) -> None:
    memory = memory_over(journal)
    say(memory)
    stored = put(artifacts, offload_message_id="big")
    assert (stored.id, stored.content, stored.message_id, stored.source) == ("message/big", REPORT, "big", "search")
    assert stored.tokens == CHARS4.count(REPORT)
    preview = shown(journal)
    assert preview.synthetic and CHARS4.count(preview.content) <= 128
    assert preview.content.startswith("line 0 of the report") and preview.content.endswith(
        f"line 399 of the report\n{LINE}"
    )
    assert written(journal).content == REPORT
    head = memory.read.head(KEY, "")
    assert head is not None and head.total_tokens == preview.tokens


@pytest.mark.parametrize("tokens", [1, 10, 20, 30, 40, 80, 500, 1_000])
def test_a_preview_has_at_most_the_asked_tokens_and_always_its_line(
    journal: Journal, artifacts: Artifacts, tokens: int
) -> None:
    say(memory_over(journal))
    put(artifacts, offload_message_id="big", preview_tokens=tokens)
    preview = shown(journal).content
    assert preview.endswith(LINE)
    assert CHARS4.count(preview) <= max(tokens, CHARS4.count(LINE))
    assert CHARS4.count(preview) >= min(tokens, 500) * 0.7 or tokens < 60


@pytest.mark.parametrize("content", ["short", "x" * 500])
def test_what_is_no_longer_than_a_preview_stays_as_it_is(journal: Journal, artifacts: Artifacts, content: str) -> None:
    say(memory_over(journal), content)
    assert put(artifacts, offload_message_id="big").content == content
    assert not shown(journal).synthetic


def test_a_preview_that_would_be_longer_is_not_shown(journal: Journal, artifacts: Artifacts) -> None:
    say(memory_over(journal), "a few words")
    put(artifacts, offload_message_id="big", preview_tokens=1)
    assert shown(journal).content == "a few words"


def test_to_repeat_it_changes_nothing(watched: Watched) -> None:
    say(memory_over(watched))
    artifacts = artifacts_over(watched)
    first = put(artifacts, offload_message_id="big")
    head = watched.head(KEY)
    assert put(artifacts, offload_message_id="big") == first
    assert watched.head(KEY) == head
    assert watched.commands.count(UpdateWindow) == 1


def test_another_length_shows_another_preview(journal: Journal, artifacts: Artifacts) -> None:
    say(memory_over(journal))
    put(artifacts, offload_message_id="big")
    before = shown(journal).tokens
    put(artifacts, offload_message_id="big", preview_tokens=400)
    assert before < shown(journal).tokens < written(journal).tokens


def test_an_id_of_ones_own_is_kept_and_named(journal: Journal, artifacts: Artifacts) -> None:
    say(memory_over(journal))
    assert put(artifacts, "mine", source="tool", offload_message_id="big").source == "tool"
    assert shown(journal).content.endswith("[the whole is artifact mine]")


def test_an_id_made_from_the_longest_is_an_id() -> None:
    assert id_of("m") == "message/m"
    assert len(id_of("é" * (MAX_ID_BYTES // 2)).encode()) <= MAX_ID_BYTES


def test_a_message_that_is_not_there_or_no_tools_cannot_be_offloaded(journal: Journal, artifacts: Artifacts) -> None:
    with pytest.raises(NotFound):
        put(artifacts, offload_message_id="big")
    say(memory_over(journal), role=ROLE_USER)
    with pytest.raises(NotFound):
        put(artifacts, offload_message_id="other")
    with pytest.raises(InvalidField) as refused:
        put(artifacts, offload_message_id="big")
    assert refused.value.field == "offload_message_id"
    with pytest.raises(InvalidField) as refused:
        put(artifacts, content="x", offload_message_id="big")
    assert refused.value.field == "artifact.content"


def test_one_that_was_shortened_is_offloaded_whole(journal: Journal, artifacts: Artifacts) -> None:
    memory = memory_over(journal)
    say(memory)
    put(artifacts, "first", offload_message_id="big", preview_tokens=400)
    assert put(artifacts, offload_message_id="big").content == REPORT
    assert shown(journal).content.endswith(LINE)


def test_between_artifact_and_preview_nothing_is_lost(watched: Watched) -> None:
    say(memory_over(watched))
    artifacts = artifacts_over(watched)

    def break_off() -> None:
        raise KeyboardInterrupt

    watched.before_trim = break_off
    with pytest.raises(KeyboardInterrupt):
        put(artifacts, offload_message_id="big")
    assert shown(watched).content == REPORT
    watched.before_trim = lambda: None
    put(artifacts, offload_message_id="big")
    assert shown(watched).synthetic


def test_a_session_that_never_holds_still_is_offloaded_all_the_same(watched: Watched) -> None:
    memory = memory_over(watched)
    say(memory)
    watched.before_trim = lambda: say(memory, "and again", f"m{len(watched.commands)}", ROLE_USER)
    put(artifacts_over(watched), offload_message_id="big")
    assert (watched.commands.count(UpdateWindow), watched.commands.count(UpdateWindowExclusive)) == (3, 1)
    assert shown(watched).synthetic


def test_what_is_cleared_meanwhile_does_not_come_back_as_an_artifact(watched: Watched) -> None:
    say(memory_over(watched))
    artifacts = artifacts_over(watched)
    find = watched.message

    def find_then_clear(key: SessionKey, message_id: str) -> MessageVersions | None:
        found = find(key, message_id)
        ticket = PendingCommand(Erase(KEY, ""))
        watched.submit(ticket)
        ticket.wait()
        return found

    watched.message = find_then_clear  # type: ignore[method-assign]
    with pytest.raises(NotFound):
        put(artifacts, offload_message_id="big")
    assert artifacts.page(KEY, "", None, 10, 0) == ((), None)


def test_a_clear_erases_what_was_offloaded(journal: Journal, artifacts: Artifacts) -> None:
    say(memory_over(journal))
    put(artifacts, offload_message_id="big")
    put(artifacts, "own", "text")
    assert artifacts.relevant(KEY, "report", 0, 10) != []
    ticket = PendingCommand(Erase(KEY, ""))
    journal.submit(ticket)
    ticket.wait()
    found, _ = artifacts.page(KEY, "", None, 10, 0)
    assert [one.id for one in found] == ["own"]
    assert artifacts.relevant(KEY, "report", 0, 10) == []


def test_many_at_once_each_get_their_preview(journal: Journal, artifacts: Artifacts) -> None:
    memory = memory_over(journal)
    for number in range(8):
        say(memory, REPORT, f"m{number}")
    threads = [
        threading.Thread(target=put, args=(artifacts,), kwargs={"offload_message_id": f"m{number}"})
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(shown(journal, f"m{number}").synthetic for number in range(8))
    head = memory.read.head(KEY, "")
    assert head is not None and head.total_tokens == sum(shown(journal, f"m{at}").tokens for at in range(8))
