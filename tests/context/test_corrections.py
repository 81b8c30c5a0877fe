"""Linking memories with their corrections: nothing outdated stays alone, and nothing current gets lost."""

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memsidecar.context.correction_finder import CorrectionFinder
from memsidecar.context.corrections import CorrectionLinker
from memsidecar.context.memories import DecodedMessage, MemoryItem
from memsidecar.domain.fact import ScoreBreakdown
from memsidecar.domain.message import Role
from memsidecar.layers.episodic.query import RankedHit

TEXTS = (
    "Our CI is Jenkins. We deploy to production every Tuesday. The database is Postgres 14.",
    "Our CI Jenkins has two agents.",
    "Our CI is Jenkins in the basement.",
    "We deploy to production on Tuesday at noon.",
    "The database Postgres 14 has 3 replicas.",
    "The database is Postgres 14 on port 5432.",
    "We no longer use Jenkins, our CI is GitHub Actions.",
    "We moved the production deploy to Thursday.",
    "We upgraded the database from Postgres 14 to Postgres 16.",
    "The office has a new coffee machine.",
)


def message(at: int) -> DecodedMessage:
    stored: Any = SimpleNamespace(user_id="u", key=SimpleNamespace(session_id=f"s{at}"), lsn=at)
    wire: Any = SimpleNamespace(id=f"m{at}")
    return DecodedMessage(stored, wire, TEXTS[at], (at, 1), Role.USER, at * 1_000_000)


def memory(at: int, rank: int) -> MemoryItem:
    return MemoryItem(RankedHit(at, 1, at, 1 - rank / 100, ScoreBreakdown(), 0.5, None), (MESSAGES[at],))


MESSAGES = [message(at) for at in range(len(TEXTS))]
LINKER = CorrectionLinker([each for found in MESSAGES for each in CorrectionFinder()(found)])
LATER = {0: {6, 7, 8}, 1: {6}, 2: {6}, 3: {7}, 4: {8}, 5: {8}}
"The messages that correct each message."


def places(messages: tuple[DecodedMessage, ...]) -> set[int]:
    return {found.place[0] for found in messages}


def test_a_message_has_the_same_corrections_whenever_it_is_a_hit() -> None:
    find = CorrectionFinder()
    first = [find(found) for found in MESSAGES]
    assert [bool(found) for found in first] == [at in (6, 7, 8) for at in range(len(MESSAGES))]
    assert [find(found) for found in MESSAGES] == first


def test_a_correction_is_compared_with_a_message_once_unless_it_corrects_it() -> None:
    find = CorrectionFinder()
    corrections = [each for found in MESSAGES for each in find(found)]
    link = CorrectionLinker(corrections, unrelated=find.unrelated)
    memories = [memory(at, at) for at in range(len(TEXTS))]
    first = link(memories)
    for at, found in enumerate(MESSAGES):
        earlier = [each for each in corrections if each.place[0] > at]
        compared = find.unrelated.without(earlier, found.located.lsn) if at else []
        assert {each.place[0] for each in compared} == (LATER.get(at, set()) if at else set())
    assert link(memories) == first


@given(st.lists(st.sampled_from(range(len(TEXTS))), min_size=1, unique=True))
def test_in_any_order_the_current_statements_are_shown_and_outdated_ones_only_with_them(order: list[int]) -> None:
    items = LINKER([memory(at, rank) for rank, at in enumerate(order)])
    shown = [found.place[0] for item in items for found in item.messages]
    assert len(shown) == len(set(shown))
    assert set(shown) == {at for at in order if at not in LATER}.union(*(LATER.get(at, set()) for at in order))
    for item in items:
        for at in places(item.superseded):
            assert LATER[at] <= places(item.messages)


def test_a_memory_whose_corrections_would_be_too_long_together_is_left_out() -> None:
    """The corrections of the first message, with their answers, are as many messages as one item shows."""
    answers = {at: MESSAGES[at]._replace(role=Role.ASSISTANT, content="Ok.", place=(at, 2)) for at in (6, 7, 8)}
    pairs = [memory(at, rank)._replace(messages=(MESSAGES[at], answers[at])) for rank, at in enumerate(answers)]
    first = memory(0, 3)
    also = MESSAGES[5]._replace(content="The database is Postgres 14. Our VPN is Wireguard.")
    vpn = MESSAGES[9]._replace(content="We no longer use Wireguard, our VPN is Tailscale.")
    link = CorrectionLinker([each for found in (*MESSAGES[6:9], vpn) for each in CorrectionFinder()(found)])
    items = link([*pairs, first, memory(5, 4)._replace(messages=(also,)), memory(9, 5)._replace(messages=(vpn,))])
    assert [places(item.messages) for item in items] == [{6, 7, 8}, {9}]
    assert [places(item.superseded) for item in items] == [{0}, set()]


def test_a_correction_that_is_left_out_brings_no_correction_of_its_own() -> None:
    """It is no memory, and the item of what it corrects has as many messages as an item shows."""
    answers = {at: MESSAGES[at]._replace(role=Role.ASSISTANT, content="Ok.", place=(at, 2)) for at in (6, 7, 8)}
    pairs = [memory(at, rank)._replace(messages=(MESSAGES[at], answers[at])) for rank, at in enumerate(answers, 1)]
    texts = ("We no longer use GitHub Actions, our CI is Buildkite.", "We no longer use Buildkite, our CI is Drone.")
    later = [
        MESSAGES[9]._replace(content=text, place=(at, 1), time_us=at * 1_000_000) for at, text in enumerate(texts, 10)
    ]
    link = CorrectionLinker([each for found in (*MESSAGES[6:9], *later) for each in CorrectionFinder()(found)])
    items = link([memory(0, 0), *pairs])
    assert [places(item.messages) for item in items] == [{7, 8}]
