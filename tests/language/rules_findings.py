"""Findings of the rules in one message of the user."""

from collections.abc import Sequence

from memsidecar.domain.message import Role
from memsidecar.language.contract import Finding, Utterance
from memsidecar.language.rules.extractor import RuleExtractor

RULES = RuleExtractor()


def found(text: str, role: Role = Role.USER) -> Sequence[Finding]:
    return RULES.extract([Utterance("m1", role, "", text, 1)])


def facts(text: str) -> list[tuple[str, str, str]]:
    """Return the findings that hold as type, key and value."""
    return [(finding.type.name, finding.key, finding.value) for finding in found(text) if finding.holds]


def ended(text: str) -> list[tuple[str, str, str]]:
    """Return the retractions as type, key and value."""
    return [(finding.type.name, finding.key, finding.value) for finding in found(text) if not finding.holds]
