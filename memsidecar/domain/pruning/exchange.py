"""Which call a tool's answer belongs to, decided when a message arrives."""

from collections.abc import Mapping, Sequence
from heapq import nsmallest

MAX_OPEN_CALLS = 1_000
"""An agent that never stores its tools' answers must not make every head grow for ever."""

OpenCalls = Mapping[str, tuple[int, ...]]
"""The id of a call -> the messages that made it and have no answer yet, oldest first, one entry for each call."""


def link_exchange(
    open_calls: OpenCalls, draft_calls: Sequence[str], answers: str, sequence: int
) -> tuple[int, OpenCalls]:
    """The exchange of the message that becomes `sequence`, and the calls that are open after it.

    A message that calls is an exchange of its own. An answer belongs to the nearest earlier open call with its id,
    because providers reuse ids; without one it is an orphan: exchange 0. The mapping given is never changed.
    """
    if draft_calls:
        return sequence, _newest(_opened(open_calls, draft_calls, sequence))
    if answers and answers in open_calls:
        return _answered(open_calls, answers)
    return 0, open_calls


def _opened(open_calls: OpenCalls, calls: Sequence[str], sequence: int) -> dict[str, tuple[int, ...]]:
    opened = dict(open_calls)
    for call in calls:
        opened[call] = (*opened.get(call, ()), sequence)
    return opened


def _answered(open_calls: OpenCalls, call: str) -> tuple[int, OpenCalls]:
    *earlier, nearest = open_calls[call]
    left = dict(open_calls)
    if earlier:
        left[call] = tuple(earlier)
    else:
        del left[call]
    return nearest, left


def _newest(opened: dict[str, tuple[int, ...]]) -> OpenCalls:
    surplus = sum(map(len, opened.values())) - MAX_OPEN_CALLS
    if surplus > 0:
        calls = ((sequence, call) for call, sequences in opened.items() for sequence in sequences)
        for _, call in nsmallest(surplus, calls):
            _drop_oldest(opened, call)
    return opened


def _drop_oldest(opened: dict[str, tuple[int, ...]], call: str) -> None:
    _, *later = opened.pop(call)
    if later:
        opened[call] = tuple(later)
