"""The budget is respected for any input, budget and tokenizer."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsidecar.context.packing import ContextInput
from memsidecar.context.reduction import MIN_PREVIEW_TOKENS
from memsidecar.context.sections import Item
from memsidecar.context.window import WindowMessage, split_turns
from memsidecar.domain.errors import BudgetTooSmall
from memsidecar.domain.message import Role
from memsidecar.tokens.contract import Counter
from memsidecar.tokens.estimate import CharsPerFour
from memsidecar.v1.context_pb2 import Inclusion, Section, SectionBudget
from tests.context.context_input import (
    COUNTERS,
    TOKENIZERS,
    Built,
    build,
    context_inputs,
    fixed_section_budgets,
    retrieved,
    tokens_of,
    window_message,
    window_of,
)

budgets = st.one_of(st.integers(1, 2_000), st.integers(1, 200_000))


def shown_messages(context_input: ContextInput) -> list[WindowMessage]:
    messages = [message for turn in context_input.turns for unit in turn.units for message in unit.messages]
    return sorted(messages, key=lambda message: message.sequence)


def check(built: Built, context_input: ContextInput, budget: int, tokenizer: str) -> None:
    counter, response = COUNTERS.named(tokenizer), built.response
    counted = sum(tokens_of(message, counter) for message in response.messages)
    assert response.total_tokens == counted + context_input.schema_tokens + context_input.reserve_tokens
    assert response.total_tokens == sum(built.used.values()) <= budget == response.max_tokens
    assert min(built.used.values()) >= 0
    assert [message.tokens for message in response.messages] == [tokens_of(each, counter) for each in response.messages]


def sufficient_budget(context_input: ContextInput, budget: int, counter: Counter) -> int:
    """Return the budget, or the required one if it is too small."""
    try:
        build(context_input, budget, counter)
    except BudgetTooSmall as refused:
        return refused.required_tokens
    return budget


@pytest.mark.long
@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@settings(deadline=None)
@given(data=st.data(), budget=budgets)
def test_the_token_count_matches_the_rendered_messages(tokenizer: str, data: st.DataObject, budget: int) -> None:
    counter = COUNTERS.named(tokenizer)
    context_input = data.draw(context_inputs(counter))
    enough = sufficient_budget(context_input, budget, counter)
    check(build(context_input, enough, counter), context_input, enough, tokenizer)


@settings(deadline=None)
@given(data=st.data(), budget=budgets, less=st.integers(0, 500))
def test_a_smaller_budget_never_shows_more(data: st.DataObject, budget: int, less: int) -> None:
    counter = COUNTERS.default
    context_input = data.draw(context_inputs(counter))
    try:
        smaller = build(context_input, max(1, budget - less), counter, fixed_section_budgets())
    except BudgetTooSmall:
        return
    assert smaller.ids <= build(context_input, budget, counter, fixed_section_budgets()).ids


@settings(deadline=None)
@given(data=st.data(), budget=budgets)
def test_system_prompt_and_pinned_facts_are_never_evicted(data: st.DataObject, budget: int) -> None:
    counter = COUNTERS.default
    context_input = data.draw(context_inputs(counter))
    facts = context_input.sections[Section.SECTION_FACTS]
    pinned = tuple(item._replace(pinned=at < 2) for at, item in enumerate(facts))
    context_input = replace(context_input, sections={**context_input.sections, Section.SECTION_FACTS: pinned})
    built = build(context_input, sufficient_budget(context_input, budget, counter), counter)
    prompts = {item.id for item in context_input.sections[Section.SECTION_SYSTEM]}
    assert built.included(Section.SECTION_SYSTEM) == prompts
    assert built.included(Section.SECTION_FACTS) >= {item.id for item in pinned[:2]}


@settings(deadline=None)
@given(data=st.data(), budget=budgets)
def test_each_message_is_shown_left_out_or_left_to_the_summary(data: st.DataObject, budget: int) -> None:
    counter = COUNTERS.default
    context_input = data.draw(context_inputs(counter))
    receipt = build(context_input, sufficient_budget(context_input, budget, counter), counter).response.receipt
    sections = {section.section: section for section in receipt.sections}
    working, summary = sections[Section.SECTION_WORKING], sections[Section.SECTION_SUMMARY]
    is_whole = any(item.reason == Inclusion.INCLUSION_INCLUDED for item in summary.items)
    covered = context_input.summarized_through if is_whole else 0
    listed = {item.id: item for item in working.items if item.id != "query"}
    messages = {message.message.id: message.sequence for message in shown_messages(context_input)}
    assert listed.keys() == messages.keys()
    hidden = {name: item.reason for name, item in listed.items() if not item.included}
    summarized = {name for name, reason in hidden.items() if reason == Inclusion.INCLUSION_SUMMARIZED}
    assert summarized == {name for name in hidden if messages[name] <= covered}
    assert (working.left_out_count, working.summarized_count) == (len(hidden) - len(summarized), len(summarized))


@settings(deadline=None)
@given(data=st.data(), budget=budgets)
def test_tool_exchanges_are_complete_and_the_task_is_included(data: st.DataObject, budget: int) -> None:
    counter = COUNTERS.default
    context_input = data.draw(context_inputs(counter))
    built = build(context_input, sufficient_budget(context_input, budget, counter), counter)
    included = built.included(Section.SECTION_WORKING)
    for message in shown_messages(context_input):
        if message.exchange:
            exchange = {
                f"m{each.sequence}" for each in shown_messages(context_input) if each.exchange == message.exchange
            }
            assert exchange <= included or not exchange & included
    messages = shown_messages(context_input)
    asked = [message for message in messages if message.role == Role.USER][-1:]
    assert {f"m{message.sequence}" for message in messages[-1:]} <= included
    if not context_input.query_to_append:
        contents = {message.content for message in built.response.messages}
        assert {message.message.content for message in asked} <= contents


@settings(deadline=None)
@given(data=st.data())
def test_only_what_the_caller_wrote_makes_a_budget_too_small(data: st.DataObject) -> None:
    """The prompt, the task, schemas and reserve. Tool results and answers become as small as they must."""
    counter = COUNTERS.default
    context_input = data.draw(context_inputs(counter))
    messages = shown_messages(context_input)
    asked = [message for message in messages if message.role == Role.USER][-1:]
    newest = [one for one in messages if one.exchange and one.exchange == messages[-1].exchange] or messages[-1:]
    prompt = sum(counter.count(item.text) for item in context_input.sections[Section.SECTION_SYSTEM])
    task = sum(message.tokens for message in asked) + counter.count(context_input.query_to_append)
    besides = context_input.schema_tokens + context_input.reserve_tokens
    framing = 40 + 24 * len(newest)
    previews = len(newest) * (MIN_PREVIEW_TOKENS + framing)
    assert sufficient_budget(context_input, 1, counter) <= prompt + task + besides + previews + framing


@settings(deadline=None)
@given(data=st.data())
def test_derived_memory_is_bounded(data: st.DataObject) -> None:
    context_input = data.draw(context_inputs(COUNTERS.default))
    used = build(context_input, 8_000, COUNTERS.default).used
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
    context_input = data.draw(context_inputs(COUNTERS.default))
    section = data.draw(st.sampled_from([Section.SECTION_FACTS, Section.SECTION_EPISODIC, Section.SECTION_DOCUMENTS]))
    totals = []
    for items in (top_k, top_k + 1):
        section_budgets = fixed_section_budgets()
        section_budgets[section].top_k = items
        totals.append(build(context_input, 1_000_000, COUNTERS.default, section_budgets).response.total_tokens)
    assert totals[0] <= totals[1]


def test_an_empty_context_has_no_messages() -> None:
    built = build(ContextInput({}), 1, COUNTERS.default)
    assert (list(built.response.messages), built.response.total_tokens) == ([], 0)


def test_the_working_section_advances_in_steps() -> None:
    """The start of the conversation changes rarely from turn to turn."""
    counter, starts, shown = COUNTERS.default, [], []
    messages = []
    for turn in range(60):
        messages.append(window_message(2 * turn + 1, Role.USER, f"question {turn} about it", counter))
        built = build(ContextInput({}, turns=split_turns(window_of(messages))), 8_000, counter)
        starts.append(min(one.sequence for one in built.packed.rendered.before + built.packed.rendered.after))
        shown.append(len(built.included(Section.SECTION_WORKING)))
        messages.append(window_message(2 * turn + 2, Role.ASSISTANT, f"answer {turn}", counter))
    assert max(shown) == 19
    assert min(shown[9:]) == 11
    assert len(set(starts)) == 11


@pytest.mark.parametrize("words", [300, 700, 1_200, 2_000])
def test_a_retrieved_item_is_whole_if_there_is_room(words: int) -> None:
    text = "A sentence of six short words. " * (words // 6)
    built = build(ContextInput({Section.SECTION_EPISODIC: (retrieved("m", text, 0.5),)}), 8_000, COUNTERS.default)
    (receipt,) = [each for each in built.response.receipt.sections if each.section == Section.SECTION_EPISODIC]
    assert [item.reason for item in receipt.items] == [Inclusion.INCLUSION_INCLUDED]


class Superadditive(CharsPerFour):
    """Counts more for a text than for its parts, as a custom tokenizer may."""

    def count(self, text: str) -> int:
        tokens = super().count(text)
        return tokens + tokens * tokens // 4_000


def test_a_budget_that_fits_a_shortened_item_is_never_too_small() -> None:
    """Whole, the item may have more tokens in the rendering than by itself: then it stays shortened."""
    context_input = ContextInput(
        {
            Section.SECTION_SYSTEM: (Item("prompt", "Be brief. " * 500),),
            Section.SECTION_EPISODIC: (retrieved("m", ("It rains in Porto. " * 100).strip(), 0.5),),
        }
    )
    least = sufficient_budget(context_input, 1, Superadditive())
    for budget in range(least, least + 1_000):
        assert build(context_input, budget, Superadditive()).response.total_tokens <= budget


def episodic(item: Item, budget: int) -> tuple[str, list[list[str]]]:
    """Return the text of the context, and the messages of its memories."""
    built = build(ContextInput({Section.SECTION_EPISODIC: (item,)}), budget, COUNTERS.default)
    (receipt,) = [each for each in built.response.receipt.sections if each.section == Section.SECTION_EPISODIC]
    return built.response.memory_text, [list(each.message_ids) for each in receipt.items]


def test_a_passage_keeps_its_answer_if_there_is_room() -> None:
    passage = retrieved("m", "User: …which port is it?", 0.5)
    whole = "User: …which port is it? / Assistant: Port 5544."
    lines = retrieved("m", whole, 0.5).lines
    expanded = passage._replace(
        shortened=True, message_ids=("m",), expanded=whole, expanded_lines=lines, expanded_ids=("m", "n")
    )
    text, messages = episodic(expanded, 8_000)
    assert "Port 5544." in text and messages == [["m", "n"]]


def test_a_correction_is_never_cut_off_what_it_corrects() -> None:
    text = "User: We deploy to production on each Tuesday at ten. User: We moved that to Thursday."
    both = retrieved("m", text, 0.5)._replace(message_ids=("old", "new"))
    context_input = ContextInput({Section.SECTION_EPISODIC: (both,)})
    for tokens in range(1, COUNTERS.default.count(text) + 2):
        budgets = {Section.SECTION_EPISODIC: SectionBudget(section=Section.SECTION_EPISODIC, max_tokens=tokens)}
        shown = build(context_input, 8_000, COUNTERS.default, budgets).response.memory_text
        assert ("Tuesday" in shown) == ("Thursday" in shown)
