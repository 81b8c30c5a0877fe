"""Admission of every RPC, for each role, namespace and kind of token."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from memsidecar.access.bearer_token import Token
from memsidecar.access.policy import AccessRole
from memsidecar.api.admission.auth import ROLES
from memsidecar.v1.session_pb2 import Retention, SessionPolicy, SetPolicyRequest
from tests.access.access_files import LONG_AGO, Grant
from tests.access.calls import Answer, bearer, call, minimal
from tests.access.required_roles import CASES, NEEDED, Case
from tests.access.restricted_sidecar import RestrictedSidecar, restricted_sidecar
from tests.bad_input.rpcs import METHODS
from tests.support.process import CALL_SECONDS, Refusal
from tests.support.waiting import until

HOME, AWAY = "home", "away"
GOOD = {role: Grant(f"{role.name.lower()}-agent", (HOME,), role) for role in AccessRole}
SECOND = {role: grant.rotated() for role, grant in GOOD.items()}
EXPIRED = {role: replace(grant.rotated(), expires=LONG_AGO) for role, grant in GOOD.items()}
REVOKED = {role: grant.rotated() for role, grant in GOOD.items()}
NEIGHBOUR = Grant("neighbour", (AWAY,), AccessRole.ADMIN)
KEEPER = Grant("keeper", ("*",), AccessRole.ADMIN)
PLAIN = Grant("plain", ("default",), AccessRole.ADMIN)

UNAUTHENTICATED = (grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED")
DENIED = (grpc.StatusCode.PERMISSION_DENIED, "PERMISSION_DENIED")
OK = (grpc.StatusCode.OK, "")
NOT_FOUND = (grpc.StatusCode.NOT_FOUND, "NOT_FOUND")


@pytest.fixture(scope="module")
def restricted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestrictedSidecar]:
    """A sidecar with data in both namespaces, and with tokens that were valid and are revoked."""
    grants = [NEIGHBOUR, KEEPER, PLAIN, *(grant for by_role in (GOOD, SECOND, EXPIRED) for grant in by_role.values())]
    folder = tmp_path_factory.mktemp("matrix")
    flags = ("--log-calls", "all", "--log-level", "debug", "--audit", "all", "--audit-file", str(folder / "audit"))
    with restricted_sidecar(folder, [*grants, *REVOKED.values()], *flags) as opened:
        for name, namespace in product(("Add", "PutDocument", "PutFacts", "PutArtifact"), (HOME, AWAY)):
            assert opened.ask(name, namespace, KEEPER).verdict == OK
        assert all(opened.admits(grant) for grant in REVOKED.values())
        opened.revoke(*REVOKED.values())
        yield opened


def bad_tokens(role: AccessRole) -> dict[str, str | None]:
    good = GOOD[role].token
    return {
        "none": None,
        "malformed": "open-sesame",
        "empty": "",
        "unknown id": Token("0123456789ab", good.secret).text,
        "wrong secret": Token(good.id, SECOND[role].token.secret).text,
        "expired": EXPIRED[role].text,
        "revoked": REVOKED[role].text,
    }


def ask(restricted: RestrictedSidecar, case: Case, namespace: str, token: str | None) -> Answer:
    return call(restricted.channel, case.method, [case.request(namespace).SerializeToString()], token)


def has_passed(answer: Answer) -> bool:
    """Return whether the request reached the RPC."""
    return answer.verdict in (OK, NOT_FOUND)


def test_the_table_has_every_rpc_of_the_contract() -> None:
    assert NEEDED.keys() == METHODS.keys() == ROLES.keys()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_an_invalid_token_is_unauthenticated(restricted: RestrictedSidecar, case: Case) -> None:
    tried = {
        (role.name, namespace, kind): ask(restricted, case, namespace, token).verdict
        for role, namespace in product(AccessRole, (HOME, AWAY))
        for kind, token in bad_tokens(role).items()
    }
    assert {at: verdict for at, verdict in tried.items() if verdict != UNAUTHENTICATED} == {}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_valid_token_has_its_role_in_its_namespace(restricted: RestrictedSidecar, case: Case) -> None:
    for role, grants in product(AccessRole, (GOOD, SECOND)):
        answer = ask(restricted, case, HOME, grants[role].text)
        if role >= case.needed:
            assert has_passed(answer), (role, answer)
        else:
            assert answer.verdict == DENIED, (role, answer)
            assert answer.message == f"this needs the role {case.needed.name.lower()}" and not answer.bodies


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_valid_token_is_denied_in_other_namespaces(restricted: RestrictedSidecar, case: Case) -> None:
    tried = [*product((GOOD,), (AWAY, "nowhere", "", "hom", "home2", "*", "HOME")), (SECOND, AWAY)]
    for role, (grants, namespace) in product(AccessRole, tried):
        answer = ask(restricted, case, namespace, grants[role].text)
        assert answer.verdict == DENIED, (role, namespace, answer)
        assert answer.message == "these credentials are not for this namespace" and not answer.bodies


def test_only_an_admin_replaces_or_removes_a_policy_with_a_retention(restricted: RestrictedSidecar) -> None:
    retained, plain = SessionPolicy(retention=Retention()), SessionPolicy(auto_prune_tokens=1_000)

    def set_policy(role: AccessRole, policy: SessionPolicy | None) -> Answer:
        request = SetPolicyRequest(namespace=HOME, session_id="retention of the operator", policy=policy)
        return call(restricted.channel, "SetPolicy", [request.SerializeToString()], GOOD[role].text)

    assert set_policy(AccessRole.WRITE, plain).verdict == OK
    assert set_policy(AccessRole.ADMIN, retained).verdict == OK
    for policy in (plain, None):
        denied = set_policy(AccessRole.WRITE, policy)
        assert denied.verdict == DENIED and denied.message == "to replace a retention needs the role admin"
    assert set_policy(AccessRole.ADMIN, None).verdict == OK
    assert set_policy(AccessRole.WRITE, None).verdict == OK


def test_an_empty_namespace_is_the_default_one(restricted: RestrictedSidecar) -> None:
    assert restricted.ask("Count", "", PLAIN).verdict == OK
    assert restricted.ask("Count", "default", PLAIN).verdict == OK
    assert restricted.ask("Count", HOME, PLAIN).verdict == DENIED


def test_a_star_grants_every_namespace(restricted: RestrictedSidecar) -> None:
    for namespace in (HOME, AWAY, "", "never seen", "*"):
        assert restricted.ask("Count", namespace, KEEPER).verdict == OK


@pytest.mark.parametrize(
    "metadata",
    [
        (("authorization", f"Basic {GOOD[AccessRole.ADMIN].text}"),),
        (("authorization", GOOD[AccessRole.ADMIN].text),),
        (*bearer(GOOD[AccessRole.ADMIN].text), *bearer(GOOD[AccessRole.ADMIN].text)),
        (("proxy-authorization", f"Bearer {GOOD[AccessRole.ADMIN].text}"),),
    ],
)
def test_a_malformed_authorization_header_is_unauthenticated(restricted: RestrictedSidecar, metadata: Any) -> None:
    request = minimal("Count", HOME).SerializeToString()
    assert call(restricted.channel, "Count", [request], metadata=metadata).verdict == UNAUTHENTICATED


def test_malformed_requests_are_parsed_only_with_a_valid_token(restricted: RestrictedSidecar) -> None:
    for name in METHODS:
        assert call(restricted.channel, name, [b"\xff\xff"]).verdict == UNAUTHENTICATED
        refused = call(restricted.channel, name, [b"\xff\xff"], GOOD[AccessRole.READ].text)
        assert refused.verdict == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD"), name


# -- a refusal tells nothing of what is there

IN_THE_WAY = ("", "x" * 10_000, "'; DROP TABLE sessions; --", "../home", "home/", "a\nb", "\u202eemoh", "%", "nowhere")


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("role", AccessRole)
def test_the_denial_of_a_namespace_does_not_depend_on_its_data(
    restricted: RestrictedSidecar, case: Case, role: AccessRole
) -> None:
    full = [case.request(AWAY, session_id) for session_id in ("shared", "no-such-session", "y" * 5_000)]
    others = [case.request(namespace) for namespace in IN_THE_WAY]
    answers = {
        call(restricted.channel, case.method, [request.SerializeToString()], GOOD[role].text)
        for request in (*full, *others)
    }
    assert len(answers) == 1
    assert answers.pop().verdict == DENIED


def test_all_invalid_tokens_get_the_same_bytes(restricted: RestrictedSidecar) -> None:
    answers = {ask(restricted, case, HOME, token) for case in CASES for token in bad_tokens(AccessRole.ADMIN).values()}
    assert len(answers) == 1


# -- what is no RPC of the contract


def services(restricted: RestrictedSidecar, token: str | None) -> set[str]:
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(restricted.channel)
    requests = iter([reflection_pb2.ServerReflectionRequest(list_services="")])
    (answer,) = stub.ServerReflectionInfo(requests, metadata=bearer(token), timeout=CALL_SECONDS)
    return {service.name for service in answer.list_services_response.service}


@pytest.mark.parametrize("role", AccessRole)
def test_reflection_needs_a_valid_token_of_any_role(restricted: RestrictedSidecar, role: AccessRole) -> None:
    assert "memsidecar.v1.MemoryService" in services(restricted, GOOD[role].text)
    for kind, token in bad_tokens(role).items():
        with pytest.raises(grpc.RpcError) as refused:
            services(restricted, token)
        refusal = Refusal(refused.value)
        assert (refusal.code, refusal.reason) == UNAUTHENTICATED, kind
        assert "memsidecar.v1" not in refusal.message


def test_denied_reflection_is_audited(restricted: RestrictedSidecar) -> None:
    audit = restricted.sidecar.data_dir.parent / "audit"

    def is_audited() -> bool:
        with pytest.raises(grpc.RpcError):
            services(restricted, None)
        return any(json.loads(line)["method"] == "ServerReflectionInfo" for line in audit.read_text().splitlines())

    # Of many strangers not everyone gets a line, and the tests before this one were many.
    until(is_audited)


def check_health(address: str, service: str, token: str | None) -> Any:
    with grpc.insecure_channel(address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        request = health_pb2.HealthCheckRequest(service=service)
        return stub.Check(request, metadata=bearer(token), timeout=CALL_SECONDS)


@pytest.mark.parametrize("service", ["", "memsidecar.v1.MemoryService"])
def test_the_health_listener_needs_no_token(restricted: RestrictedSidecar, service: str) -> None:
    for token in (None, "nonsense", GOOD[AccessRole.READ].text):
        answer = check_health(restricted.sidecar.ready["health_listen"], service, token)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING


@pytest.mark.parametrize("service", ["", "memsidecar.v1.MemoryService"])
def test_health_on_the_main_listener_needs_a_token(restricted: RestrictedSidecar, service: str) -> None:
    answer = check_health(restricted.sidecar.address, service, GOOD[AccessRole.READ].text)
    assert answer.status == health_pb2.HealthCheckResponse.SERVING
    for token in (None, "nonsense"):
        with pytest.raises(grpc.RpcError) as refused:
            check_health(restricted.sidecar.address, service, token)
        assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED


def test_the_health_listener_serves_nothing_else(restricted: RestrictedSidecar) -> None:
    with grpc.insecure_channel(restricted.sidecar.ready["health_listen"]) as channel:
        request = minimal("Count", HOME).SerializeToString()
        answer = call(channel, "Count", [request], GOOD[AccessRole.ADMIN].text)
        assert answer.verdict == (grpc.StatusCode.UNIMPLEMENTED, "")


def test_an_unknown_rpc_reveals_nothing(restricted: RestrictedSidecar) -> None:
    for token in (None, GOOD[AccessRole.ADMIN].text):
        with pytest.raises(grpc.RpcError) as refused:
            restricted.channel.unary_unary("/memsidecar.v1.MemoryService/Drop")(
                b"", metadata=bearer(token), timeout=CALL_SECONDS
            )
        assert Refusal(refused.value).code is grpc.StatusCode.UNIMPLEMENTED


def test_every_rpc_is_audited_without_secrets(restricted: RestrictedSidecar) -> None:
    for name in METHODS:
        restricted.ask(name, HOME, GOOD[AccessRole.ADMIN])
    restricted.ask("Count", HOME, None)
    text = (restricted.sidecar.data_dir.parent / "audit").read_text()
    secrets = [grant.token.secret for by_role in (GOOD, SECOND, EXPIRED, REVOKED) for grant in by_role.values()]
    assert [secret for secret in secrets if secret in text] == []
    audited = {(line["method"], line["who"]) for line in map(json.loads, text.splitlines())}
    assert audited >= {("Count", ""), *product(METHODS, (GOOD[AccessRole.ADMIN].name,))}
