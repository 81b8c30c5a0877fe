"""Links a tool result to its tool call when the message is appended."""

from collections.abc import Mapping, Sequence
from heapq import nsmallest

MAX_OPEN_CALLS = 1_000
"""Bound on the calls in a session head: an agent that never stores tool results must not make it grow forever."""

OpenCalls = Mapping[str, tuple[int, ...]]
"""Tool call id -> sequences of the messages that made it and have no result yet, oldest first, one for each call."""


def link_exchange(
    open_calls: OpenCalls, draft_calls: Sequence[str], answers: str, sequence: int
) -> tuple[int, OpenCalls]:
    """Return the exchange of the message that becomes `sequence`, and the calls that are open after it.

    A message with calls starts an exchange. A result belongs to the nearest earlier open call with its id, because
    providers reuse ids. A result without an open call is an orphan: exchange 0. `open_calls` is not modified.
    """
    if draft_calls:
        return sequence, _drop_surplus(_with_calls(open_calls, draft_calls, sequence))
    if answers and answers in open_calls:
        return _close_newest(open_calls, answers)
    return 0, open_calls


def _with_calls(open_calls: OpenCalls, calls: Sequence[str], sequence: int) -> dict[str, tuple[int, ...]]:
    opened = dict(open_calls)
    for call in calls:
        opened[call] = (*opened.get(call, ()), sequence)
    return opened


def _close_newest(open_calls: OpenCalls, call: str) -> tuple[int, OpenCalls]:
    *earlier, newest = open_calls[call]
    remaining = dict(open_calls)
    if earlier:
        remaining[call] = tuple(earlier)
    else:
        del remaining[call]
    return newest, remaining


def _drop_surplus(opened: dict[str, tuple[int, ...]]) -> OpenCalls:
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
