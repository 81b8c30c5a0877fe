"""Tenants of one sidecar: no response to one of them depends on the other."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import grpc
import pytest
from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import strategies as st

from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1 import session_pb2 as session
from memsidecar.v1.message_pb2 import ROLE_USER, SCOPE_NAMESPACE, Message
from tests.access.calls import bearer
from tests.access.restricted_sidecar import restricted_sidecar
from tests.access.tenant_view import TenantView
from tests.access.tenants import HOSTILE, Pair, Step, Tenant, namespace_wide_steps, pairs, read_steps
from tests.bad_input.rpcs import METHODS
from tests.scenarios.index_readiness import until_index_is_ready
from tests.support.process import CALL_SECONDS

MOST_PAIRS = 200
PAIRS = pairs(MOST_PAIRS)
VERBOSE = ("--log-level", "debug", "--log-calls", "all")
# What is learned in the background comes when it comes: it would make two sidecars differ.
NO_BACKGROUND_WORK = (
    *("--facts-every-turns", "1000", "--facts-quiet-seconds", "86400", "--patterns-every-conversations", "1000000"),
    *("--summary-every-messages", "100000", "--summary-tail-tokens", "10000000"),
)
BACKGROUND_WORK_AT_ONCE = (
    *("--facts-every-turns", "1", "--facts-quiet-seconds", "0", "--patterns-every-conversations", "1"),
    *("--summary-every-messages", "2", "--summary-keep-messages", "0", "--index-linger-ms", "10"),
)


@dataclass(repr=False)
class TenantPairs:
    """Unused pairs of tenants, and the sidecars that they call."""

    views: list[TenantView]
    left: Iterator[Pair]

    def next(self) -> Pair:
        """Return the next pair. Shrinking may use up all of them; the example is then rejected."""
        pair = next(self.left, None)
        return pair if pair is not None else reject()


def open_sidecars(factory: pytest.TempPathFactory, sidecars: int, *flags: str) -> Iterator[TenantPairs]:
    """Open the sidecars, one inside the other."""
    grants = [tenant.grant for pair in PAIRS for tenant in pair]

    def opened(views: list[TenantView]) -> Iterator[TenantPairs]:
        if len(views) == sidecars:
            yield TenantPairs(views, iter(PAIRS))
            return
        with restricted_sidecar(factory.mktemp("tenancy"), grants, *VERBOSE, *flags) as restricted:
            until_index_is_ready(restricted.sidecar)
            yield from opened([*views, TenantView(restricted)])

    yield from opened([])


@pytest.fixture(scope="module")
def shared_and_alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TenantPairs]:
    yield from open_sidecars(tmp_path_factory, 2, "--index", "volatile", *NO_BACKGROUND_WORK)


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TenantPairs]:
    yield from open_sidecars(tmp_path_factory, 1, "--index", "lancedb", *BACKGROUND_WORK_AT_ONCE)


CHANGES_AFTER = {
    "Add": ("Annotate", "Clear", "DeleteSession", "Prune", "ForgetMessage"),
    "AddBatch": ("PutArtifact", "Prune", "Clear"),
    "AddStream": ("Summarize", "DeleteSession", "SetPolicy"),
    "PutFacts": ("DeleteFact", "ForgetUser"),
    "PutDocument": ("DeleteDocument", "DeleteSession"),
    "PutArtifact": ("DeleteArtifact", "Clear"),
}
"Writes, and calls that change or remove what they wrote."

Script = tuple[list[tuple[int, Step]], list[Step]]


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    """Generate steps of both tenants, and reads for both at the end."""
    ids, few, who = st.sampled_from(HOSTILE), st.integers(0, 3), st.integers(0, 1)
    users = ["", *draw(st.lists(ids, min_size=1, max_size=2, unique=True))]
    sessions = draw(st.lists(ids, min_size=2, max_size=3, unique=True))

    def steps(methods: Iterable[str]) -> st.SearchStrategy[Step]:
        return st.builds(
            Step, st.sampled_from(sorted(methods)), st.sampled_from(users), st.sampled_from(sessions), few, few
        )

    # Both have the same under the same ids; then one of them touches its own, and the other's must stay as it is.
    written = draw(st.lists(steps(CHANGES_AFTER), min_size=3, max_size=6))
    script_steps = [(who, step) for step in written for who in draw(st.permutations((0, 1)))]
    for step in draw(st.lists(st.sampled_from(written), min_size=3, max_size=5)):
        script_steps.append((draw(who), replace(step, method=draw(st.sampled_from(CHANGES_AFTER[step.method])))))
    script_steps += draw(st.lists(st.tuples(who, steps(METHODS)), min_size=6, max_size=16))
    disturbing = draw(st.integers(0, len(script_steps)))
    script_steps[disturbing:disturbing] = [(1, step) for step in namespace_wide_steps(users[1], sessions[0])]
    return script_steps, read_steps(users[:2], sessions[0])


UNHURRIED = settings(
    max_examples=9,
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def run_script(
    view: TenantView, pair: Pair, script_steps: list[tuple[int, Step]], last: list[Step]
) -> Iterator[tuple[int, Step, Any]]:
    """Run all steps and then the reads of both tenants; yield each answer in its comparable form."""
    for who, step in (*script_steps, *((who, step) for step in last for who in (0, 1))):
        tenant, other = pair[who], pair[1 - who]
        answer, comparable = view.run(step, tenant, other)
        assert tenant.foreign_canaries(answer.everything) == [], step
        assert answer.code not in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN), (step, answer)
        yield who, step, comparable


@pytest.mark.filterwarnings("ignore:Generating overly large repr")  # hypothesis, of a script with a long text
@given(script=scripts())
@settings(UNHURRIED)
def test_a_tenant_gets_the_same_answers_on_a_shared_sidecar_as_alone(
    shared_and_alone: TenantPairs, script: Script
) -> None:
    shared, alone = shared_and_alone.views
    pair = shared_and_alone.next()
    for who, step, seen in run_script(shared, pair, *script):
        if who == 0:
            _, seen_alone = alone.run(step, pair[0], pair[1])
            assert seen == seen_alone, step


@given(script=scripts())
@settings(UNHURRIED, max_examples=5)
def test_concurrent_tenants_never_see_each_others_content(busy: TenantPairs, script: Script) -> None:
    """Both tenants call at the same time on one connection, while background tasks run."""
    script_steps, last = script
    view, pair = busy.views[0], busy.next()

    def leaks(who: int) -> list[tuple[Step, list[bytes]]]:
        steps = (*(step for at, step in script_steps if at == who), *last)
        seen = ((step, view.run(step, pair[who], pair[1 - who])[0]) for step in steps)
        found = ((step, pair[who].foreign_canaries(answer.everything)) for step, answer in seen)
        return [(step, words) for step, words in found if words]

    with ThreadPoolExecutor(2) as both:
        assert list(both.map(leaks, (0, 1))) == [[], []]


@given(script=scripts())
@settings(UNHURRIED, max_examples=4)
def test_calls_in_the_namespace_of_the_other_tenant_are_denied(shared_and_alone: TenantPairs, script: Script) -> None:
    view, pair = shared_and_alone.views[0], shared_and_alone.next()
    refused = {
        (answer.code, answer.message, answer.bodies, answer.trailing)
        for who, step in script[0]
        for answer in [view.run_in_other_namespace(step, pair[who], pair[1 - who])]
    }
    assert len(refused) == 1 and refused.pop()[0] is grpc.StatusCode.PERMISSION_DENIED


# -- what a page token tells


def add(view: TenantView, tenant: Tenant, session_id: str, content: str) -> None:
    message = Message(role=ROLE_USER, content=content, id=content)
    request = memory.AddRequest(namespace=tenant.namespace, session_id=session_id, message=message, user_id="u")
    view.restricted.client.memory.Add(request, metadata=bearer(tenant.grant.text), timeout=CALL_SECONDS)


def second_page_token(view: TenantView, tenant: Tenant, way: str) -> str:
    """Return the token of the second page of a list of the tenant's data."""
    credentials, memories = bearer(tenant.grant.text), view.restricted.client.memory
    if way == "sessions":
        listed = session.ListSessionsRequest(namespace=tenant.namespace, page_size=1)
        return str(view.restricted.client.sessions.ListSessions(listed, metadata=credentials).next_page_token)
    if way == "messages":
        page_request = memory.GetAllRequest(namespace=tenant.namespace, session_id="s0", page_size=1)
        return str(memories.GetAll(page_request, metadata=credentials).next_page_token)
    request = memory.SearchRequest(
        namespace=tenant.namespace, query="heron", mode=way, limit=1, scope=SCOPE_NAMESPACE, user_id="u"
    )
    return str(memories.Search(request, metadata=credentials).next_page_token)


@pytest.mark.parametrize(
    "way", ["sessions", "messages", "SEARCH_MODE_SUBSTRING", "SEARCH_MODE_KEYWORD", "SEARCH_MODE_HYBRID"]
)
def test_the_length_of_a_page_token_does_not_depend_on_other_tenants(shared_and_alone: TenantPairs, way: str) -> None:
    shared, alone = shared_and_alone.views
    tenant, other = shared_and_alone.next()
    for at in range(6):
        for view in (shared, alone):
            add(view, tenant, f"s{at % 2}", f"heron {at}")
        for busy in range(5):
            add(shared, other, f"s{at} {busy}", "heron")
    # The content is encrypted (tests/api/test_page_tokens.py), so only the length can tell something.
    beside_others, by_itself = second_page_token(shared, tenant, way), second_page_token(alone, tenant, way)
    assert by_itself
    assert len(beside_others) == len(by_itself)
