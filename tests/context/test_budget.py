"""The budget holds: for any material, any budget, any tokenizer."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsidecar.context.packing import ContextInput
from memsidecar.context.window import WindowMessage, split_turns
from memsidecar.domain.errors import BudgetTooSmall
from memsidecar.domain.message import Role
from memsidecar.tokens.contract import Counter
from memsidecar.v1.context_pb2 import Section
from tests.context.context_input import (
    COUNTERS,
    TOKENIZERS,
    Built,
    build,
    fixed_caps,
    materials,
    spoken,
    talk_of,
    tokens_of,
)

budgets = st.one_of(st.integers(1, 2_000), st.integers(1, 200_000))


def spoken_in(material: ContextInput) -> list[WindowMessage]:
    said = [message for turn in material.turns for unit in turn.units for message in unit.messages]
    return sorted(said, key=lambda one: one.sequence)


def check(built: Built, material: ContextInput, budget: int, tokenizer: str) -> None:
    counter, response = COUNTERS.named(tokenizer), built.response
    counted = sum(tokens_of(message, counter) for message in response.messages)
    assert response.total_tokens == counted + material.schema_tokens + material.reserve_tokens
    assert response.total_tokens == sum(built.used.values()) <= budget == response.max_tokens
    assert min(built.used.values()) >= 0
    assert [message.tokens for message in response.messages] == [tokens_of(each, counter) for each in response.messages]


def least_enough(material: ContextInput, budget: int, counter: Counter) -> int:
    """The budget, or where it is refused what the refusal asks for."""
    try:
        build(material, budget, counter)
    except BudgetTooSmall as refused:
        return refused.required_tokens
    return budget


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@settings(deadline=None)
@given(data=st.data(), budget=budgets)
def test_what_is_counted_is_what_is_rendered(tokenizer: str, data: st.DataObject, budget: int) -> None:
    counter = COUNTERS.named(tokenizer)
    material = data.draw(materials(counter))
    enough = least_enough(material, budget, counter)
    check(build(material, enough, counter), material, enough, tokenizer)


@settings(deadline=None)
@given(data=st.data(), budget=budgets, less=st.integers(0, 500))
def test_a_smaller_budget_never_shows_more(data: st.DataObject, budget: int, less: int) -> None:
    counter = COUNTERS.default
    material = data.draw(materials(counter))
    try:
        smaller = build(material, max(1, budget - less), counter, fixed_caps())
    except BudgetTooSmall:
        return
    assert smaller.ids <= build(material, budget, counter, fixed_caps()).ids


@settings(deadline=None)
@given(data=st.data(), budget=budgets)
def test_system_prompt_and_chosen_facts_stay_to_the_last(data: st.DataObject, budget: int) -> None:
    counter = COUNTERS.default
    material = data.draw(materials(counter))
    rich = build(material, 1_000_000, counter, fixed_caps())
    try:
        poor = build(material, budget, counter, fixed_caps())
    except BudgetTooSmall:
        return
    for section in (Section.SECTION_SYSTEM, Section.SECTION_FACTS):
        assert poor.included(section) == rich.included(section)


@settings(deadline=None)
@given(data=st.data(), budget=budgets)
def test_tool_exchanges_are_whole_and_the_last_messages_are_there(data: st.DataObject, budget: int) -> None:
    counter = COUNTERS.default
    material = data.draw(materials(counter))
    built = build(material, least_enough(material, budget, counter), counter)
    said = built.included(Section.SECTION_WORKING)
    for one in spoken_in(material):
        if one.exchange:
            exchange = {f"m{each.sequence}" for each in spoken_in(material) if each.exchange == one.exchange}
            assert exchange <= said or not exchange & said
    assert {f"m{one.sequence}" for one in spoken_in(material)[-2:]} <= said


@settings(deadline=None)
@given(data=st.data())
def test_distilled_memory_is_bounded(data: st.DataObject) -> None:
    material = data.draw(materials(COUNTERS.default))
    used = build(material, 8_000, COUNTERS.default).used
    distilled = (
        Section.SECTION_FACTS,
        Section.SECTION_HINTS,
        Section.SECTION_SUMMARY,
        Section.SECTION_ARTIFACTS,
    )
    assert sum(used[section] for section in distilled) <= 800


@settings(deadline=None)
@given(data=st.data(), top_k=st.integers(0, 6))
def test_fewer_items_are_never_more_tokens(data: st.DataObject, top_k: int) -> None:
    material = data.draw(materials(COUNTERS.default))
    section = data.draw(st.sampled_from([Section.SECTION_FACTS, Section.SECTION_EPISODIC, Section.SECTION_DOCUMENTS]))
    totals = []
    for items in (top_k, top_k + 1):
        asked = fixed_caps()
        asked[section].top_k = items
        totals.append(build(material, 1_000_000, COUNTERS.default, asked).response.total_tokens)
    assert totals[0] <= totals[1]


def test_an_empty_context_is_no_message_at_all() -> None:
    built = build(ContextInput({}), 1, COUNTERS.default)
    assert (list(built.response.messages), built.response.total_tokens) == ([], 0)


def test_the_working_section_moves_on_in_steps() -> None:
    """The beginning of the conversation stays the same from turn to turn, and changes rarely."""
    counter, starts, shown = COUNTERS.default, [], []
    lines = []
    for turn in range(60):
        lines.append(spoken(2 * turn + 1, Role.USER, f"question {turn} about it", counter))
        built = build(ContextInput({}, turns=split_turns(talk_of(lines))), 8_000, counter)
        starts.append(min(one.sequence for one in built.fitted.rendered.before + built.fitted.rendered.after))
        shown.append(len(built.included(Section.SECTION_WORKING)))
        lines.append(spoken(2 * turn + 2, Role.ASSISTANT, f"answer {turn}", counter))
    assert max(shown) == 19
    assert min(shown[9:]) == 11
    assert len(set(starts)) == 11
