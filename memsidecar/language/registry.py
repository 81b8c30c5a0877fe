"""Choice of the language model by the settings; rules that are loaded on first use."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import cast

from memsidecar.endpoint.config import EndpointConfig
from memsidecar.endpoint.resilience import InvalidEndpoint
from memsidecar.language.contract import FactExtractor, Finding, InvalidModel, Utterance
from memsidecar.language.openai import CHAT, OpenAIModel


@dataclass(frozen=True)
class ModelChoice:
    """The settings of the model. Without URL and name there is no model."""

    url: str = field(default="", repr=False)
    name: str = ""
    key: str | None = field(default=None, repr=False)
    timeout_seconds: float = 30.0
    concurrency: int = 1


def configured_model(choice: ModelChoice) -> OpenAIModel | None:
    """Return the model without contacting it. Raises InvalidModel, so that a wrong setting is reported at start."""
    if not choice.url and not choice.name:
        return None
    if not choice.name:
        raise InvalidModel("a model endpoint needs the name of a model")
    if choice.concurrency < 1:
        raise InvalidModel(f"a model needs a concurrency of at least one, not {choice.concurrency}")
    try:
        settings = EndpointConfig(CHAT, choice.url, choice.key, choice.timeout_seconds)
    except InvalidEndpoint as error:
        raise InvalidModel(str(error)) from None
    return OpenAIModel(choice.name, settings, choice.concurrency)


class LazyRules:
    """FactExtractor that imports the rules on first use: a server that never extracts facts does not compile them."""

    @property
    def origin(self) -> str:
        return "rules"

    def extract(self, utterances: Sequence[Utterance]) -> Sequence[Finding]:
        return self._rules.extract(utterances)

    @cached_property
    def _rules(self) -> FactExtractor:
        return cast(FactExtractor, import_module("memsidecar.language.rules.extractor").RuleExtractor())
