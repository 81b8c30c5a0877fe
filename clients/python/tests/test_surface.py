"""The API follows the contract: a method for each RPC and an error for each reason."""

import inspect
import sys
from pathlib import Path
from typing import Any

import pytest

import memsidecar_client
from memsidecar_client import AsyncClient, Client, errors
from memsidecar_client.v1.errors_pb2 import ErrorReason
from requests_by_name import METHODS

HERE = Path(__file__).parents[1]
sys.path.append(str(HERE))

from generate import generate  # noqa: E402  beside the package, not in it


def test_the_generated_code_is_up_to_date(tmp_path: Path) -> None:
    (tmp_path / "memsidecar_client").mkdir()
    generate(tmp_path)
    made = {path.relative_to(tmp_path): path.read_text() for path in tmp_path.rglob("*.py*")}
    assert len(made) == 17
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
    # NotImplemented is a builtin of Python.
    expected = {reason: reason.title().replace("_", "") for reason in reasons} | {"NOT_IMPLEMENTED": "Unimplemented"}
    assert {reason: kind.__name__ for reason, kind in errors.BY_REASON.items()} == expected


def test_the_docstring_shows_every_error() -> None:
    kinds = [
        kind for kind in vars(errors).values() if inspect.isclass(kind) and issubclass(kind, errors.MemsidecarError)
    ]
    assert all(kind.__name__ in (errors.__doc__ or "") for kind in kinds)


def test_the_package_exports_the_types_of_responses() -> None:
    made_of: dict[str, object] = {}
    for method in METHODS.values():
        _collect(method.descriptor.output_type, made_of)
    made_of = {name: kind for name, kind in made_of.items() if not name.endswith("Response")}
    assert {"Inclusion", "Receipt", "SearchHit", "EventKind"} <= made_of.keys()
    assert made_of.keys() <= set(memsidecar_client.__all__)
    assert all(getattr(memsidecar_client, name).DESCRIPTOR is kind for name, kind in made_of.items())


def _collect(message: Any, found: dict[str, object]) -> None:
    """The contract's own messages and enumerations, at any depth."""
    found[message.name] = message
    for field in message.fields:
        kind = field.message_type or field.enum_type
        if kind is None or not kind.full_name.startswith("memsidecar_client.v1.") or kind.containing_type:
            continue
        found[kind.name] = kind
        if field.message_type is not None:
            _collect(kind, found)


def test_a_short_name_selects_a_value_and_an_unknown_one_is_rejected() -> None:
    with (
        Client("127.0.0.1:1") as client,
        pytest.raises(ValueError, match="'boss' is none of system, user, assistant, tool"),
    ):
        client.add(session_id="s", role="boss", content="hello")  # type: ignore[arg-type]
