"""Errors come whole out of another process."""

import copy
import inspect
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import grpc
import pytest

from memsidecar_client import Client, MemsidecarError, errors
from memsidecar_client._details import Details

KINDS = [kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, MemsidecarError)]
DETAILS = Details("SOME_REASON", "messages[3].role", {"last_sequence": "7", "required_tokens": "8", "item": "it"}, 1.5)


def an_error(kind: Any) -> MemsidecarError:
    made: MemsidecarError = kind() if kind is errors.Closed else kind("it went wrong", grpc.StatusCode.ABORTED, DETAILS)
    made.add_note("while it was tested")
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_is_the_same_after_pickling(kind: type[MemsidecarError]) -> None:
    error = an_error(kind)
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(again) is kind
        assert vars(again) == vars(error)
        assert (again.args, str(again)) == (error.args, str(error))


def test_a_budget_that_is_too_small_has_the_tokens_and_the_largest_part() -> None:
    error = errors.BudgetTooSmall("it went wrong", grpc.StatusCode.FAILED_PRECONDITION, DETAILS)
    assert (error.required_tokens, error.item) == (8, "it")
    bare = errors.BudgetTooSmall("it went wrong", grpc.StatusCode.FAILED_PRECONDITION, Details("BUDGET_TOO_SMALL"))
    assert (bare.required_tokens, bare.item) == (0, "")


def call_unreachable() -> None:
    with Client("127.0.0.1:1", attempts=1) as memory:
        memory.count(session_id="s")


def refuse() -> None:
    raise an_error(errors.SequenceMismatch)


def test_a_pool_of_processes_returns_an_error() -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(errors.Unreachable, match=r"127\.0\.0\.1:1 cannot be reached"):
            pool.submit(call_unreachable).result(60)
        with pytest.raises(errors.SequenceMismatch) as refused:
            pool.submit(refuse).result(60)
    assert refused.value.last_sequence == 7
    assert (refused.value.field, refused.value.retry_after) == ("messages[3].role", 1.5)
    assert refused.value.code is grpc.StatusCode.ABORTED
