"""Embedder protocol, its errors, unit vectors."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memsidecar.domain.errors import SidecarError

Vectors = NDArray[np.float32]


class EmbedderUnavailable(SidecarError):
    """No vectors now; the same call may succeed later. Never leaves the layers: a search is degraded instead."""


class EmbedderMismatch(SidecarError):
    """The embedder responds, but not as configured (other dimensions, for example); a retry does not help."""


class InvalidEmbedder(ValueError):
    """The settings describe no usable embedder. The message contains no key."""


class Embedder(Protocol):
    """Converts texts to vectors, by one model.

    Promises: thread-safe. The same text always has the same vector, whatever else is embedded before or beside it.
    `embed` raises EmbedderUnavailable or EmbedderMismatch and nothing else. A text that is too long for the model is
    embedded by its beginning. The vector is zeros for a text without known tokens, and for a text that the model
    rejects although it accepts others: such a text is found by its words only.
    """

    @property
    def identity(self) -> str:
        """Name of the vector space. Embedders of the same identity give the same vectors. Vectors of different
        identities are not comparable.
        """

    @property
    def dimensions(self) -> int: ...

    @property
    def batch_size(self) -> int:
        """Number of texts that `embed` processes at once, in a request or in a millisecond of CPU. Background tasks
        yield the CPU after so many.
        """

    @property
    def unrelated_cosine(self) -> float:
        """The cosine of a query and a text that have nothing in common; a ranking counts what exceeds it. 0 if it is
        not known, or as small as the noise.
        """

    @property
    def ready(self) -> bool:
        """Whether `embed` responds at once; else the first call loads the model."""

    def warm(self) -> None:
        """Load the model, if it is not loaded; a second caller waits for the first."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, in order: of length 1, or zeros."""


class Embedders(Protocol):
    """The embedders of one sidecar."""

    default: Embedder
    """The configured one."""

    def of_identity(self, identity: str) -> Embedder | None:
        """Return the embedder that made the vectors of an older index; None if it is unknown."""

    def interactive(self, embedder: Embedder) -> Embedder:
        """Return a variant for a waiting caller: the same vectors, one attempt and a short timeout.

        It raises EmbedderUnavailable instead of waiting.
        """

    def for_queries(self, embedder: Embedder) -> Embedder:
        """Return a variant for a waiting caller whose texts are queries. Some models embed these differently."""


def unit_rows(rows: Vectors) -> Vectors:
    """Return each row scaled to length 1; zeros stay zeros. A row's result does not depend on other rows, to the bit.

    Squares are computed in float64, where those of any float32 are neither infinite nor zero.
    """
    lengths: NDArray[np.float64] = np.sqrt(np.add.reduce(np.square(rows, dtype=np.float64), axis=1))
    lengths[lengths == 0] = 1
    return (rows / lengths[:, np.newaxis]).astype(np.float32)


_MAX_UNRELATED_COSINE = 0.9
# Each question has nothing to do with any of the statements.
_UNRELATED_QUESTIONS = (
    "Where did they spend their holidays?",
    "Which database does the billing service use?",
    "What instrument does her brother play?",
    "How long does the nightly backup take?",
)
_UNRELATED_STATEMENTS = (
    "That sounds great, thanks! The soup only needs a little more salt.",
    "I planted three apple trees behind the garage last week.",
    "Yes, we can take the train to the airport together.",
    "Sorry, I could not find my glasses anywhere.",
)


def measure_unrelated_cosine(
    embed: Callable[[str], Vectors], query_prompt: str = "", document_prompt: str = ""
) -> float:
    """Return the largest cosine that a model gives to a question and a statement of different subjects."""
    queries = [embed(query_prompt + text) for text in _UNRELATED_QUESTIONS]
    documents = [embed(document_prompt + text) for text in _UNRELATED_STATEMENTS]
    cosines = unit_rows(np.stack(queries)) @ unit_rows(np.stack(documents)).T
    return round(min(max(float(cosines.max()), 0.0), _MAX_UNRELATED_COSINE), 2)
