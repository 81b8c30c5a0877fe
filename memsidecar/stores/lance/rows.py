"""Arrow schema and rows, SQL filters."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from memsidecar.stores.contract.index import Episodes, Floats, IndexBatch, TableFilter

NUMBERS = ("lsn", "sequence", "written", "shelf", "session", "time_us")
COLUMNS = [*NUMBERS, "role", "score", "name", "words", "vector"]

# A long filter is slow: on 100,000 rows 400 alternatives take 18 ms, a list of 1,000 numbers takes 6.
NUMBERS_IN_A_LIST = 1_000
ALTERNATIVES = 200

T = TypeVar("T")


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
        pa.array(episodes.terms, pa.utf8()),
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
        terms=table["terms"].to_pylist(),
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


def scope(within: TableFilter) -> str:
    """The filter of a search."""
    return " AND ".join(_conditions(within))


def _conditions(within: TableFilter) -> Iterator[str]:
    yield "session < 0" if within.chunks else "session >= 0"
    if within.partition is not None:
        yield f"shelf = {int(within.shelf)}"
    if within.session is not None:
        yield f"session = {int(within.session)}"
    if within.roles:
        yield f"role IN {_list(within.roles)}"
    if within.after_us is not None:
        yield f"time_us > {int(within.after_us)}"
    if within.before_us is not None:
        yield f"time_us < {int(within.before_us)}"


def whole_shelf(number: int, chunks: bool) -> str:
    return scope(TableFilter(partition=number, chunks=chunks))


def any_lsn(lsns: Iterable[int]) -> list[str]:
    return _filters(f"lsn IN {_list(some)}" for some in _portions(sorted(set(lsns)), NUMBERS_IN_A_LIST))


def places(wanted: Sequence[tuple[int, int]]) -> list[str]:
    """Where (session, sequence) is one of these."""
    return _filters(_pairs("session", "sequence", wanted))


def gone(harvest: IndexBatch) -> list[str]:
    """What a harvest takes away. An episode that comes again goes only as far as it is older than what comes.

    So a harvest that is applied again takes nothing away, and there is no moment at which a crash could lose a row.
    """
    before = zip(harvest.deleted_before, harvest.deleted_sessions, strict=True)
    again = _coming_again(harvest)
    for_good = [key for key in harvest.deleted_episodes if key not in again]
    return _filters(
        [
            *(f"session IN {_list(sessions)} AND written < {bound}" for bound, sessions in _grouped(before)),
            *_pairs("lsn", "sequence", for_good),
            *(f"lsn = {lsn} AND sequence = {seq} AND written < {by}" for (lsn, seq), by in again.items()),
        ]
    )


def _coming_again(harvest: IndexBatch) -> dict[tuple[int, int], int]:
    """The changed episodes, and by which entry each comes again."""
    if harvest.episodes is None:
        return {}
    named = {(int(lsn), int(sequence)) for lsn, sequence in harvest.deleted_episodes}
    rows = zip(
        harvest.episodes.lsn.tolist(),
        harvest.episodes.sequence.tolist(),
        harvest.episodes.written_lsn.tolist(),
        strict=True,
    )
    return {(lsn, sequence): written_lsn for lsn, sequence, written_lsn in rows if (lsn, sequence) in named}


def _pairs(first: str, second: str, wanted: Iterable[tuple[int, int]]) -> Iterator[str]:
    return (f"{first} = {one} AND {second} IN {_list(others)}" for one, others in _grouped(wanted))


def _grouped(pairs: Iterable[tuple[int, int]]) -> Iterator[tuple[int, list[int]]]:
    groups: dict[int, set[int]] = defaultdict(set)
    for one, other in pairs:
        groups[int(one)].add(int(other))
    for one, others in sorted(groups.items()):
        for some in _portions(sorted(others), NUMBERS_IN_A_LIST):
            yield one, some


def _filters(alternatives: Iterable[str]) -> list[str]:
    return [" OR ".join(f"({one})" for one in some) for some in _portions(alternatives, ALTERNATIVES)]


def _portions(items: Iterable[T], size: int) -> Iterator[list[T]]:
    rest = iter(items)
    while some := list(islice(rest, size)):
        yield some


def _list(numbers: Sequence[int]) -> str:
    return "(" + ", ".join(str(int(number)) for number in numbers) + ")"
