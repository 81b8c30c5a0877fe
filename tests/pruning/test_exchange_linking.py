"""Linking of tool results to calls."""

from hypothesis import given
from hypothesis import strategies as st

from memsidecar.domain.pruning import link_exchange
from memsidecar.domain.pruning.units import MAX_OPEN_CALLS, OpenCalls


def test_a_call_is_an_exchange_of_its_own_and_opens_its_ids() -> None:
    assert link_exchange({}, ["a", "b"], "", 7) == (7, {"a": (7,), "b": (7,)})


def test_an_answer_joins_its_call_and_closes_it() -> None:
    assert link_exchange({"a": (7,), "b": (7,)}, (), "a", 8) == (7, {"b": (7,)})


def test_an_answer_belongs_to_the_nearest_of_two_open_calls_with_its_id() -> None:
    exchange, left = link_exchange({"a": (3, 9)}, (), "a", 10)
    assert (exchange, left) == (9, {"a": (3,)})
    assert link_exchange(left, (), "a", 11) == (3, {})


def test_two_calls_with_one_id_in_one_message_take_two_answers() -> None:
    _, opened = link_exchange({}, ["a", "a"], "", 5)
    first, left = link_exchange(opened, (), "a", 6)
    second, closed = link_exchange(left, (), "a", 7)
    assert (first, second, closed) == (5, 5, {})


def test_a_third_answer_to_two_calls_is_an_orphan() -> None:
    assert link_exchange({}, (), "a", 8) == (0, {})


def test_a_message_without_calls_and_answers_belongs_to_no_exchange() -> None:
    open_calls = {"": (1,), "a": (2,)}
    assert link_exchange(open_calls, (), "", 3) == (0, open_calls)


def test_only_the_newest_open_calls_are_remembered() -> None:
    open_calls: OpenCalls = {"late": (0,), "twice": (0, 2_000)}
    for sequence in range(1, MAX_OPEN_CALLS + 1):
        _, open_calls = link_exchange(open_calls, [f"call-{sequence}"], "", sequence)
    assert sum(map(len, open_calls.values())) == MAX_OPEN_CALLS
    assert "late" not in open_calls and "call-1" not in open_calls and "call-2" in open_calls
    assert open_calls["twice"] == (2_000,)


def test_one_message_may_make_more_calls_than_are_remembered() -> None:
    _, open_calls = link_exchange({"old": (1,)}, ["same"] * 3_000, "", 2)
    assert open_calls == {"same": (2,) * MAX_OPEN_CALLS}


_ids = st.sampled_from(["a", "b"])
_messages = st.lists(st.lists(_ids, min_size=1, max_size=3) | _ids, max_size=20)


@given(_messages)
def test_every_answer_takes_the_latest_call_that_no_other_answer_took(messages: list[list[str] | str]) -> None:
    free: list[tuple[int, str]] = []
    open_calls: OpenCalls = {}
    for sequence, message in enumerate(messages, start=1):
        calls, answers = (message, "") if isinstance(message, list) else ((), message)
        before = dict(open_calls)
        exchange, after = link_exchange(open_calls, calls, answers, sequence)
        assert open_calls == before
        if calls:
            free += [(sequence, call) for call in calls]
            assert exchange == sequence
        else:
            taken = max((made for made in free if made[1] == answers), default=(0, ""))
            assert exchange == taken[0]
            if taken in free:
                free.remove(taken)
        open_calls = after
        assert sorted((made, call) for call, all_made in after.items() for made in all_made) == sorted(free)
