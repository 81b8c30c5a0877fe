"""Evidence recall of a ranking: the share of the messages that answer a question among the first k hits.

The ranking is the sidecar's, called in this process, so that it can be varied quickly.
"""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace

import numpy as np

from benchmarks.retrieval.histories import History, LabelledQuestion
from memsidecar.embedding.contract import Embedder, Vectors
from memsidecar.embedding.onnx import OnnxEmbedder, OnnxModel
from memsidecar.layers.episodic.index_batch import BatchEmbedder, episodes_of
from memsidecar.layers.episodic.partition import Partition
from memsidecar.layers.episodic.query import (
    AnalyzedQuery,
    Mode,
    SearchQuery,
    SearchScope,
    Weights,
    analyze_query,
    remove_names,
)
from memsidecar.layers.episodic.ranking import Ranking

DEPTHS = (5, 10, 20)
EVERYTHING = SearchScope("bench")
_RRF_CONSTANT = 60
_RRF_DEPTH = 200

Recall = Mapping[int, Sequence[float]]
"By depth: for each question, the share of its evidence that was found."


class CachingOnnxEmbedder(OnnxEmbedder):
    """Keeps the vectors of all texts, because histories and their pieces are asked the same questions."""

    def __init__(self, model: OnnxModel, prompt: str, token_limit: int | None = None) -> None:
        super().__init__(model, prompt, token_limit)
        self._vectors: dict[str, Vectors] = {}
        is_query = prompt == model.config.query_prompt
        self._queries = self if is_query else CachingOnnxEmbedder(model, model.config.query_prompt)

    def embed(self, texts: Sequence[str]) -> Vectors:
        missing = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        self._vectors |= zip(missing, super().embed(missing), strict=True)
        return np.array([self._vectors[text] for text in texts], np.float32).reshape(len(texts), self.dimensions)

    def for_queries(self) -> OnnxEmbedder:
        return self._queries


@dataclass(frozen=True)
class IndexedHistory:
    """A history in its partition, with its questions and their vectors."""

    history: History
    partition: Partition
    queries: Sequence[AnalyzedQuery]

    @classmethod
    def of(cls, history: History, embedder: Embedder) -> "IndexedHistory":
        partition = Partition(embedder.dimensions)
        partition.load([episodes_of(history.rows, BatchEmbedder(embedder)(history.rows))])
        return cls(history, partition, [analyzed(partition, question.text, embedder) for question in history.questions])

    def labelled_queries(self) -> Iterator[tuple[LabelledQuestion, AnalyzedQuery]]:
        return zip(self.history.questions, self.queries, strict=True)

    def found(self, query: AnalyzedQuery, search_query: SearchQuery, depth: int) -> list[str]:
        """Return the ids of the hits, best first."""
        best = Ranking([self.partition], query, search_query, EVERYTHING).best(depth, 0.0)
        return [self.history.ids[pointer.lsn - 1] for pointer in best]


def analyzed(partition: Partition, text: str, embedder: Embedder) -> AnalyzedQuery:
    """Return the query as `layers.episodic.search` analyzes it."""
    query = analyze_query(SearchQuery(text), partition.speaker_words, None)
    for_queries = embedder.for_queries() if isinstance(embedder, OnnxEmbedder) else embedder
    (vector,) = for_queries.embed([remove_names(text, query.names)])
    return replace(
        query,
        vector=vector if vector.any() else None,
        embedder=embedder.identity,
        unrelated_cosine=embedder.unrelated_cosine,
    )


Ask = Callable[[IndexedHistory, AnalyzedQuery, LabelledQuestion], list[str]]


def weighted(weights: Weights | None = None, mode: Mode = Mode.HYBRID) -> Ask:
    def ask(indexed_history: IndexedHistory, query: AnalyzedQuery, question: LabelledQuestion) -> list[str]:
        return indexed_history.found(query, SearchQuery(question.text, mode, weights=weights or Weights()), max(DEPTHS))

    return ask


def with_names(embedder: Embedder, mode: Mode) -> Ask:
    """Keep speakers' names in the text of the query vector."""

    def ask(indexed_history: IndexedHistory, query: AnalyzedQuery, question: LabelledQuestion) -> list[str]:
        (vector,) = embedder.embed([question.text])
        return indexed_history.found(replace(query, vector=vector), SearchQuery(question.text, mode), max(DEPTHS))

    return ask


def reciprocal_ranks(indexed_history: IndexedHistory, query: AnalyzedQuery, question: LabelledQuestion) -> list[str]:
    """Rank by reciprocal rank fusion (RRF) of two lists, the usual hybrid search."""
    scores: dict[str, float] = {}
    for mode in (Mode.KEYWORD, Mode.SEMANTIC):
        for rank, name in enumerate(indexed_history.found(query, SearchQuery(question.text, mode), _RRF_DEPTH), 1):
            scores[name] = scores.get(name, 0.0) + 1 / (_RRF_CONSTANT + rank)
    return sorted(scores, key=lambda name: -scores[name])[: max(DEPTHS)]


@dataclass(frozen=True)
class Variant:
    """A ranking to compare: its query, and the code changes during it."""

    name: str
    ask: Ask
    altered: Callable[[], AbstractContextManager[object]] = field(default=nullcontext)

    @property
    def needs_own_partitions(self) -> bool:
        return self.altered is not nullcontext


def recall_of(indexed_histories: Sequence[IndexedHistory], ask: Ask, kind: str | None = None) -> Recall:
    """Return the recall of all questions, or of one kind."""
    rows = [
        (question.evidence, ask(indexed_history, query, question))
        for indexed_history in indexed_histories
        for question, query in indexed_history.labelled_queries()
        if kind in (None, question.kind)
    ]
    return {depth: [len(wanted & set(found[:depth])) / len(wanted) for wanted, found in rows] for depth in DEPTHS}


def difference(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float]:
    """Return the mean difference over the same questions, and its standard error; within two it may be chance."""
    each = [a - b for a, b in zip(ours, theirs, strict=True)]
    error = statistics.stdev(each) / len(each) ** 0.5 if len(each) > 1 else 0.0
    return statistics.fmean(each), error


def measured(histories: Sequence[History], variants: Sequence[Variant], embedder: Embedder) -> list[Recall]:
    """Return the recall of each variant. Variants that differ only in the query share partitions."""
    shared = [IndexedHistory.of(history, embedder) for history in histories]
    return [_measured(histories, variant, shared, embedder) for variant in variants]


def _measured(
    histories: Sequence[History], variant: Variant, shared: Sequence[IndexedHistory], embedder: Embedder
) -> Recall:
    with variant.altered():
        own = [IndexedHistory.of(history, embedder) for history in histories if variant.needs_own_partitions]
        return recall_of(own or shared, variant.ask)
