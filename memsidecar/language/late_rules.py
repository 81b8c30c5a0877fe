"""The rules, from when they are first needed: their patterns take a third of a second to be made ready, and the work
that needs them is behind everybody's back anyway."""

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from typing import cast

from memsidecar.language.contract import FactExtractor, Finding, Utterance


class LateRules:
    @property
    def origin(self) -> str:
        return "rules"

    def extract(self, utterances: Sequence[Utterance]) -> Sequence[Finding]:
        return self._rules.extract(utterances)

    @cached_property
    def _rules(self) -> FactExtractor:
        return cast(FactExtractor, import_module("memsidecar.language.rules.extractor").RuleExtractor())
