"""Section budgets and their scaling."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, cast

from memsidecar.domain.errors import InvalidField
from memsidecar.v1.context_pb2 import (
    SECTION_ARTIFACTS,
    SECTION_DOCUMENTS,
    SECTION_EPISODIC,
    SECTION_FACTS,
    SECTION_FRAMING,
    SECTION_HINTS,
    SECTION_OUTPUT_RESERVE,
    SECTION_PROFILE,
    SECTION_SUMMARY,
    SECTION_SYSTEM,
    SECTION_TOOL_SCHEMAS,
    SECTION_UNSPECIFIED,
    SECTION_WORKING,
    Section,
    SectionBudget,
)

REFERENCE_TOKENS = 8_000
"The budget for which the default caps are given; they scale with it."

SECTIONS: tuple[Section, ...] = tuple(
    cast(Section, number) for number in Section.values() if number != SECTION_UNSPECIFIED
)
DERIVED_SECTIONS = (
    SECTION_FACTS,
    SECTION_HINTS,
    SECTION_SUMMARY,
    SECTION_ARTIFACTS,
)
"In the order in which they take their share of what distilled memory may have."
_NO_LIMIT = 1 << 31
_FIXED = frozenset({SECTION_TOOL_SCHEMAS, SECTION_OUTPUT_RESERVE, SECTION_FRAMING})


@dataclass(frozen=True, slots=True)
class Budgets:
    """The settings: tokens at 8,000, items, turns."""

    context: int = 8_000
    system: int = 1_000
    profile: int = 2_000
    facts: int = 200
    hints: int = 100
    summary: int = 400
    artifacts: int = 200
    documents: int = 800
    episodic: int = 400
    working: int = 4_000
    derived: int = 800
    facts_items: int = 8
    artifacts_items: int = 3
    documents_items: int = 3
    documents_found: int = 5
    episodic_items: int = 3
    working_turns: int = 10
    working_min_turns: int = 5
    verbatim_messages: int = 6


class SectionLimit(NamedTuple):
    """`items` are turns in the working section."""

    tokens: int
    items: int = _NO_LIMIT
    min_tokens: int = 0
    disabled: bool = False


@dataclass(frozen=True, slots=True)
class SectionLimits:
    budget: int
    derived: int
    sections: Mapping[Section, SectionLimit]

    def __getitem__(self, section: Section) -> SectionLimit:
        return self.sections[section]


def parse_section_budgets(wanted: Iterable[SectionBudget]) -> dict[Section, SectionBudget]:
    """What the request says of each section, or InvalidField."""
    asked: dict[Section, SectionBudget] = {}
    for at, one in enumerate(wanted):
        if one.section not in SECTIONS or one.section in _FIXED:
            raise InvalidField(f"sections[{at}].section", "is not a section that has a budget")
        if one.section in asked:
            raise InvalidField(f"sections[{at}].section", "is named twice")
        for name in ("max_tokens", "top_k", "min_tokens"):
            if getattr(one, name) < 0:
                raise InvalidField(f"sections[{at}].{name}", "must be at least 0")
        asked[one.section] = one
    return asked


def section_limits(budget: int, defaults: Budgets, asked: Mapping[Section, SectionBudget]) -> SectionLimits:
    base: dict[Section, SectionLimit] = {
        SECTION_SYSTEM: SectionLimit(defaults.system),
        SECTION_PROFILE: SectionLimit(defaults.profile),
        SECTION_FACTS: SectionLimit(defaults.facts, defaults.facts_items),
        SECTION_HINTS: SectionLimit(defaults.hints),
        SECTION_SUMMARY: SectionLimit(defaults.summary, 1),
        SECTION_ARTIFACTS: SectionLimit(defaults.artifacts, defaults.artifacts_items),
        SECTION_DOCUMENTS: SectionLimit(defaults.documents, defaults.documents_items),
        SECTION_EPISODIC: SectionLimit(defaults.episodic, defaults.episodic_items),
        SECTION_WORKING: SectionLimit(defaults.working, defaults.working_turns),
    }
    sections = {
        section: _asked(cap._replace(tokens=_scaled(cap.tokens, budget)), asked.get(section))
        for section, cap in base.items()
    }
    return SectionLimits(budget, _distilled(budget, defaults, asked), sections)


def _distilled(budget: int, defaults: Budgets, asked: Mapping[Section, SectionBudget]) -> int:
    """What distilled memory may have together. Where the request holds one of its caps, that must not shrink below."""
    scaled = _scaled(defaults.derived, budget)
    held = any(section in asked and asked[section].HasField("max_tokens") for section in DERIVED_SECTIONS)
    return max(scaled, defaults.derived) if held else scaled


def _scaled(tokens: int, budget: int) -> int:
    return min(tokens * budget // REFERENCE_TOKENS, _NO_LIMIT - 1)


def _asked(cap: SectionLimit, wanted: SectionBudget | None) -> SectionLimit:
    """What is present in the request counts, a zero included: fewer items are never more tokens."""
    if wanted is None:
        return cap
    return SectionLimit(
        wanted.max_tokens if wanted.HasField("max_tokens") else cap.tokens,
        wanted.top_k if wanted.HasField("top_k") else cap.items,
        wanted.min_tokens if wanted.HasField("min_tokens") else 0,
        wanted.disabled,
    )
