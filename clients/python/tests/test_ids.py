"""Ids that the client generates."""

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

from memsidecar_client import new_id


def test_ids_sort_by_creation_time() -> None:
    made = [new_id() for _ in range(20_000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert {UUID(value).version for value in made} == {7}


def test_threads_generate_different_ids() -> None:
    with ThreadPoolExecutor(8) as pool:
        made = [value for many in pool.map(lambda _: [new_id() for _ in range(2_000)], range(8)) for value in many]
    assert len(set(made)) == len(made)
