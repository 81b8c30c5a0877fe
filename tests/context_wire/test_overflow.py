"""Overflow: sections are evicted in a fixed order, and evicted items do not return at smaller budgets."""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import pytest

from memsidecar.v1.context_pb2 import BuildContextRequest, BuildContextResponse, SectionBudget
from memsidecar.v1.message_pb2 import ROLE_USER
from tests.context_wire.agent import Agent, new_agent, section_of, shown_in
from tests.context_wire.invariants import check_token_counts
from tests.scenarios.document_client import DocumentClient
from tests.scenarios.index_readiness import until_index_is_ready
from tests.scenarios.knowledge_client import INTEREST, PROFILE, fact
from tests.support.process import Client, Refusal, SidecarProcess, refusal
from tests.support.waiting import until

PROMPT = "You are a careful guide to the mountains, and you answer shortly."
QUERY = "Which rope and which boots do I need for the glacier tour?"
CAPS = {1: 1_000, 2: 2_000, 3: 200, 4: 100, 5: 400, 6: 800, 7: 400, 8: 200, 9: 4_000}
"The defaults at 8,000, by the number of their section: given in the request, they do not scale with the budget."
VISIBLE_TURNS = 9
"Fewer than the conversation has: with all of them it would be shown whole, without the summary."
MEMORIES = (
    "For the glacier tour my guide gave me a dynamic rope of sixty metres.",
    "My old boots let water in on the last glacier tour, so I threw them away.",
    "On the tour before that we had crampons, no boots with a stiff sole, and one short rope.",
)


class Included(NamedTuple):
    """How much of each section is included; turns are counted by their questions."""

    turns: int
    retrieved: int
    artifacts: int
    hints: int
    profile: int
    summary: int
    messages: int
    facts: int


EVICTION_ORDER = (
    ("turns", 5),
    ("retrieved", 1),
    ("artifacts", 0),
    ("hints", 0),
    ("retrieved", 0),
    ("profile", 0),
    ("summary", 0),
    ("messages", 2),
    ("facts", 1),
)


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    flags = ("--index", "volatile", "--facts-every-turns", "1000", "--facts-quiet-seconds", "86400")
    with SidecarProcess(tmp_path_factory.mktemp("overflow") / "data", *flags) as running:
        until_index_is_ready(running)
        yield running


@pytest.fixture
def full_agent(client: Client) -> Agent:
    """An agent with content in every section."""
    agent = new_agent(client, user=True)
    add_pattern(agent)
    for number, text in enumerate(MEMORIES):
        Agent(client, f"{agent.session_id}-before-{number}", user_id=agent.user_id).conversation.add(text)
    agent.knowledge_client.put_facts(
        fact("Priya Nair", PROFILE, "name"), fact("vegan", PROFILE, "diet", pinned=True), fact("ice", INTEREST, "likes")
    )
    library = DocumentClient(client, user_id=agent.user_id)
    for number, text in enumerate(
        ("A rope of sixty metres.", "Boots with a stiff sole.", "A glacier tour takes a day.")
    ):
        library.put(f"d{number}", f"Leaflet {number} on the glacier tour: rope, boots and more. {text}")
    add_conversation(agent)
    for number in range(3):
        agent.knowledge_client.of(agent.user_id, agent.session_id).put(
            f"a{number}", f"Price list {number}: rope {90 + number} euros, boots {200 + number} euros."
        )
    return agent


def add_pattern(agent: Agent) -> None:
    """Add a preference to every conversation, so that there is a hint."""
    for number in range(12):
        elsewhere = Agent(agent.client, f"{agent.session_id}-habit-{number}", user_id=agent.user_id)
        elsewhere.turns([(f"Tell me of number {number}.", "That is how it is."), ("Shorter please.", "It is.")])
    assert agent.patterns().hints


def add_conversation(agent: Agent) -> None:
    """Add twelve turns; a summary covers the first three."""
    turns = [(f"Question {at}: what about hut number {at}?", f"Hut {at} has {at + 7} beds.") for at in range(12)]
    agent.turns(turns[:6])
    until(lambda: (found := agent.summary()) is not None and found.last_sequence == 6)
    agent.turns(turns[6:])


def build(agent: Agent, budget: int) -> BuildContextResponse:
    sections = [SectionBudget(section=number, max_tokens=tokens) for number, tokens in CAPS.items()]  # type: ignore[arg-type]
    sections[-1].top_k = VISIBLE_TURNS
    profile = "Priya is a nurse. She is afraid of heights. She has two children."
    return agent.build(
        max_tokens=budget, query=QUERY, system_prompt=PROMPT, profile=profile, sections=sections, debug=True
    )


def included_of(built: BuildContextResponse) -> Included:
    stored = [message for message in built.messages if not message.synthetic]
    profile = section_of(built, "PROFILE").used_tokens
    turns = sum(one.role == ROLE_USER for one in stored)
    names = ("EPISODIC", "DOCUMENTS", "ARTIFACTS", "HINTS", "SUMMARY", "FACTS")
    episodic, documents, artifacts, hints, summary, facts = (len(shown_in(built, name)) for name in names)
    return Included(turns, episodic + documents, artifacts, hints, profile, summary, len(stored), facts)


def shrinking_contexts(agent: Agent) -> Iterator[BuildContextResponse]:
    """Yield contexts; each budget is one token too small for the context before it."""
    budget = 8_000
    while True:
        built = build(agent, budget)
        yield built
        budget = built.total_tokens - 1
        if included_of(built).facts == 1:
            return


def test_sections_are_evicted_in_order(full_agent: Agent) -> None:
    contexts = list(shrinking_contexts(full_agent))
    measures = [included_of(built) for built in contexts]
    first, last = measures[0], measures[-1]
    assert (
        first == Included(VISIBLE_TURNS, 6, 3, first.hints, first.profile, 1, 18, 3) and first.hints and first.profile
    )
    assert last == Included(1, 0, 0, 0, 0, 0, 2, 1)
    for measure in measures:
        for earlier, later in pairwise(EVICTION_ORDER):
            assert getattr(measure, earlier[0]) <= earlier[1] or not has_started(measure, later, first), (
                measure,
                earlier,
                later,
            )


def has_started(one: Included, step: tuple[str, int], first: Included) -> bool:
    """Return whether something is evicted by this step, and not by an earlier one."""
    name, least = step
    before = [items for section, items in EVICTION_ORDER[: EVICTION_ORDER.index(step)] if section == name]
    start = min([*before, getattr(first, name)]) if name != "messages" else 10
    return bool(getattr(one, name) < start) and start > least


def test_evicted_items_do_not_return_and_prompt_and_pinned_facts_stay(full_agent: Agent) -> None:
    contexts = list(shrinking_contexts(full_agent))
    shown = [{item.id for part in built.receipt.sections for item in part.items if item.included} for built in contexts]
    for more, less in pairwise(shown):
        assert less <= more
    for built in contexts:
        assert built.messages[0].content.startswith(PROMPT) and "diet: vegan" in built.messages[0].content
        assert built.total_tokens <= built.max_tokens
    assert [context.total_tokens for context in contexts] == sorted(
        (one.total_tokens for one in contexts), reverse=True
    )


def test_the_required_tokens_are_reported_when_required_content_does_not_fit(full_agent: Agent) -> None:
    least = list(shrinking_contexts(full_agent))[-1]
    refused = refusal(lambda: build(full_agent, least.total_tokens - 1))
    assert required(refused) == least.total_tokens
    assert build(full_agent, required(refused)).messages == least.messages


def required(refused: Refusal) -> int:
    assert (refused.code.name, refused.reason) == ("FAILED_PRECONDITION", "BUDGET_TOO_SMALL")
    return int(refused.metadata["required_tokens"])


def test_token_counts_are_right_at_every_budget(full_agent: Agent) -> None:
    for budget in range(8_000, 400, -950):
        built = full_agent.build(max_tokens=budget, query=QUERY, system_prompt=PROMPT)
        assert built.max_tokens == budget
        check_token_counts(BuildContextRequest(max_tokens=budget), built)
