"""Watch with an access file: credentials are checked again while a stream is open, and watchers are limited."""

from collections.abc import Iterator
from dataclasses import replace

import grpc
import pytest

from memsidecar.access.policy import AccessRole
from tests.access.access_files import Grant
from tests.access.calls import bearer
from tests.access.restricted_sidecar import RestrictedSidecar, restricted_sidecar
from tests.support.process import Refusal, refusal
from tests.support.waiting import until
from tests.support.watch_stream import HEARTBEAT, WatchStream

HOME, AWAY = "home", "away"
KEEPER = Grant("keeper", ("*",), AccessRole.ADMIN)
FLAGS = ("--watch-heartbeat-seconds", "0.05", "--max-namespace-watchers", "2", "--max-watchers", "5")


@pytest.fixture(scope="module")
def restricted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestrictedSidecar]:
    with restricted_sidecar(tmp_path_factory.mktemp("watchers"), [KEEPER], *FLAGS) as opened:
        yield opened


@pytest.fixture
def guest(restricted: RestrictedSidecar) -> Iterator[Grant]:
    grant = Grant("guest", (HOME, AWAY), AccessRole.READ)
    restricted.add_grants(grant)
    yield grant
    until(lambda: admits(restricted, KEEPER, HOME))


def watch(restricted: RestrictedSidecar, grant: Grant, namespace: str = HOME) -> WatchStream:
    return WatchStream(restricted.client, namespace, bearer(grant.text))


def admits(restricted: RestrictedSidecar, grant: Grant, namespace: str) -> bool:
    """Return whether a namespace has no watchers left of the tests before."""
    try:
        with watch(restricted, grant, namespace), watch(restricted, grant, namespace):
            return True
    except grpc.RpcError:
        return False


def end(stream: WatchStream) -> tuple[grpc.StatusCode, str]:
    """Read heartbeats to the end of the stream."""
    try:
        while True:
            assert stream.next().kind == HEARTBEAT
    except grpc.RpcError as error:
        return Refusal(error).code, Refusal(error).reason


def test_a_reader_may_watch_its_namespaces_only(restricted: RestrictedSidecar, guest: Grant) -> None:
    with watch(restricted, guest) as stream:
        assert stream.next().kind == HEARTBEAT
    refused = refusal(lambda: watch(restricted, guest, "elsewhere"))
    assert (refused.code, refused.reason) == (grpc.StatusCode.PERMISSION_DENIED, "PERMISSION_DENIED")


def test_a_revoked_token_ends_its_stream(restricted: RestrictedSidecar, guest: Grant) -> None:
    with watch(restricted, KEEPER) as kept, watch(restricted, guest) as stream:
        restricted.revoke(guest)
        assert end(stream) == (grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")
        assert kept.next().kind == HEARTBEAT


def test_a_token_that_loses_the_namespace_ends_its_stream(restricted: RestrictedSidecar, guest: Grant) -> None:
    with watch(restricted, guest) as stream, watch(restricted, guest, AWAY) as other:
        away = replace(guest, namespaces=(AWAY,))
        restricted.change(guest, away, lambda: restricted.ask("Count", HOME, guest).reason == "PERMISSION_DENIED")
        assert end(stream) == (grpc.StatusCode.PERMISSION_DENIED, "PERMISSION_DENIED")
        assert other.next().kind == HEARTBEAT


def test_a_namespace_and_a_caller_have_limits(restricted: RestrictedSidecar, guest: Grant) -> None:
    with watch(restricted, guest), watch(restricted, KEEPER):
        limited = (grpc.StatusCode.RESOURCE_EXHAUSTED, "RATE_LIMITED")
        refused = refusal(lambda: watch(restricted, guest))
        assert (refused.code, refused.reason) == limited, "two watchers of the namespace"
        with watch(restricted, guest, AWAY):
            refused = refusal(lambda: watch(restricted, guest, AWAY))
            assert (refused.code, refused.reason) == limited, "two watchers of the caller"
            with watch(restricted, KEEPER, AWAY) as other:
                assert other.first.kind == HEARTBEAT
