"""The same rows in the alternatives, used as their documentation shows: LanceDB alone, and Chroma.

Both get the vector of the query, which the sidecar has to compute first, and neither is called over a network.
"""

from collections.abc import Sequence
from datetime import timedelta
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.index import FTS, BTree
from numpy.typing import NDArray

from benchmarks.retrieval.corpus import Turn

LIMIT = 20
_AT_ONCE = 5_000

Vectors = NDArray[np.float32]


class Side(Protocol):
    """Alternative store that answers the same queries as the sidecar."""

    name: str

    def search(self, user: str, text: str, vector: Vectors) -> int:
        """Return the number of hits."""


class BareLance:
    """Flat vector and full-text search, 20 hits each, of one user; compacted, with indexes on text and user."""

    name = "bare LanceDB"

    def __init__(self, folder: Path, turns: Sequence[Turn], vectors: Vectors) -> None:
        database: Any = lancedb.connect(folder)
        self._table: Any = database.create_table("messages", _rows(turns[:_AT_ONCE], vectors[:_AT_ONCE]))
        for start in range(_AT_ONCE, len(turns), _AT_ONCE):
            self._table.add(_rows(turns[start : start + _AT_ONCE], vectors[start : start + _AT_ONCE]))
        self._table.optimize()
        self._table.create_index("user", config=BTree())
        self._table.create_index("text", config=FTS())
        self._table.optimize(cleanup_older_than=timedelta(milliseconds=1), delete_unverified=True)

    def search(self, user: str, text: str, vector: Vectors) -> int:
        where = f"user = '{user}'"
        near = self._table.search(vector).where(where, prefilter=True).select(["id", "text", "_distance"])
        words = self._table.search(text, query_type="fts", fts_columns="text")
        matching = words.where(where, prefilter=True).select(["id", "text", "_score"])
        return len({row["id"] for some in (near, matching) for row in some.limit(LIMIT).to_list()})


def _rows(turns: Sequence[Turn], vectors: Vectors) -> Any:
    return pa.table(
        {
            "id": [turn.id for turn in turns],
            "user": [turn.user for turn in turns],
            "session": [turn.session for turn in turns],
            "text": [turn.text for turn in turns],
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1]),
        }
    )


class Chroma:
    """Vector search with a filter on the user; optional, because its packages take half a gigabyte."""

    name = "Chroma"

    def __init__(self, folder: Path, turns: Sequence[Turn], vectors: Vectors) -> None:
        chromadb = import_module("chromadb")
        settings = chromadb.config.Settings(anonymized_telemetry=False)
        client = chromadb.PersistentClient(path=str(folder), settings=settings)
        self._rows = client.create_collection("messages", metadata={"hnsw:space": "cosine"}, embedding_function=None)
        for start in range(0, len(turns), _AT_ONCE):
            some = turns[start : start + _AT_ONCE]
            self._rows.add(
                ids=[turn.id for turn in some],
                embeddings=vectors[start : start + _AT_ONCE],
                documents=[turn.text for turn in some],
                metadatas=[{"user": turn.user} for turn in some],
            )

    @staticmethod
    def is_installed() -> bool:
        return find_spec("chromadb") is not None

    def search(self, user: str, text: str, vector: Vectors) -> int:  # noqa: ARG002
        found = self._rows.query(query_embeddings=vector[None, :], where={"user": user}, n_results=LIMIT)
        return len(found["ids"][0])
