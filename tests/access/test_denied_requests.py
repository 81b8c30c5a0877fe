"""Denied requests do not reach a service."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import grpc
import pytest

from memsidecar.access.access_file import read_access_file
from memsidecar.access.policy import AccessRole, NamespaceLimits
from tests.access.access_files import LONG_AGO, Grant, write_access_file
from tests.access.calls import call
from tests.access.recording_services import RecordingServer, recording_server
from tests.access.required_roles import CASES, Case

GRANTS = {role: Grant(role.name, ("home",), role) for role in AccessRole}
EXPIRED = Grant("ghost", ("home",), AccessRole.ADMIN, LONG_AGO)


@pytest.fixture(scope="module")
def recorder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecordingServer]:
    file: Path = write_access_file(tmp_path_factory.mktemp("spied") / "access.toml", [*GRANTS.values(), EXPIRED])
    with recording_server(read_access_file(file, NamespaceLimits())) as running:
        yield running


@pytest.mark.parametrize("case", CASES, ids=str)
def test_only_allowed_requests_reach_a_service(recorder: RecordingServer, case: Case) -> None:
    recorder.reached()
    for role, namespace in product(AccessRole, ("home", "away", "", "nowhere")):
        request = case.request(namespace)
        code = call(recorder.channel, case.method, [request.SerializeToString()], GRANTS[role].text).code
        allowed = namespace == "home" and role >= case.needed
        assert recorder.reached() == ([(case.method, request)] if allowed else [])
        assert code is (grpc.StatusCode.OK if allowed else grpc.StatusCode.PERMISSION_DENIED)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_request_with_an_invalid_token_reaches_a_service(recorder: RecordingServer, case: Case) -> None:
    for token in (None, "", "nonsense", EXPIRED.text, EXPIRED.rotated().text):
        call(recorder.channel, case.method, [case.request("home").SerializeToString()], token)
    assert recorder.reached() == []


def test_only_allowed_messages_of_a_stream_reach_a_service(recorder: RecordingServer) -> None:
    add = next(case for case in CASES if case.method == "AddStream")
    sent = [add.request(namespace, session_id=str(at)) for at, namespace in enumerate(["home", "home", "away", "home"])]
    answer = call(
        recorder.channel, "AddStream", [request.SerializeToString() for request in sent], GRANTS[AccessRole.WRITE].text
    )
    assert answer.code is grpc.StatusCode.PERMISSION_DENIED and len(answer.bodies) == 2
    assert recorder.reached() == [("AddStream", one) for one in sent[:2]]
