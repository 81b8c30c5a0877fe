"""Items, Content, fill one section; token-count cache; ages."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from memsidecar.context.budgets import SectionLimit
from memsidecar.domain.fact import ScoreBreakdown
from memsidecar.domain.text import truncate_to_sentences
from memsidecar.tokens.contract import Counter
from memsidecar.v1.context_pb2 import INCLUSION_BEYOND_TOP_K, INCLUSION_OVER_SECTION, Inclusion

UNCOUNTED = -1
"Counting costs more than all else here, so an item is counted when somebody needs to know."

CountTokens = Callable[[str], int]

_SHARES = 3
"An item that takes more than one of so many shares of its section is shown without what belongs to it."

MAX_CACHED_COUNTS = 65_536
_WORTH_REMEMBERING = 32
"Characters; a shorter text is counted sooner than looked up."

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_UNITS = (
    ("year", 365 * _DAY),
    ("month", 30 * _DAY),
    ("week", 7 * _DAY),
    ("day", _DAY),
    ("hour", _HOUR),
    ("minute", _MINUTE),
)


class Item(NamedTuple):
    """Something that fits into a section or does not; `tokens` are of its text, by the context's counter."""

    id: str
    text: str
    tokens: int = UNCOUNTED
    message_ids: tuple[str, ...] = ()
    session_id: str = ""
    score: float = 0.0
    parts: ScoreBreakdown | None = None
    shortened: bool = False
    expanded: str = ""
    expanded_ids: tuple[str, ...] = ()
    "The same with what belongs to it, where there is room: a question with its answer."
    display_order: int = 0
    "Where it stands among those that are shown, whatever the order in which they were chosen."

    def counted(self, count: Callable[[str], int]) -> "Item":
        return self if self.tokens != UNCOUNTED else self._replace(tokens=count(self.text))


UNLISTED = Item("", "", tokens=0)
"Something that was left out and is counted, but not listed."


class Omission(NamedTuple):
    item: Item
    reason: Inclusion


@dataclass(frozen=True, slots=True)
class FilledSection:
    """What a section would show if nothing else were in the way, best first, and what it does not."""

    kept: tuple[Item, ...] = ()
    omitted: tuple[Omission, ...] = ()

    @property
    def tokens(self) -> int:
        return sum(item.tokens for item in self.kept)


def fill(candidates: Iterable[Item], cap: SectionLimit, count: CountTokens) -> FilledSection:
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
    return FilledSection(tuple(kept), tuple(omitted))


def _lengthened(item: Item, cap: SectionLimit, count: CountTokens) -> Item:
    """With what belongs to it, if that leaves room for others. Decided for each by itself, so that fewer items are
    never more tokens."""
    if not item.expanded or count(item.expanded) * _SHARES > cap.tokens:
        return item.counted(count)
    return item._replace(text=item.expanded, message_ids=item.expanded_ids, tokens=count(item.expanded))


def fill_from_start(items: Iterable[Item], cap: SectionLimit, count: CountTokens) -> FilledSection:
    """A text by its sentences: up to where the first one does not fit, and nothing behind it."""
    kept: list[Item] = []
    left = cap.tokens
    for item in items:
        counted = item.counted(count)
        left -= counted.tokens
        if left < 0:
            break
        kept.append(counted)
    return FilledSection(tuple(kept))


def _fitting(item: Item, left: int, cap: SectionLimit, count: CountTokens) -> Item | None:
    """The item, or where it is larger than the whole section its beginning, if that is at least half of it."""
    if item.tokens <= left:
        return item
    if item.tokens <= cap.tokens or 2 * left < item.tokens:
        return None
    text = truncate_to_sentences(item.text, left, count)
    tokens = count(text)
    return item._replace(text=text, tokens=tokens, shortened=True) if 2 * tokens >= item.tokens else None


class TokenCountCache:
    """What texts cost, by a print of them: none of what was said stays here. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, bytes], int] = OrderedDict()

    def by(self, counter: Counter) -> Callable[[str], int]:
        def count(text: str) -> int:
            if len(text) < _WORTH_REMEMBERING:
                return counter.count(text)
            key = (counter.name, blake2b(text.encode(), digest_size=16).digest())
            with self._lock:
                known = self._known.get(key)
                if known is not None:
                    self._known.move_to_end(key)
                    return known
            tokens = counter.count(text)
            with self._lock:
                self._known[key] = tokens
                while len(self._known) > MAX_CACHED_COUNTS:
                    self._known.popitem(last=False)
            return tokens

        return count


def format_age(then_us: int, now_us: int) -> str:
    """Whole units of the largest that fits; what lies ahead, by a clock that is wrong, is "just now"."""
    seconds = (now_us - then_us) // 1_000_000
    for name, length in _UNITS:
        if seconds >= length:
            number = seconds // length
            return f"{number} {name}{'s' if number > 1 else ''} ago"
    return "just now"
