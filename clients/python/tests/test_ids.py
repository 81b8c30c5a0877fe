"""Ids that the client makes."""

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

from memsidecar_client import new_id


def test_ids_sort_by_when_they_were_made() -> None:
    made = [new_id() for _ in range(20_000)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert {UUID(one).version for one in made} == {7}


def test_no_two_threads_make_the_same() -> None:
    with ThreadPoolExecutor(8) as pool:
        made = [one for many in pool.map(lambda _: [new_id() for _ in range(2_000)], range(8)) for one in many]
    assert len(set(made)) == len(made)
