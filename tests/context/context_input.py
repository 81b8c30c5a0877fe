"""Generated inputs of contexts, and token counts by the documented rule."""

from dataclasses import dataclass, replace
from functools import cache

from hypothesis import strategies as st

from memsidecar.context.budgets import Budgets, SectionLimits, section_limits
from memsidecar.context.conversation import ConversationCutter, WindowStep
from memsidecar.context.packing import ContextInput, PackedContext, Packer
from memsidecar.context.reduction import Previewer
from memsidecar.context.response import ResponseBuilder
from memsidecar.context.sections import Item, Line
from memsidecar.context.window import ConversationWindow, WindowMessage, split_turns
from memsidecar.domain.message import Role
from memsidecar.tokens.contract import Counter
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.v1.context_pb2 import BuildContextResponse, Section, SectionBudget
from memsidecar.v1.message_pb2 import Message, ToolCall

COUNTERS = CounterRegistry("o200k_base")
TOKENIZERS = ("o200k_base", "cl100k_base", "chars4", "claude estimate")
BUDGETS = Budgets()


def tokens_of(message: Message, counter: Counter) -> int:
    """Count tokens by the documented rule, not by the code under test: 4 a message, 1 a name, 3 a tool call."""
    name = 1 + counter.count(message.name) if message.name else 0
    calls = sum(3 + counter.count(call.name) + counter.count(call.arguments_json) for call in message.tool_calls)
    return 4 + counter.count(message.content) + counter.count(message.reasoning) + name + calls


def window_message(
    number: int, role: Role, content: str, counter: Counter, *, exchange: int = 0, calls: int = 0
) -> WindowMessage:
    message = Message(id=f"m{number}", role=role, content=content, sequence=number)  # type: ignore[arg-type]
    message.tool_calls.extend(ToolCall(id=f"c{number}-{at}", name="look", arguments_json="{}") for at in range(calls))
    if role == Role.TOOL:
        message.tool_call_id = f"c{exchange}-0"
    tokens = message.tokens = tokens_of(message, counter)
    return WindowMessage(message, number, role, exchange, tokens, tokens)


def window_of(messages: list[WindowMessage]) -> ConversationWindow:
    return ConversationWindow(
        messages, sum(line.role == Role.USER for line in messages), sum(message.sum_tokens for message in messages)
    )


texts = st.one_of(st.text(max_size=60), st.integers(1, 200).map(lambda lines: "a line of a log\n" * lines))
"Texts of messages; some are large, as tool results are."

message_kinds = st.sampled_from(["user", "assistant", "call", "answer", "orphan"])


@st.composite
def windows(draw: st.DrawFn, counter: Counter) -> ConversationWindow:
    """Generate turns with and without tool exchanges: parallel, late and open ones."""
    messages: list[WindowMessage] = []
    open_calls: list[int] = []
    for _ in range(draw(st.integers(0, 14))):
        number = len(messages) + 1
        kind = draw(message_kinds)
        text = draw(texts)
        if kind == "call":
            messages.append(
                window_message(number, Role.ASSISTANT, text, counter, exchange=number, calls=draw(st.integers(1, 3)))
            )
            open_calls.append(number)
        elif kind == "answer" and open_calls:
            messages.append(
                window_message(number, Role.TOOL, text, counter, exchange=draw(st.sampled_from(open_calls)))
            )
        elif kind == "orphan":
            messages.append(window_message(number, Role.TOOL, text, counter))
        else:
            messages.append(
                window_message(number, Role.USER if kind == "user" else Role.ASSISTANT, text or "x", counter)
            )
    return window_of(messages)


def retrieved(name: str, text: str, score: float, place: int = 0) -> Item:
    """Return an item of any section; two in a row are of one session."""
    lines = (Line(text, place // 2, place, place, place),)
    return Item(name, text, score=score, relevance=score, lines=lines)


@cache  # Hypothesis checks each new strategy before its first example
def items(prefix: str, max_items: int = 6) -> st.SearchStrategy[tuple[Item, ...]]:
    texts = st.text(min_size=1, max_size=200).map(str.strip).filter(bool)
    return st.lists(texts, max_size=max_items).map(
        lambda found: tuple(retrieved(f"{prefix}{at}", text, 1 / (at + 1), at) for at, text in enumerate(found))
    )


@st.composite
def context_inputs(draw: st.DrawFn, counter: Counter) -> ContextInput:
    window = draw(windows(counter))
    sections = {
        section: draw(items(Section.Name(section)))
        for section in (
            Section.SECTION_PROFILE,
            Section.SECTION_FACTS,
            Section.SECTION_HINTS,
            Section.SECTION_ARTIFACTS,
            Section.SECTION_DOCUMENTS,
            Section.SECTION_EPISODIC,
        )
    }
    sections[Section.SECTION_SUMMARY] = draw(items("summary", 1))
    sections[Section.SECTION_SYSTEM] = draw(items("system", 2))
    return ContextInput(
        sections,
        turns=split_turns(window),
        summarized_through=draw(st.integers(0, len(window.messages))),
        query_to_append=draw(st.text(max_size=40)),
        schema_tokens=draw(st.integers(0, 300)),
        reserve_tokens=draw(st.integers(0, 300)),
    )


@dataclass(frozen=True)
class Built:
    response: BuildContextResponse
    packed: PackedContext

    @property
    def used(self) -> dict[int, int]:
        return {receipt.section: receipt.used_tokens for receipt in self.response.receipt.sections}

    def included(self, section: int) -> set[str]:
        (receipt,) = [each for each in self.response.receipt.sections if each.section == section]
        return {item.id for item in receipt.items if item.included}

    @property
    def ids(self) -> set[str]:
        return {item.id for receipt in self.response.receipt.sections for item in receipt.items if item.included}


def build(
    context_input: ContextInput,
    budget: int,
    counter: Counter,
    section_budgets: dict[Section, SectionBudget] | None = None,
) -> Built:
    """Raises BudgetTooSmall."""

    def limits_for(tokens: int) -> SectionLimits:
        left = max(0, tokens - context_input.schema_tokens - context_input.reserve_tokens)
        return section_limits(tokens, left, BUDGETS, section_budgets or {})

    cut = ConversationCutter(WindowStep(), Previewer(counter.count), bool(context_input.query_to_append))
    packed = Packer(limits_for, counter.count, cut)(context_input, budget)
    answer = ResponseBuilder(limits_for(budget), counter, counter.count, Role.SYSTEM, debug=True)
    return Built(answer(context_input, packed), packed)


def fixed_section_budgets() -> dict[Section, SectionBudget]:
    """Return the default section limits as a request gives them, so that they do not scale with the budget."""
    limits = section_limits(8_000, 8_000, BUDGETS, {})
    return {
        section: SectionBudget(section=section, max_tokens=limit.share) for section, limit in limits.sections.items()
    }


def without(context_input: ContextInput, *sections: Section) -> ContextInput:
    return replace(context_input, sections={**context_input.sections, **dict.fromkeys(sections, ())})
