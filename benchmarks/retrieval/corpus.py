"""Synthetic message history: deterministic for a size, with the word distribution of natural text.

Words are those of the bundled model's tokenizer, which are ordered by frequency, drawn by Zipf's law. One user has most
of the messages, one has a twentieth of them, and many small users have a few each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from memsidecar.embedding.static import BundledModel
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_USER, Message

NAMESPACE = "bench"
MOST, SOME, CROWD = "most", "some", [f"crowd-{n}" for n in range(20)]
SOME_SHARE = 0.05
WORDS = 4_000
SHORTEST, LONGEST = 10, 60
SESSION, CROWD_SESSION = 50, 5
QUERY_RANKS = (60, 2_500)
"Ranks of the words of a question: neither stop words nor very rare words."


@dataclass(frozen=True)
class Turn:
    id: str
    user: str
    session: str
    text: str


@lru_cache(1)
def words() -> Sequence[str]:
    """Return the words, the most frequent first."""
    tokenizer = BundledModel().loaded().tokenizer
    tokens = (tokenizer.id_to_token(number) or "" for number in range(tokenizer.get_vocab_size()))
    begins_word = "\u2581"
    whole = (token[1:] for token in tokens if token.startswith(begins_word))
    plain = [word for word in whole if len(word) > 2 and word.isascii() and word.isalpha() and word.islower()]
    return plain[:WORDS]


def texts(count: int, seed: int = 1) -> list[str]:
    source = np.random.default_rng(seed)
    known = words()
    lengths = source.integers(SHORTEST, LONGEST + 1, count)
    drawn = source.choice(len(known), int(lengths.sum()), p=_zipf(len(known)))
    ends = np.cumsum([0, *lengths])
    return [" ".join(known[word] for word in drawn[start:end]) for start, end in pairwise(ends)]


def _zipf(count: int) -> NDArray[np.float64]:
    weights: NDArray[np.float64] = 1 / np.arange(1, count + 1)
    shares: NDArray[np.float64] = weights / weights.sum()
    return shares


def turns(count: int) -> list[Turn]:
    """Return `count` messages of the two large users and those of the small ones, with interleaved sessions."""
    plan = _sessions(count)
    said = iter(texts(sum(size for _, size in plan)))
    return [
        Turn(f"m-{number}-{at}", user, f"{user}-{number}", next(said))
        for number, (user, size) in enumerate(plan)
        for at in range(size)
    ]


def _sessions(count: int) -> list[tuple[str, int]]:
    """Return user and length of each session."""
    some = round(count * SOME_SHARE)
    plan = [*_split(SOME, some), *_split(MOST, count - some), *((user, CROWD_SESSION) for user in CROWD)]
    return [plan[at] for at in np.random.default_rng(2).permutation(len(plan))]


def _split(user: str, count: int) -> Iterator[tuple[str, int]]:
    for start in range(0, count, SESSION):
        yield user, min(SESSION, count - start)


def batches(some: Sequence[Turn]) -> Iterator[pb.AddBatchRequest]:
    """Yield one request for each session."""
    start = 0
    while start < len(some):
        session = some[start].session
        end = start
        while end < len(some) and some[end].session == session:
            end += 1
        yield pb.AddBatchRequest(
            namespace=NAMESPACE,
            user_id=some[start].user,
            session_id=session,
            messages=[_message(at, turn) for at, turn in enumerate(some[start:end])],
        )
        start = end


def _message(at: int, turn: Turn) -> Message:
    return Message(id=turn.id, role=ROLE_ASSISTANT if at % 2 else ROLE_USER, content=turn.text)


def queries(count: int, seed: int = 3) -> list[str]:
    """Return distinct questions of three to seven words."""
    source = np.random.default_rng(seed)
    low, high = QUERY_RANKS
    known = words()[low:high]
    weights = _zipf(high)[low:]
    sizes = source.integers(3, 8, count)
    shares = weights / weights.sum()
    return [" ".join(known[at] for at in source.choice(len(known), size, False, shares)) for size in sizes]


def searches(user: str, questions: Sequence[str], limit: int) -> Iterator[bytes]:
    for text in questions:
        yield pb.SearchRequest(namespace=NAMESPACE, user_id=user, query=text, limit=limit).SerializeToString()
