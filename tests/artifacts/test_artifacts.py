"""Putting, listing and deleting artifacts."""

from dataclasses import replace

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from memsidecar.domain.errors import InvalidField, NotFound, TooLarge
from memsidecar.layers.artifacts.artifact import StoredArtifact, artifact_of, conflict_key_of, owner_of
from memsidecar.layers.artifacts.artifacts import ArtifactCursor, Artifacts, read_newest
from memsidecar.layers.field_checks import MAX_RESPONSE_BYTES
from memsidecar.stores.contract import Erase, Journal, PendingCommand, RecordKind
from tests.artifacts.components import KEY, MAX_CONTENT_BYTES, delete, put

NOW_US = 2_000_000_000_000_000


def at(seconds: int) -> Timestamp:
    return Timestamp(seconds=seconds)


def page(artifacts: Artifacts, size: int = 100, after: ArtifactCursor | None = None) -> list[str]:
    return [one.id for one in artifacts.page(KEY, "", after, size, NOW_US)[0]]


def erase(journal: Journal, delete_session: bool) -> None:
    pending = PendingCommand(Erase(KEY, "", delete_session))
    journal.submit(pending)
    pending.wait()


def test_an_artifact_comes_back_as_it_was_put(artifacts: Artifacts) -> None:
    stored = put(artifacts, "a", "It rains.", source="weather", create_time=at(5), expire_time=at(3_000_000_000))
    assert (stored.id, stored.source, stored.content, stored.message_id) == ("a", "weather", "It rains.", "")
    assert (stored.create_time_us, stored.expire_time_us) == (5_000_000, 3_000_000_000_000_000)
    assert artifacts.page(KEY, "", None, 10, NOW_US) == ([stored], None)


@pytest.mark.parametrize("expire_time_us", [None, -1, 0, 7])
def test_a_record_has_all_attributes_of_an_artifact(expire_time_us: int | None) -> None:
    artifact = StoredArtifact("a", "tool", "text", -5, 3, expire_time_us, b"", "m")
    assert artifact_of(artifact.to_record("s1")) == artifact
    assert artifact.to_record("s1").source == "s1"
    assert replace(artifact, message_id="").to_record("s1").source == ""


def test_artifacts_without_an_id_get_new_ids(artifacts: Artifacts) -> None:
    assert put(artifacts, content="x").id != put(artifacts, content="x").id
    assert len(page(artifacts)) == 2


def test_the_same_id_again_replaces_it(artifacts: Artifacts) -> None:
    put(artifacts, "a", "old", source="tool")
    put(artifacts, "a", "new")
    ((stored,), _) = artifacts.page(KEY, "", None, 10, NOW_US)
    assert (stored.content, stored.source) == ("new", "")


def test_the_same_content_again_keeps_its_time(artifacts: Artifacts) -> None:
    first = put(artifacts, "a", "same")
    assert put(artifacts, "a", "same") == first
    assert put(artifacts, "a", "other").create_time_us > first.create_time_us
    assert put(artifacts, "a", "other", create_time=at(7)).create_time_us == 7_000_000


def test_a_list_has_the_newest_first_and_no_expired_ones(artifacts: Artifacts) -> None:
    for number, seconds in (("1", 10), ("3", 30), ("2", 20), ("2b", 20)):
        put(artifacts, number, "x", create_time=at(seconds))
    put(artifacts, "gone", "x", create_time=at(40), expire_time=at(50))
    assert page(artifacts) == ["3", "2b", "2", "1"]


def test_pages_are_stable_during_changes(artifacts: Artifacts) -> None:
    for number in range(9):
        expires = {"expire_time": at(number + 1)} if number == 6 else {}
        put(artifacts, f"a{number}", "x", create_time=at(number), **expires)
    first, place = artifacts.page(KEY, "", None, 4, NOW_US)
    put(artifacts, "late", "x", create_time=at(100))
    delete(artifacts, "a5")
    second, place = artifacts.page(KEY, "", place, 4, NOW_US)
    third, last = artifacts.page(KEY, "", place, 4, NOW_US)
    assert [one.id for one in first] == ["a8", "a7", "a5"]
    assert [one.id for one in (*second, *third)] == ["a4", "a3", "a2", "a1", "a0"]
    assert last is None


def test_a_page_fits_into_a_response(artifacts: Artifacts) -> None:
    for number in range(5):
        put(artifacts, f"a{number}", "x" * MAX_CONTENT_BYTES, create_time=at(number))
    first, place = artifacts.page(KEY, "", None, 100, NOW_US)
    assert 1 <= len(first) <= MAX_RESPONSE_BYTES // MAX_CONTENT_BYTES
    rest, last = artifacts.page(KEY, "", place, 100, NOW_US)
    assert len(first) + len(rest) == 4 or last is None


def test_a_scan_returns_at_least_one_artifact_and_stops_at_its_byte_limit(
    journal: Journal, artifacts: Artifacts
) -> None:
    for number in range(40):
        put(artifacts, f"a{number:02}", "x" * 1_000, create_time=at(number))
    assert [record.id for record in read_newest(journal, owner_of(KEY), None, 100, 1)] == ["a39"]
    assert 5 <= len(list(read_newest(journal, owner_of(KEY), None, 100, 10_000))) <= 10
    assert len(list(read_newest(journal, owner_of(KEY), None, 100, 1 << 20))) == 40
    assert len(list(read_newest(journal, owner_of(KEY), None, 17, 1 << 20))) == 17
    assert list(read_newest(journal, owner_of(KEY), (0, "a00"), 17, 1 << 20)) == []


def test_a_deleted_artifact_is_absent_and_an_unknown_one_cannot_be_deleted(artifacts: Artifacts) -> None:
    put(artifacts, "a", "x")
    delete(artifacts, "a")
    assert page(artifacts) == []
    with pytest.raises(NotFound):
        delete(artifacts, "a")


def test_a_cleared_session_keeps_its_artifacts_and_a_deleted_one_does_not(
    journal: Journal, artifacts: Artifacts
) -> None:
    put(artifacts, "a", "x")
    erase(journal, delete_session=False)
    assert page(artifacts) == ["a"]
    erase(journal, delete_session=True)
    assert page(artifacts) == []


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("artifact.id", {"artifact_id": "a\n", "content": "x"}),
        ("artifact.content", {"content": ""}),
        ("artifact.source", {"content": "x", "source": "x" * 1_025}),
        ("artifact.expire_time", {"content": "x", "create_time": at(9), "expire_time": at(9)}),
    ],
)
def test_an_invalid_field_is_named(artifacts: Artifacts, field: str, fields: dict[str, object]) -> None:
    with pytest.raises(InvalidField) as refused:
        put(artifacts, **fields)  # type: ignore[arg-type]
    assert refused.value.field == field


def test_content_beyond_the_limit_is_too_large(artifacts: Artifacts) -> None:
    with pytest.raises(TooLarge):
        put(artifacts, "a", "x" * (MAX_CONTENT_BYTES + 1))


def test_two_ids_with_the_same_conflict_key_do_not_affect_each_other(journal: Journal, artifacts: Artifacts) -> None:
    """No two short ids have the same conflict key in practice; the id decides."""
    put(artifacts, "a", "x")
    note = journal.record(owner_of(KEY), RecordKind.ARTIFACT, "a")
    assert note is not None and note.conflict_key == conflict_key_of("a") != conflict_key_of("b")
