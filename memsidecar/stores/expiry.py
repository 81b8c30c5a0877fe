"""The boundaries of a retention: where the items that exceed its limits end."""

from bisect import bisect_left
from collections.abc import Callable, Sequence

from memsidecar.stores.contract import ExpiredMessages, ExpiryQuery

Place = tuple[int, str]
"The time and id of a record or document."
BEGINNING: Place = (-(1 << 63), "")


def message_boundary(query: ExpiryQuery, oldest_kept: int, age_boundary: Callable[[int], int]) -> int:
    """Return the sequence below which messages exceed the limits.

    `oldest_kept` is the sequence of the oldest message within the limit on their number, 0 if none is beyond it.
    `age_boundary` finds the first message of at least a time.
    """
    return oldest_kept if query.cutoff_us is None else max(oldest_kept, age_boundary(query.cutoff_us))


def find_age_boundary(last_sequence: int, cutoff_us: int, commit_time_up_to: Callable[[int], int]) -> int:
    """Find the first sequence of at least this time by bisection, most often after two reads.

    `commit_time_up_to` returns the commit time of the newest message up to a sequence, 0 if there is none.
    """
    if not last_sequence:
        return 0
    return 1 + bisect_left(range(1, last_sequence + 1), cutoff_us, key=commit_time_up_to)


def expired_page(
    found: Sequence[tuple[int, int]], find_exchanges: Callable[[Sequence[int]], Sequence[int]], limit: int
) -> ExpiredMessages:
    """Return a page of messages, given as (sequence, exchange), with all messages of their exchanges."""
    exchanges = sorted({exchange for _, exchange in found if exchange})
    parts = find_exchanges(exchanges) if exchanges else []
    sequences = {sequence for sequence, _ in found}.union(parts)
    return ExpiredMessages(sorted(sequences), found[-1][0] if len(found) == limit else 0)


def expiry_bound(query: ExpiryQuery, oldest_kept: Place | None) -> Place | None:
    """Return the place before which records or documents exceed the limits; None if none does."""
    bounds = [oldest_kept] if oldest_kept else []
    bounds += [(query.cutoff_us, "")] if query.cutoff_us is not None else []
    return max(bounds, default=None)
