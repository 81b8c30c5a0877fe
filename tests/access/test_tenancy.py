"""Tenants who share a sidecar: neither ever sees, or can tell by anything it sees, that the other is there."""

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
from tests.access.restricted_sidecar import guarded
from tests.access.tenant_view import World
from tests.access.tenants import HOSTILE, Pair, Step, Tenant, looking_around, pairs, spreading_out
from tests.bad_input.rpcs import METHODS
from tests.scenarios.retrieval import until_retrieval_is_there
from tests.support.process import CALL_SECONDS

MOST_PAIRS = 200
PAIRS = pairs(MOST_PAIRS)
TALKATIVE = ("--log-level", "debug", "--log-calls", "all")
# What is learned in the background comes when it comes: it would make two sidecars differ.
NOTHING_IN_THE_BACKGROUND = (
    *("--facts-every-turns", "1000", "--facts-quiet-seconds", "86400", "--patterns-every-conversations", "1000000"),
    *("--summary-every-messages", "100000", "--summary-tail-tokens", "10000000"),
)
ALL_OF_IT_AT_ONCE = (
    *("--facts-every-turns", "1", "--facts-quiet-seconds", "0", "--patterns-every-conversations", "1"),
    *("--summary-every-messages", "2", "--summary-keep-messages", "0", "--index-linger-ms", "10"),
)


@dataclass(repr=False)
class Rooms:
    """Pairs of tenants that have not met yet; and sidecars for them."""

    worlds: list[World]
    left: Iterator[Pair]

    def next(self) -> Pair:
        """Hypothesis plays a failure again and again to make it small, which may use up all there are."""
        pair = next(self.left, None)
        return pair if pair is not None else reject()


def rooms(factory: pytest.TempPathFactory, sidecars: int, *flags: str) -> Iterator[Rooms]:
    """One sidecar after the other is opened and stays so."""
    grants = [tenant.grant for pair in PAIRS for tenant in pair]

    def opened(worlds: list[World]) -> Iterator[Rooms]:
        if len(worlds) == sidecars:
            yield Rooms(worlds, iter(PAIRS))
            return
        with guarded(factory.mktemp("tenancy"), grants, *TALKATIVE, *flags) as door:
            until_retrieval_is_there(door.sidecar)
            yield from opened([*worlds, World(door)])

    yield from opened([])


@pytest.fixture(scope="module")
def shared_and_alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rooms]:
    yield from rooms(tmp_path_factory, 2, "--index", "volatile", *NOTHING_IN_THE_BACKGROUND)


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rooms]:
    yield from rooms(tmp_path_factory, 1, "--index", "lancedb", *ALL_OF_IT_AT_ONCE)


UNDOING = {
    "Add": ("Annotate", "Clear", "DeleteSession", "Prune", "ForgetMessage"),
    "AddBatch": ("PutArtifact", "Prune", "Clear"),
    "AddStream": ("Summarize", "DeleteSession", "SetPolicy"),
    "PutFacts": ("DeleteFact", "ForgetUser"),
    "PutDocument": ("DeleteDocument", "DeleteSession"),
    "PutArtifact": ("DeleteArtifact", "Clear"),
}
"What is written, and what may happen to just that afterwards."

Script = tuple[list[tuple[int, Step]], list[Step]]


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    """Who does what, one after the other; and how both look around at the end."""
    ids, few, who = st.sampled_from(HOSTILE), st.integers(0, 3), st.integers(0, 1)
    users = ["", *draw(st.lists(ids, min_size=1, max_size=2, unique=True))]
    sessions = draw(st.lists(ids, min_size=2, max_size=3, unique=True))

    def steps(methods: Iterable[str]) -> st.SearchStrategy[Step]:
        return st.builds(
            Step, st.sampled_from(sorted(methods)), st.sampled_from(users), st.sampled_from(sessions), few, few
        )

    # Both have the same under the same ids; then one of them touches its own, and the other's must stay as it is.
    written = draw(st.lists(steps(UNDOING), min_size=3, max_size=6))
    played = [(one, step) for step in written for one in draw(st.permutations((0, 1)))]
    for step in draw(st.lists(st.sampled_from(written), min_size=3, max_size=5)):
        played.append((draw(who), replace(step, method=draw(st.sampled_from(UNDOING[step.method])))))
    played += draw(st.lists(st.tuples(who, steps(METHODS)), min_size=6, max_size=16))
    disturbing = draw(st.integers(0, len(played)))
    played[disturbing:disturbing] = [(1, step) for step in spreading_out(users[1], sessions[0])]
    return played, looking_around(users[:2], sessions[0])


UNHURRIED = settings(
    max_examples=9,
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


def play(world: World, pair: Pair, played: list[tuple[int, Step]], last: list[Step]) -> Iterator[tuple[int, Step, Any]]:
    """All steps of both, and then both looking around; with each answer in its plain form."""
    for who, step in (*played, *((who, step) for step in last for who in (0, 1))):
        tenant, other = pair[who], pair[1 - who]
        answer, plain = world.take(step, tenant, other)
        assert tenant.is_betrayed_by(answer.everything) == [], step
        assert answer.code not in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN), (step, answer)
        yield who, step, plain


@pytest.mark.filterwarnings("ignore:Generating overly large repr")  # hypothesis, of a script with a long text
@given(script=scripts())
@settings(UNHURRIED)
def test_who_shares_a_sidecar_gets_the_answers_of_one_who_is_alone(shared_and_alone: Rooms, script: Script) -> None:
    shared, alone = shared_and_alone.worlds
    pair = shared_and_alone.next()
    for who, step, seen in play(shared, pair, *script):
        if who == 0:
            _, seen_alone = alone.take(step, pair[0], pair[1])
            assert seen == seen_alone, step


@given(script=scripts())
@settings(UNHURRIED, max_examples=5)
def test_nothing_of_the_other_is_ever_seen_by_two_at_once_whatever_the_background_does(
    busy: Rooms, script: Script
) -> None:
    """Both at the same time and on one connection."""
    played, last = script
    world, pair = busy.worlds[0], busy.next()

    def betrayed(who: int) -> list[tuple[Step, list[bytes]]]:
        steps = (*(step for one, step in played if one == who), *last)
        seen = ((step, world.take(step, pair[who], pair[1 - who])[0]) for step in steps)
        found = ((step, pair[who].is_betrayed_by(answer.everything)) for step, answer in seen)
        return [(step, words) for step, words in found if words]

    with ThreadPoolExecutor(2) as both:
        assert list(both.map(betrayed, (0, 1))) == [[], []]


@given(script=scripts())
@settings(UNHURRIED, max_examples=4)
def test_nobody_gets_into_the_namespace_of_the_other(shared_and_alone: Rooms, script: Script) -> None:
    world, pair = shared_and_alone.worlds[0], shared_and_alone.next()
    refused = {
        (answer.code, answer.message, answer.bodies, answer.trailing)
        for who, step in script[0]
        for answer in [world.trespass(step, pair[who], pair[1 - who])]
    }
    assert len(refused) == 1 and refused.pop()[0] is grpc.StatusCode.PERMISSION_DENIED


# -- what a page token tells


def add(world: World, tenant: Tenant, session_id: str, content: str) -> None:
    said = Message(role=ROLE_USER, content=content, id=content)
    request = memory.AddRequest(namespace=tenant.namespace, session_id=session_id, message=said, user_id="u")
    world.door.client.memory.Add(request, metadata=bearer(tenant.grant.text), timeout=CALL_SECONDS)


def page_tokens(world: World, tenant: Tenant, way: str) -> str:
    """The token for the second page of what the tenant has."""
    credentials, memories = bearer(tenant.grant.text), world.door.client.memory
    if way == "sessions":
        listed = session.ListSessionsRequest(namespace=tenant.namespace, page_size=1)
        return str(world.door.client.sessions.ListSessions(listed, metadata=credentials).next_page_token)
    if way == "messages":
        asked = memory.GetAllRequest(namespace=tenant.namespace, session_id="s0", page_size=1)
        return str(memories.GetAll(asked, metadata=credentials).next_page_token)
    request = memory.SearchRequest(
        namespace=tenant.namespace, query="heron", mode=way, limit=1, scope=SCOPE_NAMESPACE, user_id="u"
    )
    return str(memories.Search(request, metadata=credentials).next_page_token)


@pytest.mark.parametrize(
    "way", ["sessions", "messages", "SEARCH_MODE_SUBSTRING", "SEARCH_MODE_KEYWORD", "SEARCH_MODE_HYBRID"]
)
def test_a_page_token_does_not_tell_what_others_do(shared_and_alone: Rooms, way: str) -> None:
    shared, alone = shared_and_alone.worlds
    tenant, other = shared_and_alone.next()
    for at in range(6):
        for world in (shared, alone):
            add(world, tenant, f"s{at % 2}", f"heron {at}")
        for busy in range(5):
            add(shared, other, f"s{at} {busy}", "heron")
    # The content is encrypted (tests/api/test_page_tokens.py), so only the length can tell something.
    beside_others, by_itself = page_tokens(shared, tenant, way), page_tokens(alone, tenant, way)
    assert by_itself
    assert len(beside_others) == len(by_itself)
