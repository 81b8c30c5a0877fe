"""The Arrow schema of a table, rows <-> episodes, and the SQL filters."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from memsidecar.stores.contract.index import Episodes, Floats, IndexBatch, TableFilter

INTEGERS = ("lsn", "sequence", "written_lsn", "partition", "session", "time_us")
COLUMNS = [*INTEGERS, "role", "score", "name", "terms", "vector"]
LAYOUT_VERSION = 2
"Changes with the schema. A table of another layout is dropped, and built again from the journal."

# A long filter is slow: on 100,000 rows 400 alternatives take 18 ms, a list of 1,000 numbers takes 6.
MAX_LIST_INTEGERS = 1_000
MAX_ALTERNATIVES = 200

T = TypeVar("T")


def schema(dimensions: int) -> Any:
    return pa.schema(
        [
            *(pa.field(name, pa.int64(), nullable=False) for name in INTEGERS),
            pa.field("role", pa.int8(), nullable=False),
            pa.field("score", pa.float32(), nullable=False),
            pa.field("name", pa.utf8(), nullable=False),
            pa.field("terms", pa.utf8(), nullable=False),
            # An absent vector is null, not zeros: then it is never near to a query, with or without an index.
            pa.field("vector", pa.list_(pa.field("item", pa.float32()), dimensions), nullable=True),
        ]
    )


def rows(episodes: Episodes) -> Any:
    columns = [
        *(pa.array(np.asarray(getattr(episodes, name), np.int64)) for name in INTEGERS),
        pa.array(np.asarray(episodes.role, np.int8)),
        pa.array(np.asarray(episodes.score, np.float32), from_pandas=False),
        pa.array(episodes.name, pa.utf8()),
        pa.array(episodes.terms, pa.utf8()),
        _vectors(episodes.vectors),
    ]
    return pa.Table.from_arrays(columns, schema=schema(episodes.vectors.shape[1]))


def _vectors(vectors: Floats) -> Any:
    lengths = np.einsum("ij,ij->i", vectors, vectors)
    absent = ~((lengths > 0) & np.isfinite(lengths))
    kept = np.where(absent[:, None], np.float32(0), vectors).astype(np.float32, copy=False)
    kind = pa.list_(pa.field("item", pa.float32()), vectors.shape[1])
    return pa.FixedSizeListArray.from_arrays(pa.array(kept.ravel()), type=kind, mask=pa.array(absent))


def episodes(table: Any, dimensions: int) -> Episodes:
    numbers = {name: table[name].to_numpy() for name in (*INTEGERS, "role", "score")}
    return Episodes(
        **numbers,
        name=table["name"].to_pylist(),
        terms=table["terms"].to_pylist(),
        vectors=_matrix(table["vector"], dimensions),
    )


def _matrix(column: Any, dimensions: int) -> Floats:
    """Return the vectors as a matrix, with zeros for absent ones."""
    matrix = np.zeros((len(column), dimensions), np.float32)
    valid = column.is_valid().to_numpy()
    matrix[valid] = column.combine_chunks().flatten().to_numpy().reshape(-1, dimensions)
    return matrix


def table_of(batch: Any) -> Any:
    return pa.Table.from_batches([batch])


def concatenate(parts: list[Any], dimensions: int) -> Any:
    return pa.concat_tables(parts) if parts else schema(dimensions).empty_table()


def sorted_by(table: Any, *keys: tuple[str, str]) -> Any:
    return table.sort_by(list(keys)) if table.num_rows > 1 else table


def filter_sql(table_filter: TableFilter) -> str:
    return " AND ".join(_conditions(table_filter))


def _conditions(table_filter: TableFilter) -> Iterator[str]:
    yield "session < 0" if table_filter.chunks else "session >= 0"
    if table_filter.partition is not None:
        yield f"partition = {int(table_filter.partition)}"
    if table_filter.session is not None:
        yield f"session = {int(table_filter.session)}"
    if table_filter.roles:
        yield f"role IN {_list(table_filter.roles)}"
    if table_filter.after_us is not None:
        yield f"time_us > {int(table_filter.after_us)}"
    if table_filter.before_us is not None:
        yield f"time_us < {int(table_filter.before_us)}"


def with_lsns(lsns: Iterable[int]) -> list[str]:
    return _filters(f"lsn IN {_list(some)}" for some in _portions(sorted(set(lsns)), MAX_LIST_INTEGERS))


def at_positions(positions: Sequence[tuple[int, int]]) -> list[str]:
    """Return filters for these (session, sequence)."""
    return _filters(_pairs("session", "sequence", positions))


def deletions(batch: IndexBatch) -> list[str]:
    """Return filters for the rows that a batch deletes. A row that is inserted again is deleted only if it is older.

    So a batch that is applied again deletes nothing, and a crash at any moment loses no row.
    """
    before = zip(batch.deleted_before, batch.deleted_sessions, strict=True)
    replaced = _replaced(batch)
    deleted = [key for key in batch.deleted_episodes if key not in replaced]
    return _filters(
        [
            *(f"session IN {_list(sessions)} AND written_lsn < {bound}" for bound, sessions in _grouped(before)),
            *_pairs("lsn", "sequence", deleted),
            *_pairs("session", "sequence", batch.deleted_positions),
            *(f"lsn = {lsn} AND sequence = {seq} AND written_lsn < {by}" for (lsn, seq), by in replaced.items()),
        ]
    )


def _replaced(batch: IndexBatch) -> dict[tuple[int, int], int]:
    """Return the episodes that are inserted again, each with its new `written_lsn`."""
    if batch.episodes is None:
        return {}
    keys = {(int(lsn), int(sequence)) for lsn, sequence in batch.deleted_episodes}
    rows = zip(
        batch.episodes.lsn.tolist(),
        batch.episodes.sequence.tolist(),
        batch.episodes.written_lsn.tolist(),
        strict=True,
    )
    return {(lsn, sequence): written_lsn for lsn, sequence, written_lsn in rows if (lsn, sequence) in keys}


def _pairs(first: str, second: str, wanted: Iterable[tuple[int, int]]) -> Iterator[str]:
    return (f"{first} = {value} AND {second} IN {_list(others)}" for value, others in _grouped(wanted))


def _grouped(pairs: Iterable[tuple[int, int]]) -> Iterator[tuple[int, list[int]]]:
    groups: dict[int, set[int]] = defaultdict(set)
    for first, second in pairs:
        groups[int(first)].add(int(second))
    for first, others in sorted(groups.items()):
        for some in _portions(sorted(others), MAX_LIST_INTEGERS):
            yield first, some


def _filters(alternatives: Iterable[str]) -> list[str]:
    return [" OR ".join(f"({condition})" for condition in some) for some in _portions(alternatives, MAX_ALTERNATIVES)]


def _portions(items: Iterable[T], size: int) -> Iterator[list[T]]:
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some


def _list(numbers: Sequence[int]) -> str:
    return "(" + ", ".join(str(int(number)) for number in numbers) + ")"
