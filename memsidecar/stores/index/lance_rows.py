"""Episodes as rows of LanceDB, and back."""

from typing import Any

import numpy as np
import pyarrow as pa

from memsidecar.stores.contract.index import Episodes, Floats

NUMBERS = ("lsn", "sequence", "written", "shelf", "session", "time_us")
COLUMNS = [*NUMBERS, "role", "score", "name", "words", "vector"]


def schema(dimensions: int) -> Any:
    return pa.schema(
        [
            *(pa.field(name, pa.int64(), nullable=False) for name in NUMBERS),
            pa.field("role", pa.int8(), nullable=False),
            pa.field("score", pa.float32(), nullable=False),
            pa.field("name", pa.utf8(), nullable=False),
            pa.field("words", pa.utf8(), nullable=False),
            # No vector is null and not zeros: so it is near to nothing, with an index and without, and needs no filter.
            pa.field("vector", pa.list_(pa.field("item", pa.float32()), dimensions), nullable=True),
        ]
    )


def rows(episodes: Episodes) -> Any:
    columns = [
        *(pa.array(np.asarray(getattr(episodes, name), np.int64)) for name in NUMBERS),
        pa.array(np.asarray(episodes.role, np.int8)),
        pa.array(np.asarray(episodes.score, np.float32), from_pandas=False),
        pa.array(episodes.name, pa.utf8()),
        pa.array(episodes.words, pa.utf8()),
        _vectors(episodes.vectors),
    ]
    return pa.Table.from_arrays(columns, schema=schema(episodes.vectors.shape[1]))


def _vectors(vectors: Floats) -> Any:
    lengths = np.einsum("ij,ij->i", vectors, vectors)
    none = ~((lengths > 0) & np.isfinite(lengths))
    kept = np.where(none[:, None], np.float32(0), vectors).astype(np.float32, copy=False)
    kind = pa.list_(pa.field("item", pa.float32()), vectors.shape[1])
    return pa.FixedSizeListArray.from_arrays(pa.array(kept.ravel()), type=kind, mask=pa.array(none))


def episodes(table: Any, dimensions: int) -> Episodes:
    numbers = {name: table[name].to_numpy() for name in (*NUMBERS, "role", "score")}
    return Episodes(
        **numbers,
        name=table["name"].to_pylist(),
        words=table["words"].to_pylist(),
        vectors=_matrix(table["vector"], dimensions),
    )


def _matrix(column: Any, dimensions: int) -> Floats:
    """Zeros where there is none."""
    matrix = np.zeros((len(column), dimensions), np.float32)
    there = column.is_valid().to_numpy()
    matrix[there] = column.combine_chunks().flatten().to_numpy().reshape(-1, dimensions)
    return matrix


def table_of(batch: Any) -> Any:
    return pa.Table.from_batches([batch])


def joined(parts: list[Any], dimensions: int) -> Any:
    return pa.concat_tables(parts) if parts else schema(dimensions).empty_table()


def sorted_by(table: Any, *keys: tuple[str, str]) -> Any:
    return table.sort_by(list(keys)) if table.num_rows > 1 else table
