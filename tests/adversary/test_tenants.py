"""Tenants against each other: random calls with another tenant's ids, namespace and page tokens, or a forged token."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import grpc
import pytest

from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1 import session_pb2 as session
from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE
from tests.access.calls import Answer, call
from tests.access.restricted_sidecar import restricted_sidecar
from tests.access.tenant_view import TenantView
from tests.access.tenants import HOSTILE, Pair, Step, StepRequest, Tenant, pairs, read_steps
from tests.access.test_tenancy import CHANGES_AFTER, NO_BACKGROUND_WORK, add, second_page_token
from tests.bad_input.rpcs import METHODS
from tests.scenarios.index_readiness import until_index_is_ready
from tests.support.attempts import Attempts, random_source, scaled

PAIRS = pairs(8)
PARTS = 2
SESSIONS = ("s0", *HOSTILE[:5])
USERS = ("", "u", HOSTILE[2])
PAGES = ("sessions", "messages", "SEARCH_MODE_SUBSTRING", "SEARCH_MODE_KEYWORD")


@pytest.fixture(scope="module")
def view(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TenantView]:
    grants = [tenant.grant for pair in PAIRS for tenant in pair]
    flags = ("--index", "volatile", "--log-calls", "none", *NO_BACKGROUND_WORK)
    with restricted_sidecar(tmp_path_factory.mktemp("tenants"), grants, *flags) as restricted:
        until_index_is_ready(restricted.sidecar)
        yield TenantView(restricted)


@dataclass
class Victim:
    """A tenant with data of all kinds, and what its reads returned before the attacks."""

    tenant: Tenant
    attacker: Tenant
    view: TenantView
    page_tokens: dict[str, str] = field(default_factory=dict)
    before: list[Any] = field(default_factory=list)

    def fill(self) -> None:
        for session_id in SESSIONS:
            for method in CHANGES_AFTER:
                self.view.run(Step(method, "u", session_id, 1, 1), self.tenant, self.attacker)
        for at in range(4):
            add(self.view, self.tenant, f"s{at % 2}", f"heron {self.tenant.canary} {at}")
        self.page_tokens = {way: second_page_token(self.view, self.tenant, way) for way in PAGES}
        self.before = self.read()

    def read(self) -> list[Any]:
        steps = [step for session_id in SESSIONS[:3] for step in read_steps(["u"], session_id)]
        # A refresh would store patterns that the first read has not seen, and a context says how old a message is.
        reads = [step for step in steps if step.method not in ("GetPatterns", "BuildContext")]
        return [without_scores(self.view.run(step, self.tenant, self.attacker)[1]) for step in reads]


def without_scores(comparable: Any) -> Any:
    """Omit numbers that depend on the time of the read; the order of the results stays."""
    if isinstance(comparable, tuple):
        return tuple(without_scores(part) for part in comparable)
    return "some score" if isinstance(comparable, float) else comparable


class Attacker:
    """Makes one random call of each kind."""

    def __init__(self, view: TenantView, chance: random.Random) -> None:
        self._view = view
        self._chance = chance

    def _step(self) -> Step:
        chance = self._chance
        return Step(
            chance.choice(sorted(METHODS)),
            chance.choice(USERS),
            chance.choice(SESSIONS),
            chance.randrange(4),
            chance.randrange(4),
        )

    def use_ids(self, victim: Victim) -> None:
        """Use the ids, the words and the fact ids of the victim in the attacker's own namespace."""
        step = self._step()
        answer, _ = self._view.run(step, victim.attacker, victim.tenant)
        assert answer.code not in (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN), (step, answer)
        self._check_content(victim, answer)

    def use_namespace(self, victim: Victim) -> None:
        answer = self._view.run_in_other_namespace(self._step(), victim.attacker, victim.tenant)
        assert answer.code is grpc.StatusCode.PERMISSION_DENIED, answer
        self._check_content(victim, answer)

    def use_page_token(self, victim: Victim) -> None:
        way = self._chance.choice(PAGES)
        method, request = page_request(way, victim.attacker.namespace, victim.page_tokens[way])
        answer = self._call(method, request, victim.attacker.grant.text)
        assert answer.code is grpc.StatusCode.INVALID_ARGUMENT, (way, answer)
        self._check_content(victim, answer)

    def use_made_up_credentials(self, victim: Victim) -> None:
        """Use a token with another secret, cut off, or none at all, in the namespace of the victim."""
        step, token = self._step(), victim.tenant.grant.text
        at = self._chance.randrange(len(token))
        other = self._chance.choice("abcdefghijklmnopqrstuvwxyz0123456789".replace(token[at].lower(), ""))
        forged = self._chance.choice([token[:at] + other + token[at + 1 :], token[:at], token + other, None])
        requests = StepRequest(step, victim.tenant, "herons", "x").requests()
        answer = call(
            self._view.restricted.channel, step.method, [request.SerializeToString() for request in requests], forged
        )
        assert answer.code is grpc.StatusCode.UNAUTHENTICATED, (step.method, answer)
        self._check_content(victim, answer)

    def _call(self, method: str, request: Any, token: str) -> Answer:
        return call(self._view.restricted.channel, method, [request.SerializeToString()], token)

    def _check_content(self, victim: Victim, answer: Answer) -> None:
        assert victim.attacker.foreign_canaries(answer.everything) == [], answer


def page_request(way: str, namespace: str, page_token: str) -> tuple[str, Any]:
    """Return the request that the token was made for, in another namespace."""
    if way == "sessions":
        return "ListSessions", session.ListSessionsRequest(namespace=namespace, page_size=1, page_token=page_token)
    if way == "messages":
        return "GetAll", memory.GetAllRequest(namespace=namespace, session_id="s0", page_size=1, page_token=page_token)
    return "Search", memory.SearchRequest(
        namespace=namespace,
        query="heron",
        mode=way,
        limit=1,
        scope=SCOPE_NAMESPACE,
        user_id="u",
        page_token=page_token,
    )


@pytest.mark.parametrize("part", range(PARTS))
def test_no_call_of_a_tenant_reads_or_changes_data_of_another(view: TenantView, part: int, attempts: Attempts) -> None:
    chance = random_source(part)
    victims = [Victim(*ordered(pair, part), view) for pair in PAIRS[part::PARTS]]
    for victim in victims:
        victim.fill()
    attacker = Attacker(view, chance)
    unchanged = "all of its data reads as before"
    attacks = [
        (attempts.of("call with the ids, words and fact ids of another tenant", unchanged), attacker.use_ids, 500),
        (attempts.of("call in the namespace of another tenant", "PERMISSION_DENIED"), attacker.use_namespace, 300),
        (attempts.of("page token of another tenant", "INVALID_ARGUMENT"), attacker.use_page_token, 100),
        (
            attempts.of("forged, cut off or missing token", "UNAUTHENTICATED"),
            attacker.use_made_up_credentials,
            100,
        ),
    ]
    for attack, attempt, per_round in attacks:
        for number in range(scaled(per_round / PARTS)):
            with attack.attempt():
                attempt(victims[number % len(victims)])
    for victim in victims:
        assert list(differences(victim.before, victim.read())) == []


def differences(before: Any, after: Any) -> Iterator[tuple[Any, Any]]:
    """Return the smallest parts that differ."""
    if isinstance(before, tuple | list) and isinstance(after, tuple | list) and len(before) == len(after):
        for old, new in zip(before, after, strict=True):
            yield from differences(old, new)
    elif before != after:
        yield before, after


def ordered(pair: Pair, part: int) -> Pair:
    """Return victim and attacker: each tenant of a pair is the victim once."""
    return pair if part == 0 else (pair[1], pair[0])
