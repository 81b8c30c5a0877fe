"""Conversations to prune: builders of messages, and generated windows."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hypothesis import strategies as st

from memsidecar.domain.message import Flag, Role, StoredMessage
from memsidecar.domain.pruning import Removal, RemovalCriteria, WindowView, link_exchange, plan_removal
from memsidecar.domain.session import Strategy


@dataclass(frozen=True)
class WindowEntry:
    role: Role
    tokens: int = 10
    calls: tuple[str, ...] = ()
    answers: str = ""
    flags: int = 0
    score: float | None = None


def system(tokens: int = 10) -> WindowEntry:
    return WindowEntry(Role.SYSTEM, tokens)


def user(tokens: int = 10, flags: int = 0) -> WindowEntry:
    return WindowEntry(Role.USER, tokens, flags=flags)


def assistant(tokens: int = 10, score: float | None = None) -> WindowEntry:
    return WindowEntry(Role.ASSISTANT, tokens, score=score)


def call(*ids: str, tokens: int = 10) -> WindowEntry:
    return WindowEntry(Role.ASSISTANT, tokens, calls=ids)


def answer(call_id: str, tokens: int = 10) -> WindowEntry:
    return WindowEntry(Role.TOOL, tokens, answers=call_id)


def window_of(entries: Iterable[WindowEntry]) -> list[StoredMessage]:
    messages: list[StoredMessage] = []
    open_calls: Mapping[str, tuple[int, ...]] = {}
    for sequence, entry in enumerate(entries, start=1):
        exchange, open_calls = link_exchange(open_calls, entry.calls, entry.answers, sequence)
        messages.append(
            StoredMessage(sequence, entry.role, entry.tokens, exchange, entry.flags, entry.score, sequence, b"")
        )
    return messages


class CountingMessages:
    """An iterable that counts how many of its messages were read."""

    def __init__(self, messages: Iterable[StoredMessage]) -> None:
        self._messages = iter(messages)
        self.read = 0

    def __iter__(self) -> Iterator[StoredMessage]:
        for message in self._messages:
            self.read += 1
            yield message


def ends_of(window: Sequence[StoredMessage]) -> Callable[[int], int]:
    return {message.exchange: message.sequence for message in window}.__getitem__


def view_of(
    window: Sequence[StoredMessage], plan: RemovalCriteria, oldest_first: Iterable[StoredMessage] | None = None
) -> WindowView:
    newest = max(plan.min_messages, plan.window)
    return WindowView(
        message_count=len(window),
        total_tokens=sum(message.tokens for message in window),
        oldest_first=window if oldest_first is None else oldest_first,
        newest=window[-newest:],
        exchange_end=ends_of(window),
        task=max((message.sequence for message in window if message.role == Role.USER), default=0),
    )


def remove(window: Sequence[StoredMessage], plan: RemovalCriteria) -> Removal:
    return plan_removal(view_of(window, plan), plan)


def left_after(window: Sequence[StoredMessage], plan: RemovalCriteria) -> list[StoredMessage]:
    gone = set(remove(window, plan).sequences)
    return [message for message in window if message.sequence not in gone]


def kept(window: Sequence[StoredMessage], plan: RemovalCriteria) -> list[int]:
    return [message.sequence for message in left_after(window, plan)]


# Two turns with two calls each, tied together by a third turn while a call of each is still open.
TIED_TURNS = window_of(
    [
        *(user(), call("a"), call("b")),
        *(user(), call("c"), call("d")),
        *(user(), answer("a"), answer("c")),
        *(user(), answer("b")),
        *(user(), assistant()),
        *(user(), answer("d")),
        *(user(), assistant()),
    ]
)


_ids = st.sampled_from(["a", "b", "c"])
_tokens = st.integers(0, 30)
_flags = st.sampled_from([Flag.NONE, Flag.IMPORTANT, Flag.QUESTION])
_scores = st.none() | st.floats(0, 10)
_said = st.one_of(
    st.builds(
        WindowEntry, st.sampled_from([Role.SYSTEM, Role.USER, Role.ASSISTANT]), _tokens, flags=_flags, score=_scores
    ),
    st.builds(WindowEntry, st.just(Role.ASSISTANT), _tokens, calls=st.lists(_ids, min_size=1, max_size=3).map(tuple)),
    st.builds(WindowEntry, st.just(Role.TOOL), _tokens, answers=_ids),
)


@st.composite
def windows(draw: st.DrawFn) -> list[StoredMessage]:
    """Generate windows with parallel, unanswered and reused calls, orphans, and gaps in the sequences."""
    messages = window_of(draw(st.lists(_said, max_size=30)))
    gone = draw(st.sets(st.integers(1, 30), max_size=5))
    return [message for message in messages if message.sequence not in gone]


plans = st.builds(
    RemovalCriteria,
    strategy=st.sampled_from(Strategy),
    max_tokens=st.integers(1, 400),
    window=st.integers(1, 12),
    min_messages=st.integers(0, 6),
)


def plans_of(*strategies: Strategy) -> st.SearchStrategy[RemovalCriteria]:
    return plans.filter(lambda plan: plan.strategy in strategies)
