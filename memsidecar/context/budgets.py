"""Token and item limits of the sections of a context: defaults, scaling with the budget, overrides of a request."""

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
"The budget for which the default limits are given. They scale with the budget of the request."

SECTIONS: tuple[Section, ...] = tuple(
    cast(Section, number) for number in Section.values() if number != SECTION_UNSPECIFIED
)
DERIVED_SECTIONS = (
    SECTION_FACTS,
    SECTION_HINTS,
    SECTION_SUMMARY,
    SECTION_ARTIFACTS,
)
"Sections of derived memory, in the order in which they take their part of the common limit."
_NO_LIMIT = 1 << 31
_FIXED = frozenset({SECTION_TOOL_SCHEMAS, SECTION_OUTPUT_RESERVE, SECTION_FRAMING})


@dataclass(frozen=True, slots=True)
class Budgets:
    """Defaults from the settings. Token figures hold at a budget of REFERENCE_TOKENS."""

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
    """Limits of one section. `items` counts turns in the working section."""

    tokens: int
    items: int = _NO_LIMIT
    min_tokens: int = 0
    disabled: bool = False


@dataclass(frozen=True, slots=True)
class SectionLimits:
    """Limits of all sections for one budget. `derived` bounds the derived sections together."""

    budget: int
    derived: int
    sections: Mapping[Section, SectionLimit]

    def __getitem__(self, section: Section) -> SectionLimit:
        return self.sections[section]


def parse_section_budgets(wanted: Iterable[SectionBudget]) -> dict[Section, SectionBudget]:
    """Return the overrides by section. Raise InvalidField for an unknown section, a duplicate or a negative figure."""
    overrides: dict[Section, SectionBudget] = {}
    for at, budget in enumerate(wanted):
        if budget.section not in SECTIONS or budget.section in _FIXED:
            raise InvalidField(f"sections[{at}].section", "is not a section that has a budget")
        if budget.section in overrides:
            raise InvalidField(f"sections[{at}].section", "is named twice")
        for name in ("max_tokens", "top_k", "min_tokens"):
            if getattr(budget, name) < 0:
                raise InvalidField(f"sections[{at}].{name}", "must be at least 0")
        overrides[budget.section] = budget
    return overrides


def section_limits(budget: int, defaults: Budgets, overrides: Mapping[Section, SectionBudget]) -> SectionLimits:
    """Return the limits at `budget`: the scaled defaults, replaced by what the request sets."""
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
        section: _with_override(limit._replace(tokens=_scaled(limit.tokens, budget)), overrides.get(section))
        for section, limit in base.items()
    }
    return SectionLimits(budget, _derived_tokens(budget, defaults, overrides), sections)


def _derived_tokens(budget: int, defaults: Budgets, overrides: Mapping[Section, SectionBudget]) -> int:
    """Return the common limit of the derived sections. It does not shrink if the request sets one of theirs."""
    scaled = _scaled(defaults.derived, budget)
    is_set = any(section in overrides and overrides[section].HasField("max_tokens") for section in DERIVED_SECTIONS)
    return max(scaled, defaults.derived) if is_set else scaled


def _scaled(tokens: int, budget: int) -> int:
    return min(tokens * budget // REFERENCE_TOKENS, _NO_LIMIT - 1)


def _with_override(default: SectionLimit, override: SectionBudget | None) -> SectionLimit:
    """Return the limit with every field that the request sets. A zero that is set counts."""
    if override is None:
        return default
    return SectionLimit(
        override.max_tokens if override.HasField("max_tokens") else default.tokens,
        override.top_k if override.HasField("top_k") else default.items,
        override.min_tokens if override.HasField("min_tokens") else 0,
        override.disabled,
    )
