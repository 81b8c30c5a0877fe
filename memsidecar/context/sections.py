"""Items of a context section, how a section is filled up to its limit, and the cache of token counts."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from memsidecar.context.window import WindowMessage, WindowUnit
from memsidecar.domain.fact import ScoreBreakdown
from memsidecar.domain.message import Role
from memsidecar.domain.text import truncate_to_sentences
from memsidecar.tokens.contract import Counter, independent_lines
from memsidecar.v1.context_pb2 import INCLUSION_BEYOND_TOP_K, INCLUSION_OVER_SECTION, Inclusion, Section

UNCOUNTED = -1
"Counting is the most expensive step here, so an item is counted when its count is first needed."

CountTokens = Callable[[str], int]

_MAX_EXPANDED_FRACTION, _MAX_PREFERRED_FRACTION = 3, 2
"An item whose expanded form takes more than a third (a half) of its section is shown without its neighbours."

MAX_CACHED_COUNTS = 65_536
_MIN_CACHED_CHARACTERS = 16
"Counting a shorter text is quicker than a cache lookup."
_MAX_CACHED_LINES = 512
"A text of more lines, or of very short ones, is counted as a whole."

_EPOCH = date(1970, 1, 1)
_MAX_CACHED_DAYS = 1024
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


class Line(NamedTuple):
    """What is shown of one session as one line. Lines of a session and a day share a heading with the date."""

    text: str
    session: int
    time_us: int
    sequence: int
    now_us: int

    @property
    def day(self) -> tuple[int, int]:
        return self.session, self.time_us // (_DAY * 1_000_000)

    @property
    def heading(self) -> str:
        return format_date(self.time_us, self.now_us)


FROM_REQUEST, FROM_CLIENT, FROM_PATTERNS = "request", "client", "patterns"
"Origins of items (ItemReceipt.origin). Others are roles of messages, and what made a fact or a summary."
ROLE_ORIGINS = {int(role): role.name.lower() for role in Role}


class Item(NamedTuple):
    """A candidate of a section. `tokens` is the count of `text` for the model of the request."""

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
    "The text with its neighbours, shown where there is room: a question with its answer."
    prefers_expanded: bool = False
    "The expanded form contains other hits, and takes precedence over less relevant items."
    lines: tuple[Line, ...] = ()
    expanded_lines: tuple[Line, ...] = ()
    "The text as dated lines, for items of several sessions."
    display_order: int = 0
    "Position among the items that are shown; independent of the order in which they were chosen."
    relevance: float = 0.0
    "How likely the item helps with the query. Orders the items of several sections."
    pinned: bool = False
    "The item is shown whatever its section's limit, and never evicted."
    origin: str = ""
    "Where the item comes from, for the receipt."

    @property
    def key(self) -> tuple[str, str]:
        """Ids of messages are unique within a session only."""
        return self.session_id, self.id

    def counted(self, count: Callable[[str], int]) -> "Item":
        return self if self.tokens != UNCOUNTED else self._replace(tokens=count(self.text))

    def whole(self, count: Callable[[str], int]) -> "Item":
        """Return the item in its expanded form."""
        tokens = count(self.expanded)
        return self._replace(
            text=self.expanded, lines=self.expanded_lines, message_ids=self.expanded_ids, tokens=tokens, expanded=""
        )


UNLISTED = Item("", "", tokens=0)
"Placeholder of an omitted item: counted in the receipt, not listed."


class Omission(NamedTuple):
    """An item that is not shown, and the reason."""

    item: Item
    reason: Inclusion


@dataclass(frozen=True, slots=True)
class FilledSection:
    """Items of one section within its own limit, best first, and the items that did not fit."""

    kept: tuple[Item, ...] = ()
    omitted: tuple[Omission, ...] = ()

    @property
    def tokens(self) -> int:
        return sum(item.tokens for item in self.kept)

    def extended(self, more: "FilledSection") -> "FilledSection":
        """Return the section with what more room added to it."""
        return FilledSection((*self.kept, *more.kept), more.omitted)


@dataclass(frozen=True, slots=True)
class Content:
    """All items of a context by section, the older visible turns, and the turn under way."""

    sections: Mapping[Section, tuple[Item, ...]]
    older: tuple[tuple[WindowUnit, ...], ...] = ()
    current: tuple[WindowUnit, ...] = ()

    @property
    def messages(self) -> list[WindowMessage]:
        """Return the messages of the conversation in their order."""
        found = [message for turn in (*self.older, self.current) for unit in turn for message in unit.messages]
        return sorted(found, key=lambda message: message.sequence)

    def with_section(self, section: Section, items: tuple[Item, ...]) -> "Content":
        return replace(self, sections={**self.sections, section: items})


def displayed(items: Iterable[Item]) -> list[Item]:
    """Return the items in the order in which they are shown."""
    return sorted(items, key=lambda item: item.display_order)


def fill(candidates: Iterable[Item], tokens: int, items: int, count: CountTokens) -> FilledSection:
    """Fill the section in the given order. An item that does not fit is skipped; a smaller one after it may fit."""
    kept: list[Item] = []
    omitted: list[Omission] = []
    left = tokens
    for item in candidates:
        if item.pinned:
            fitting: Item | None = item.counted(count)
        elif len(kept) < items:
            fitting = _shorten_to_fit(_expand(item, tokens, count), left, tokens, count)
        else:
            fitting = None
        if fitting is not None:
            kept.append(fitting)
            left -= fitting.tokens
        elif len(kept) < items:
            omitted.append(Omission(item, INCLUSION_OVER_SECTION))
        else:
            omitted.append(Omission(item, INCLUSION_BEYOND_TOP_K))
    return FilledSection(tuple(kept), tuple(omitted))


def _expand(item: Item, tokens: int, count: CountTokens) -> Item:
    """Return the expanded form if it leaves room for other items.

    Each item is decided by itself, so that fewer items never cost more tokens.
    """
    fraction = _MAX_PREFERRED_FRACTION if item.prefers_expanded else _MAX_EXPANDED_FRACTION
    if not item.expanded or count(item.expanded) * fraction > tokens:
        return item.counted(count)
    return item.whole(count)


def fill_from_start(items: Iterable[Item], tokens: int, count: CountTokens) -> FilledSection:
    """Fill the section with the sentences of one text, up to the first that does not fit."""
    kept: list[Item] = []
    left = tokens
    for item in items:
        counted = item.counted(count)
        left -= counted.tokens
        if left < 0:
            break
        kept.append(counted)
    return FilledSection(tuple(kept))


def _shorten_to_fit(item: Item, left: int, section_tokens: int, count: CountTokens) -> Item | None:
    """Return the item if it fits, the first half or more of an item larger than the whole section, else None.

    Several messages are shown together or not at all: the last one may correct the first.
    """
    if item.tokens <= left:
        return item
    if item.tokens <= section_tokens or 2 * left < item.tokens or len(item.message_ids) > 1:
        return None
    text = truncate_to_sentences(item.text, left, count)
    tokens = count(text)
    lines = tuple(line._replace(text=text) for line in item.lines[:1])
    return item._replace(text=text, lines=lines, tokens=tokens, shortened=True) if 2 * tokens >= item.tokens else None


class TokenCountCache:
    """LRU cache of token counts, keyed by a digest of the text, so that no user text stays in it. Thread-safe.

    A new text is counted by its lines where they add up: contexts for other questions have other memories, but each
    memory is the same line in all of them. That is five times as fast as counting a new context.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: OrderedDict[tuple[Counter, bytes], int] = OrderedDict()

    def by(self, counter: Counter) -> CountTokens:
        def count(text: str) -> int:
            if len(text) < _MIN_CACHED_CHARACTERS:
                return counter.count(text)
            key = (counter, blake2b(text.encode(), digest_size=16).digest())
            tokens = self._get(key)
            if tokens is None:
                lines = independent_lines(text) if counter.adds_lines else [text]
                is_cached = 1 < len(lines) <= min(_MAX_CACHED_LINES, len(text) // _MIN_CACHED_CHARACTERS)
                tokens = sum(map(count, lines)) if is_cached else counter.count(text)
                self._put(key, tokens)
            return tokens

        return count

    def _get(self, key: tuple[Counter, bytes]) -> int | None:
        with self._lock:
            tokens = self._counts.get(key)
            if tokens is not None:
                self._counts.move_to_end(key)
            return tokens

    def _put(self, key: tuple[Counter, bytes], tokens: int) -> None:
        with self._lock:
            self._counts[key] = tokens
            while len(self._counts) > MAX_CACHED_COUNTS:
                self._counts.popitem(last=False)


def format_date(then_us: int, now_us: int) -> str:
    """Return date (UTC) and age, "2026-10-03, 6 weeks ago"; of the last 24 hours the age alone."""
    age = format_age(then_us, now_us)
    if now_us - then_us < _DAY * 1_000_000:
        return age
    return f"{_iso_date(then_us // (_DAY * 1_000_000))}, {age}"


@lru_cache(_MAX_CACHED_DAYS)
def _iso_date(day: int) -> str:
    return (_EPOCH + timedelta(days=day)).isoformat()


def format_age(then_us: int, now_us: int) -> str:
    """Return the age in whole units of the largest that fits. A time in the future (clock skew) is "just now"."""
    seconds = (now_us - then_us) // 1_000_000
    for name, length in _UNITS:
        if seconds >= length:
            number = seconds // length
            return f"{number} {name}{'s' if number > 1 else ''} ago"
    return "just now"
