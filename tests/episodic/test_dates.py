"""Dates in a query: how they are read, and that messages of that time rank first."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memsidecar.layers.episodic import EpisodicLimits
from memsidecar.layers.episodic.dates import MAX_DATED_CHARACTERS, MAX_DATES, NamedDate, NamedDays, read_dates
from memsidecar.layers.episodic.index_batch import PendingRow, episodes_of, zero_vectors
from memsidecar.layers.episodic.partition import Partition
from memsidecar.layers.episodic.query import Mode, SearchQuery, SearchScope, analyze_query
from memsidecar.layers.episodic.ranking import Ranking
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.episodic.components import DIMENSIONS, HYBRID, KEYWORD, NO_RAM, STATIC, episodic_client


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
    assert read_dates(text).dates == tuple(NamedDate(*each) for each in expected)


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
    assert read_dates(text).dates == ()


@given(st.text(max_size=60) | st.from_regex(r"(in|on) \w{3,9} [0-9]{1,4}", fullmatch=True))
@example("What happened in \u017feptember?")
@example("Remind me on \u017fept 12.")
def test_any_text_may_be_a_query(text: str) -> None:
    assert all(isinstance(named, NamedDate) for named in read_dates(text).dates)


def test_spaces_cost_linear_time() -> None:
    assert read_dates("in May" + " " * (MAX_DATED_CHARACTERS - 10)).dates == (NamedDate(None, 5, None),)
    assert len(read_dates("in May, " * 100 + " ".join(f"{day} May" for day in range(1, 32))).dates) <= MAX_DATES


NOW = datetime(2026, 11, 18, 9, 30, tzinfo=UTC)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("What did we decide yesterday?", "2026-11-17", "2026-11-17"),
        ("the day before yesterday", "2026-11-16", "2026-11-16"),
        ("Who called 3 days ago?", "2026-11-15", "2026-11-15"),
        ("two weeks ago", "2026-11-02", "2026-11-08"),
        ("What broke LAST WEEK?", "2026-11-09", "2026-11-15"),
        ("last month", "2026-10-01", "2026-10-31"),
        ("11 months ago", "2025-12-01", "2025-12-31"),
        ("a year ago", "2025-01-01", "2025-12-31"),
        ("Was haben wir gestern entschieden?", "2026-11-17", "2026-11-17"),
        ("Was war letzte Woche?", "2026-11-09", "2026-11-15"),
        ("vor 3 Tagen", "2026-11-15", "2026-11-15"),
        ("el mes pasado", "2026-10-01", "2026-10-31"),
        ("hace 3 días", "2026-11-15", "2026-11-15"),
        ("la semaine dernière", "2026-11-09", "2026-11-15"),
        ("il y a 2 ans", "2024-01-01", "2024-12-31"),
        ("settimana scorsa", "2026-11-09", "2026-11-15"),
        ("o mês passado", "2026-10-01", "2026-10-31"),
        ("我们昨天决定了什么", "2026-11-17", "2026-11-17"),
        ("上个月", "2026-10-01", "2026-10-31"),
        ("先週", "2026-11-09", "2026-11-15"),
        ("3天前", "2026-11-15", "2026-11-15"),
    ],
)
def test_a_time_relative_to_now_is_read(text: str, first: str, last: str) -> None:
    dates = read_dates(text, int(NOW.timestamp() * 1e6)).dates
    epoch = datetime(1970, 1, 1, tzinfo=UTC).date()
    expected = ((datetime.fromisoformat(day).date() - epoch).days for day in (first, last))
    assert dates == (NamedDays(*expected),)
    assert read_dates(text).dates == ()


@pytest.mark.parametrize(
    "text",
    ["the last week of the trip", "the last day", "Was ist hier?", "this week", "5 days", "1000年前", "马上月底了"],
)
def test_other_words_are_no_relative_times(text: str) -> None:
    assert read_dates(text, int(NOW.timestamp() * 1e6)).dates == ()


@pytest.mark.parametrize("text", ["What did we do in the last week of May?", "the last month of 2024", "2023年5月前"])
def test_a_part_of_a_date_is_no_relative_time(text: str) -> None:
    assert not any(isinstance(each, NamedDays) for each in read_dates(text, int(NOW.timestamp() * 1e6)).dates)


@given(st.text(max_size=40), st.integers(1, 4_000_000_000_000_000))
@example("999 years ago, 999 months ago, 999 weeks ago", 1)
def test_any_text_may_be_asked_at_any_time(text: str, now_us: int) -> None:
    assert read_dates(text, now_us).dates == read_dates(text, now_us).dates


def content_of(text: str, mode: Mode = Mode.HYBRID) -> set[str]:
    query = SearchQuery(text, mode, now_us=int(NOW.timestamp() * 1e6))
    return set(analyze_query(query, [], None).content)


def test_the_numbers_of_a_date_are_no_terms_of_their_own() -> None:
    assert content_of("Which deploy failed on 2026-03-14?") == {"deploy", "failed"}
    assert content_of("Which deploy failed on May 12, 2023?") == {"deploy", "failed", "may"}
    assert content_of("Which deploy to node 14 failed on 2026-03-14?") == {"deploy", "node", "14", "failed"}
    assert content_of("What was on 2026-03-14?") == set()


def test_the_words_of_a_relative_time_are_terms() -> None:
    assert content_of("Where did we live 4 years ago?") == {"live", "4", "years", "ago"}


def test_numbers_are_terms_in_a_search_by_keywords() -> None:
    assert content_of("deploy 2026-03-14", Mode.KEYWORD) == {"deploy", "2026", "03", "14"}


def best_of(query: str, *texts: str, now: datetime = NOW) -> list[str]:
    """Rank texts of the same time by keywords in context; return them, best first."""
    time_us = int(datetime(2025, 7, 1, tzinfo=UTC).timestamp() * 1e6)
    rows = [
        PendingRow(lsn, lsn, 1, 0, lsn, int(ROLE_USER), time_us, None, "", text) for lsn, text in enumerate(texts, 1)
    ]
    partition, asked = Partition(DIMENSIONS), SearchQuery(query, now_us=int(now.timestamp() * 1e6))
    partition.load([episodes_of(rows, zero_vectors(rows, DIMENSIONS))])
    ranking = Ranking([partition], analyze_query(asked, [], None), asked, SearchScope("n"))
    return [texts[hit.lsn - 1] for hit in ranking.best(10, 0.0)]


def test_a_number_of_a_date_matches_no_other_number() -> None:
    milk, release = "I bought 14 bottles of milk at 03 in 1999.", "The release 2026 went well."
    assert best_of("Which release came on 2026-03-14?", milk, release) == [release]


def test_a_text_that_names_the_whole_date_matches_it() -> None:
    texts = "We ship the parser on 2026-03-14.", "We ship 14 parsers in 03 runs."
    assert best_of("What is planned for 2026-03-14?", *texts) == [texts[0]]


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


def hits_of_ages(query: str, *ages_days: int) -> list[pb.SearchHit]:
    """Search among messages that differ in their ages alone."""
    with episodic_client(embedders=STATIC) as memory:
        for age in ages_days:
            message = Message(id=f"{age} days", role=ROLE_USER, content="We settled on the blue boat for the trip.")
            message.create_time.FromDatetime(datetime.now(UTC) - timedelta(age))
            memory.add_all([message], f"session of {age}", user="u")
        memory.index()
        return list(memory.search(query, user_id="u", mode=HYBRID).hits)


@pytest.mark.parametrize(
    ("when", "age"), [("yesterday", 1), ("last week", 7), ("5 days ago", 5), ("letzte Woche", 7), ("昨天", 1)]
)
def test_messages_of_a_time_relative_to_now_come_first(when: str, age: int) -> None:
    # Of equal scores the newest message comes first, by its place in the log.
    hits = hits_of_ages(f"Which boat trip {when}?", age, 60, 400)
    assert [hit.message.id for hit in hits] == [f"{age} days", "400 days", "60 days"]


@pytest.mark.parametrize("query", ["What did we decide last week?", "What did I do 7 days ago?"])
def test_a_question_about_a_time_needs_a_message_of_that_time(query: str) -> None:
    assert max(hit.relevance for hit in hits_of_ages(query, 7, 60)) >= 0.5
    assert max(hit.relevance for hit in hits_of_ages(query, 60, 400)) < 0.25


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
    ranking = Ranking([partition], analyze_query(SearchQuery(text), [], None), SearchQuery(text), SearchScope("n"))
    assert len({hit.score for hit in ranking.best(10, 0.0)}) == (2 if is_dated else 1)
