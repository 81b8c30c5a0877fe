"""One message of a user, and what the rules find in it."""

from collections.abc import Sequence

from memsidecar.domain.message import Role
from memsidecar.language.contract import Finding, Utterance
from memsidecar.language.rules.extractor import RuleExtractor

RULES = RuleExtractor()


def found(text: str, role: Role = Role.USER) -> Sequence[Finding]:
    return RULES.extract([Utterance("m1", role, "", text, 1)])


def facts(text: str) -> list[tuple[str, str, str]]:
    """What holds, as type, key and value."""
    return [(one.type.name, one.key, one.value) for one in found(text) if one.holds]


def ended(text: str) -> list[tuple[str, str, str]]:
    """What is taken back."""
    return [(one.type.name, one.key, one.value) for one in found(text) if not one.holds]
