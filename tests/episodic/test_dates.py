"""Dates in a query: how they are read, and that messages of that time rank first."""

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memsidecar.layers.episodic import EpisodicLimits
from memsidecar.layers.episodic.index_batch import PendingRow, episodes_of, zero_vectors
from memsidecar.layers.episodic.partition import Partition
from memsidecar.layers.episodic.query import (
    MAX_DATED_CHARACTERS,
    MAX_DATES,
    NamedDate,
    SearchQuery,
    SearchScope,
    analyze_query,
    named_dates,
)
from memsidecar.layers.episodic.ranking import Ranking
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.episodic.components import DIMENSIONS, HYBRID, KEYWORD, NO_RAM, episodic_client


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What happened on May 23, 2023?", [(2023, 5, 23)]),
        ("on December 1,2023", [(2023, 12, 1)]),
        ("on 8th December, 2023", [(2023, 12, 8)]),
        ("the 3rd of June", [(None, 6, 3)]),
        ("met on Aug 15th", [(None, 8, 15)]),
        ("the week before 16 November 2023", [(2023, 11, 16)]),
        ("between August 11 and August 15 2023", [(None, 8, 11), (2023, 8, 15)]),
        ("as of December 2023", [(2023, 12, None)]),
        ("in JULY", [(None, 7, None)]),
        ("what did we decide in may", [(None, 5, None)]),
        ("early march 2024", [(2024, 3, None)]),
        ("the trip in 2023", [(2023, None, None)]),
        ("log of 2024-02-29", [(2024, 2, 29)]),
        ("invoice of 2024-02", [(2024, 2, None)]),
    ],
)
def test_a_date_is_read(text: str, expected: list[tuple[int | None, int | None, int | None]]) -> None:
    assert named_dates(text) == [NamedDate(*each) for each in expected]


@pytest.mark.parametrize(
    "text",
    [
        "Which books may I read?",
        "Node 20 may crash",
        "we march 3 miles",
        "April likes tea",
        "port 2023 is open",
        "version 2023.1 of 10 junior mayors",
        "2023-13-01 and 2023-00-00 and 2023-01-32",
        "x" * MAX_DATED_CHARACTERS + " in May 2023",
    ],
)
def test_other_words_and_numbers_are_no_dates(text: str) -> None:
    assert named_dates(text) == []


@given(st.text(max_size=60) | st.from_regex(r"(in|on) \w{3,9} [0-9]{1,4}", fullmatch=True))
@example("What happened in \u017feptember?")
@example("Remind me on \u017fept 12.")
def test_any_text_may_be_a_query(text: str) -> None:
    assert all(isinstance(named, NamedDate) for named in named_dates(text))


def test_spaces_cost_linear_time() -> None:
    assert named_dates("in May" + " " * (MAX_DATED_CHARACTERS - 10)) == [NamedDate(None, 5, None)]
    assert len(named_dates("in May, " * 100 + " ".join(f"{day} May" for day in range(1, 32)))) <= MAX_DATES


TIMES = {
    "January": datetime(2024, 1, 10, tzinfo=UTC),
    "May": datetime(2024, 5, 12, tzinfo=UTC),
    "June": datetime(2024, 6, 25, tzinfo=UTC),
    "next year": datetime(2025, 5, 20, tzinfo=UTC),
    "long ago": datetime(1898, 2, 3, tzinfo=UTC),
    "far future": datetime(9999, 3, 4, tzinfo=UTC),
}


def found(query: str, limits: EpisodicLimits | None = None, mode: pb.SearchMode = HYBRID) -> list[str]:
    """Search among messages that differ in their times alone; return these, best first."""
    with episodic_client(limits=limits) as memory:
        for name, time in TIMES.items():
            message = Message(id=name, role=ROLE_USER, content="We went to the lake with the whole family.")
            message.create_time.FromDatetime(time)
            memory.add_all([message], f"session in {name}", user="u")
        memory.index()
        return [hit.message.id for hit in memory.search(query, user_id="u", mode=mode).hits]


@pytest.mark.parametrize("limits", [None, NO_RAM], ids=["in RAM", "by candidates"])
@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ("in January", {"January"}),
        ("in May", {"May", "next year"}),
        ("in May 2024", {"May"}),
        ("on May 11, 2024", {"May"}),
        ("on 13 May 2024", {"May"}),
        ("on May 6, 2024", {"May"}),
        ("on 2024-06-24", {"June"}),
        ("in 2025", {"next year"}),
    ],
)
def test_messages_of_that_time_come_first_and_others_stay(
    when: str, expected: set[str], limits: EpisodicLimits | None
) -> None:
    names = found(f"Which lake trip happened {when}?", limits)
    assert set(names[: len(expected)]) == expected
    assert set(names) == set(TIMES)


def test_a_date_of_which_no_message_is_changes_nothing() -> None:
    newest_first = list(reversed(TIMES))
    assert found("Which lake trip happened in August?") == found("Which lake trip happened?") == newest_first


def test_a_search_by_keywords_does_not_use_dates() -> None:
    assert found("lake family in January", mode=KEYWORD) == list(reversed(TIMES))


@pytest.mark.parametrize(("role", "is_dated"), [(int(ROLE_USER), True), (0, False)], ids=["message", "chunk"])
def test_the_time_of_an_upload_is_not_that_of_a_chunk(role: int, is_dated: bool) -> None:
    rows = [
        PendingRow(lsn, 1, lsn, 0, lsn, role, int(time.timestamp() * 1e6), None, "", "the lake")
        for lsn, time in enumerate(TIMES.values(), 1)
    ]
    partition, text = Partition(DIMENSIONS), "the lake in June"
    partition.load([episodes_of(rows, zero_vectors(rows, DIMENSIONS))])
    ranking = Ranking([partition], analyze_query(text, [], None), SearchQuery(text), SearchScope("n"))
    assert len({hit.score for hit in ranking.best(10, 0.0)}) == (2 if is_dated else 1)
