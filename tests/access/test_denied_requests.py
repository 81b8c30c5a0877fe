"""For a caller who may not, nothing is looked up: the request gets no further than the gate."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import grpc
import pytest

from memsidecar.access.access_file import read_access_file
from memsidecar.access.policy import AccessRole, NamespaceLimits
from tests.access.access_files import LONG_AGO, Grant, write_access_file
from tests.access.calls import call
from tests.access.recording_services import Watched, spying
from tests.access.required_roles import CASES, Case

GRANTS = {role: Grant(role.name, ("home",), role) for role in AccessRole}
OVER = Grant("ghost", ("home",), AccessRole.ADMIN, LONG_AGO)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    file: Path = write_access_file(tmp_path_factory.mktemp("spied") / "access.toml", [*GRANTS.values(), OVER])
    with spying(read_access_file(file, NamespaceLimits())) as running:
        yield running


@pytest.mark.parametrize("case", CASES, ids=str)
def test_only_what_is_allowed_reaches_a_service(watched: Watched, case: Case) -> None:
    watched.reached()
    for role, namespace in product(AccessRole, ("home", "away", "", "nowhere")):
        request = case.request(namespace)
        code = call(watched.channel, case.method, [request.SerializeToString()], GRANTS[role].text).code
        allowed = namespace == "home" and role >= case.needed
        assert watched.reached() == ([(case.method, request)] if allowed else [])
        assert code is (grpc.StatusCode.OK if allowed else grpc.StatusCode.PERMISSION_DENIED)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_nothing_of_a_caller_without_a_good_token_reaches_a_service(watched: Watched, case: Case) -> None:
    for token in (None, "", "nonsense", OVER.text, OVER.rotated().text):
        call(watched.channel, case.method, [case.request("home").SerializeToString()], token)
    assert watched.reached() == []


def test_of_a_stream_only_what_is_allowed_reaches_a_service(watched: Watched) -> None:
    add = next(case for case in CASES if case.method == "AddStream")
    sent = [add.request(namespace, session_id=str(at)) for at, namespace in enumerate(["home", "home", "away", "home"])]
    answer = call(
        watched.channel, "AddStream", [one.SerializeToString() for one in sent], GRANTS[AccessRole.WRITE].text
    )
    assert answer.code is grpc.StatusCode.PERMISSION_DENIED and len(answer.bodies) == 2
    assert watched.reached() == [("AddStream", one) for one in sent[:2]]
