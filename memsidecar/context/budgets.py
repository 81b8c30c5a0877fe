"""A parsed request, and the limits of its sections: defaults, scaling with the budget, overrides."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from memsidecar.domain.errors import InvalidField
from memsidecar.domain.session import SessionKey
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
from memsidecar.v1.message_pb2 import Scope

REFERENCE_TOKENS = 8_000
"The budget for which the shares are given. They scale with the budget of the request."

SECTIONS: tuple[Section, ...] = tuple(
    cast(Section, number) for number in Section.values() if number != SECTION_UNSPECIFIED
)
DERIVED_SECTIONS = (
    SECTION_FACTS,
    SECTION_HINTS,
    SECTION_SUMMARY,
    SECTION_ARTIFACTS,
)
"Sections of derived memory, which share a limit."
_NO_LIMIT = 1 << 31
_MAX_DERIVED_PART = 0.30
_FIXED = frozenset({SECTION_TOOL_SCHEMAS, SECTION_OUTPUT_RESERVE, SECTION_FRAMING})


@dataclass(frozen=True, slots=True)
class Budgets:
    """Defaults from the settings. Token figures hold at a budget of REFERENCE_TOKENS.

    `fill` is the part of the tokens between a section's share and its ceiling that may be used.
    """

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
    documents_max_items: int = 20
    episodic_items: int = 3
    episodic_max_items: int = 30
    working_turns: int = 10
    working_min_turns: int = 5
    verbatim_messages: int = 6
    fill: float = 1.0


class SectionLimit(NamedTuple):
    """Limits of one section. Its share is guaranteed; tokens that others leave extend it up to its ceiling.

    `items` counts turns in the working section.
    """

    share: int
    ceiling: int
    items: int = _NO_LIMIT
    max_items: int = _NO_LIMIT
    min_tokens: int = 0
    disabled: bool = False

    @property
    def guaranteed(self) -> int:
        return 0 if self.disabled else self.share

    def within(self, tokens: int) -> "SectionLimit":
        return self._replace(share=min(self.share, tokens), ceiling=min(self.ceiling, tokens))


@dataclass(frozen=True, slots=True)
class SectionLimits:
    """Limits of all sections for one budget. `derived` bounds the derived sections together.

    `tokens` is the budget without tool schemas and the output reserve.

    The turn under way may extend the conversation to `turn` tokens, of what no other section can use.
    """

    budget: int
    tokens: int
    derived: int
    turn: int
    sections: Mapping[Section, SectionLimit]

    def __getitem__(self, section: Section) -> SectionLimit:
        return self.sections[section]


class _Rule(NamedTuple):
    """How a section scales: its share at REFERENCE_TOKENS, its floor and its ceiling as parts of the budget.

    A floor is for small budgets: it is never more than the share at REFERENCE_TOKENS.
    """

    share: int
    floor: float = 0.0
    max_floor: int = _NO_LIMIT
    ceiling: float = 0.0
    items: int = _NO_LIMIT
    max_items: int = _NO_LIMIT

    def limit(self, tokens: int, fill: float) -> SectionLimit:
        floor = min(int(self.floor * tokens), self.max_floor, self.share)
        share = max(_scaled(self.share, tokens), floor)
        ceiling = max(share, int(self.ceiling * tokens)) if self.share else share
        max_items = self.max_items if fill else self.items
        return SectionLimit(share, share + int(fill * (ceiling - share)), self.items, max(self.items, max_items))


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


def section_limits(
    budget: int, tokens: int, defaults: Budgets, overrides: Mapping[Section, SectionBudget]
) -> SectionLimits:
    """Return the limits at a budget, of which `tokens` are left beside tool schemas and the output reserve."""
    rules: dict[Section, _Rule] = {
        SECTION_SYSTEM: _Rule(defaults.system),
        SECTION_PROFILE: _Rule(defaults.profile),
        SECTION_FACTS: _Rule(defaults.facts, 0.15, 120, 0.05, defaults.facts_items),
        SECTION_HINTS: _Rule(defaults.hints),
        SECTION_SUMMARY: _Rule(defaults.summary, 0.15, 200, 0.10, 1, 1),
        SECTION_ARTIFACTS: _Rule(defaults.artifacts, ceiling=0.05, items=defaults.artifacts_items),
        SECTION_DOCUMENTS: _Rule(
            defaults.documents, 0.20, _NO_LIMIT, 0.30, defaults.documents_items, defaults.documents_max_items
        ),
        SECTION_EPISODIC: _Rule(
            defaults.episodic, 0.25, 400, 0.60, defaults.episodic_items, defaults.episodic_max_items
        ),
        SECTION_WORKING: _Rule(
            defaults.working, ceiling=0.60, items=max(defaults.working_turns, _scaled(defaults.working_turns, tokens))
        ),
    }
    sections = {
        section: _with_override(rule.limit(tokens, defaults.fill), overrides.get(section))
        for section, rule in rules.items()
    }
    working = sections[SECTION_WORKING]
    is_set = SECTION_WORKING in overrides and overrides[SECTION_WORKING].HasField("max_tokens")
    most = working.ceiling if is_set else max(working.ceiling, tokens)
    turn = working.ceiling + int(defaults.fill * (most - working.ceiling)) if working.items else 0
    return SectionLimits(budget, tokens, _derived_tokens(tokens, defaults, overrides), turn, sections)


def _derived_tokens(tokens: int, defaults: Budgets, overrides: Mapping[Section, SectionBudget]) -> int:
    """Return the common limit of the derived sections. It does not shrink if the request sets one of theirs."""
    is_set = any(section in overrides and overrides[section].HasField("max_tokens") for section in DERIVED_SECTIONS)
    reduced = defaults.derived if is_set else min(defaults.derived, int(_MAX_DERIVED_PART * tokens))
    return max(reduced, _scaled(defaults.derived, tokens))


def _scaled(amount: int, tokens: int) -> int:
    return min(amount * tokens // REFERENCE_TOKENS, _NO_LIMIT - 1)


def _with_override(default: SectionLimit, override: SectionBudget | None) -> SectionLimit:
    """Return the limit with every field that the request sets: figures of a request are ceilings. A zero counts."""
    if override is None:
        return default
    limit = default._replace(min_tokens=override.min_tokens, disabled=override.disabled)
    if override.HasField("max_tokens"):
        limit = limit._replace(share=override.max_tokens, ceiling=override.max_tokens)
    if override.HasField("top_k"):
        limit = limit._replace(items=override.top_k, max_items=override.top_k)
    return limit


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """A BuildContext request. `sections` overrides the section defaults; `now_us` is the time of the request.

    A dry run has no side effect: nothing of its context is recorded, and no summary is stored.
    """

    key: SessionKey
    user_id: str
    now_us: int
    query: str = ""
    model: str = ""
    max_tokens: int = 0
    system_prompt: str = ""
    profile: str = ""
    tool_schemas_json: str = ""
    reserve_output_tokens: int = 0
    documents: Sequence[str] = ()
    sections: Mapping[Section, SectionBudget] = field(default_factory=dict)
    scope: Scope = Scope.SCOPE_UNSPECIFIED
    append_query: bool = False
    debug: bool = False
    query_vector: NDArray[np.float32] | None = None
    include_reasoning: bool = False
    fill: float | None = None
    dry_run: bool = False
