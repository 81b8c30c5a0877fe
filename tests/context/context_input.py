"""Made-up material for contexts, and what a stranger would count."""

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from memsidecar.context.budgets import Budgets, section_limits
from memsidecar.context.packing import ContextInput, PackedContext, Packer
from memsidecar.context.response import ResponseBuilder
from memsidecar.context.sections import Item
from memsidecar.context.window import ConversationWindow, WindowMessage, WindowStep, split_turns
from memsidecar.domain.message import Role
from memsidecar.tokens.contract import Counter
from memsidecar.tokens.registry import Counters
from memsidecar.v1.context_pb2 import BuildContextResponse, Section, SectionBudget
from memsidecar.v1.message_pb2 import Message, ToolCall

COUNTERS = Counters("o200k_base")
TOKENIZERS = ("o200k_base", "cl100k_base", "chars4")
for _name in TOKENIZERS:
    COUNTERS.named(_name).warm()
BUDGETS = Budgets()


def tokens_of(message: Message, counter: Counter) -> int:
    """By the documented rule, and not by the code under test: 4 a message, 1 a name, 3 a tool call."""
    name = 1 + counter.count(message.name) if message.name else 0
    calls = sum(3 + counter.count(call.name) + counter.count(call.arguments_json) for call in message.tool_calls)
    return 4 + counter.count(message.content) + counter.count(message.reasoning) + name + calls


def spoken(
    number: int, role: Role, content: str, counter: Counter, *, exchange: int = 0, calls: int = 0
) -> WindowMessage:
    message = Message(id=f"m{number}", role=role, content=content, sequence=number)  # type: ignore[arg-type]
    message.tool_calls.extend(ToolCall(id=f"c{number}-{at}", name="look", arguments_json="{}") for at in range(calls))
    if role == Role.TOOL:
        message.tool_call_id = f"c{exchange}-0"
    tokens = message.tokens = tokens_of(message, counter)
    return WindowMessage(message, number, role, exchange, tokens, tokens)


def talk_of(lines: list[WindowMessage]) -> ConversationWindow:
    return ConversationWindow(
        lines, sum(line.role == Role.USER for line in lines), sum(one.sum_tokens for one in lines)
    )


@st.composite
def talks(draw: st.DrawFn, counter: Counter) -> ConversationWindow:
    """Turns with and without tool exchanges, parallel, late and open ones."""
    lines: list[WindowMessage] = []
    open_calls: list[int] = []
    for _ in range(draw(st.integers(0, 14))):
        number = len(lines) + 1
        kind = draw(st.sampled_from(["user", "assistant", "call", "answer", "orphan"]))
        text = draw(st.text(max_size=60))
        if kind == "call":
            lines.append(spoken(number, Role.ASSISTANT, text, counter, exchange=number, calls=draw(st.integers(1, 3))))
            open_calls.append(number)
        elif kind == "answer" and open_calls:
            lines.append(spoken(number, Role.TOOL, text, counter, exchange=draw(st.sampled_from(open_calls))))
        elif kind == "orphan":
            lines.append(spoken(number, Role.TOOL, text, counter))
        else:
            lines.append(spoken(number, Role.USER if kind == "user" else Role.ASSISTANT, text or "x", counter))
    return talk_of(lines)


def items(prefix: str, most: int = 6) -> st.SearchStrategy[tuple[Item, ...]]:
    texts = st.text(min_size=1, max_size=200).map(str.strip).filter(bool)
    return st.lists(texts, max_size=most).map(
        lambda found: tuple(Item(f"{prefix}{at}", text, score=1 / (at + 1)) for at, text in enumerate(found))
    )


@st.composite
def materials(draw: st.DrawFn, counter: Counter) -> ContextInput:
    talk = draw(talks(counter))
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
        turns=split_turns(talk),
        summarized_through=draw(st.integers(0, len(talk.messages))),
        query_to_append=draw(st.text(max_size=40)),
        schema_tokens=draw(st.integers(0, 300)),
        reserve_tokens=draw(st.integers(0, 300)),
    )


@dataclass(frozen=True)
class Built:
    response: BuildContextResponse
    fitted: PackedContext

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
    material: ContextInput, budget: int, counter: Counter, asked: dict[Section, SectionBudget] | None = None
) -> Built:
    """Raises BudgetTooSmall."""
    asked = asked or {}
    fit = Packer(lambda tokens: section_limits(tokens, BUDGETS, asked), counter.count, WindowStep())
    fitted = fit(material, budget)
    answer = ResponseBuilder(section_limits(budget, BUDGETS, asked), counter, counter.count, Role.SYSTEM, debug=True)
    return Built(answer(material, fitted), fitted)


def fixed_caps() -> dict[Section, SectionBudget]:
    """The default caps as a request gives them, so that they do not scale with the budget."""
    caps = section_limits(8_000, BUDGETS, {})
    return {section: SectionBudget(section=section, max_tokens=cap.tokens) for section, cap in caps.sections.items()}


def without(material: ContextInput, *sections: Section) -> ContextInput:
    return replace(material, sections={**material.sections, **dict.fromkeys(sections, ())})
