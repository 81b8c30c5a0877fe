"""Filling one section: candidates best first, as many as its cap has room for."""

from collections.abc import Callable, Iterable

from memsidecar.context.caps import Cap
from memsidecar.context.item import Filled, Item, Omission
from memsidecar.domain.text import cut
from memsidecar.v1.context_pb2 import INCLUSION_BEYOND_TOP_K, INCLUSION_OVER_SECTION

Count = Callable[[str], int]

_SHARES = 3
"An item that takes more than one of so many shares of its section is shown without what belongs to it."


def fill(candidates: Iterable[Item], cap: Cap, count: Count) -> Filled:
    """An item that does not fit is left out, and a smaller one behind it may still come in."""
    kept: list[Item] = []
    omitted: list[Omission] = []
    left = cap.tokens
    for item in candidates:
        fitting = _fitting(_lengthened(item, cap, count), left, cap, count) if len(kept) < cap.items else None
        if fitting is not None:
            kept.append(fitting)
            left -= fitting.tokens
        elif len(kept) < cap.items:
            omitted.append(Omission(item, INCLUSION_OVER_SECTION))
        else:
            omitted.append(Omission(item, INCLUSION_BEYOND_TOP_K))
    return Filled(tuple(kept), tuple(omitted))


def _lengthened(item: Item, cap: Cap, count: Count) -> Item:
    """With what belongs to it, if that leaves room for others. Decided for each by itself, so that fewer items are
    never more tokens."""
    if not item.longer or count(item.longer) * _SHARES > cap.tokens:
        return item.counted(count)
    return item._replace(text=item.longer, message_ids=item.longer_ids, tokens=count(item.longer))


def fill_from_start(items: Iterable[Item], cap: Cap, count: Count) -> Filled:
    """A text by its sentences: up to where the first one does not fit, and nothing behind it."""
    kept: list[Item] = []
    left = cap.tokens
    for item in items:
        counted = item.counted(count)
        left -= counted.tokens
        if left < 0:
            break
        kept.append(counted)
    return Filled(tuple(kept))


def _fitting(item: Item, left: int, cap: Cap, count: Count) -> Item | None:
    """The item, or where it is larger than the whole section its beginning, if that is at least half of it."""
    if item.tokens <= left:
        return item
    if item.tokens <= cap.tokens or 2 * left < item.tokens:
        return None
    text = cut(item.text, left, count)
    tokens = count(text)
    return item._replace(text=text, tokens=tokens, shortened=True) if 2 * tokens >= item.tokens else None
