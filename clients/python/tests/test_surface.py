"""The surface follows the contract: a method for each RPC, an error for each reason, made and not written."""

import inspect
import sys
from pathlib import Path

import pytest

from memsidecar_client import AsyncClient, Client, errors
from memsidecar_client.v1.errors_pb2 import ErrorReason
from requests_by_name import METHODS

HERE = Path(__file__).parents[1]
sys.path.append(str(HERE))

from generate import generate  # noqa: E402  beside the package, not in it


def test_what_is_generated_is_fresh(tmp_path: Path) -> None:
    (tmp_path / "memsidecar_client").mkdir()
    generate(tmp_path)
    made = {path.relative_to(tmp_path): path.read_text() for path in tmp_path.rglob("*.py*")}
    assert len(made) == 16
    stale = [str(name) for name, text in made.items() if (HERE / name).read_text() != text]
    assert not stale, "python clients/python/generate.py makes them anew"


@pytest.mark.parametrize("rpc", sorted(METHODS))
def test_both_clients_have_the_same_method_for_an_rpc(rpc: str) -> None:
    one, other = (getattr(client, METHODS[rpc].name) for client in (Client, AsyncClient))
    assert one.__doc__
    assert one.__doc__ == other.__doc__
    if not METHODS[rpc].sends_many:
        assert inspect.signature(one).parameters == inspect.signature(other).parameters


def test_every_reason_has_an_error_of_its_name() -> None:
    reasons = {name.removeprefix("ERROR_REASON_") for name in ErrorReason.keys()[1:]}
    assert set(errors.BY_REASON) == reasons
    assert {reason: kind.__name__ for reason, kind in errors.BY_REASON.items()} == {
        reason: reason.title().replace("_", "") for reason in reasons
    }


def test_every_error_is_drawn_in_the_tree() -> None:
    kinds = [
        kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, errors.MemsidecarError)
    ]
    assert all(kind.__name__ in (errors.__doc__ or "") for kind in kinds)


def test_a_short_name_stands_for_a_value_and_a_wrong_one_is_told() -> None:
    with (
        Client("127.0.0.1:1") as client,
        pytest.raises(ValueError, match="'boss' is none of system, user, assistant, tool"),
    ):
        client.add(session_id="s", role="boss", content="hello")
