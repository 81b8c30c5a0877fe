"""Interfaces of fact extraction, summarization and language models, with their values and errors."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from memsidecar.domain.errors import SidecarError
from memsidecar.domain.fact import FactType


class Utterance(NamedTuple):
    """A message as extractors and summarizers read it.

    `role` is one of `domain.message.Role`; `name` is the speaker's name, or empty.
    """

    message_id: str
    role: int
    name: str
    text: str
    time_us: int


class Finding(NamedTuple):
    """A statement about the user, with the messages that make it.

    `holds` is False where the user retracts it ("I no longer work at Acme"): the fact stored under this key with this
    value ends. An empty value ends the fact of the key whatever its value. `updates` is True where it only replaces a
    known fact ("The staging port is 6543 now"): without a current one of its key, nothing is learned.
    """

    type: FactType
    key: str
    value: str
    confidence: float
    source_message_ids: tuple[str, ...]
    holds: bool = True
    updates: bool = False


class ModelUnavailable(SidecarError):
    """The model is unreachable, rejects every request, or its circuit is open. The same call may succeed later."""


class MalformedAnswer(SidecarError):
    """The model answered repeatedly, but never in the requested form. It is not an empty result."""


class TextRejected(MalformedAnswer):
    """The endpoint accepts other texts but not this one, for its length or its content. A retry never helps.

    It is no ModelUnavailable: a task would retry this message for ever and never read the ones after it.
    """


class InvalidModel(ValueError):
    """The settings describe no usable model. The message never contains a key."""


class FactExtractor(Protocol):
    """Reads utterances in order and returns what they state about the user. Thread-safe.

    Only statements of the user about themselves count: no guess of the assistant, nothing hypothetical, negated,
    quoted or about others. Raises ModelUnavailable or MalformedAnswer; a failure is never returned as an empty result.
    """

    @property
    def origin(self) -> str:
        """The extractor's name in a fact: "rules", or the model's name."""

    def extract(self, utterances: Sequence[Utterance]) -> Sequence[Finding]:
        """Return the findings in the order of the utterances."""


class Summarizer(Protocol):
    """Updates a rolling summary. Thread-safe. Raises ModelUnavailable or MalformedAnswer."""

    @property
    def origin(self) -> str:
        """The summarizer's name in a summary: "extractive", or the model's name."""

    def summarize(self, before: str, utterances: Sequence[Utterance], max_tokens: int) -> str:
        """Return a summary of what `before` summarizes and of the utterances after it, oldest first.

        It has at most `max_tokens` by the server's default tokenizer. It is empty if there is nothing to summarize.
        """


class LanguageModel(Protocol):
    """A model behind an endpoint. Thread-safe; a call takes at most the time that its settings allow."""

    @property
    def name(self) -> str:
        """The model's name, as configured."""

    def complete(self, instructions: str, text: str, *, max_tokens: int, schema: object | None = None) -> str:
        """Return the model's answer, which may be empty.

        With `schema` the endpoint is asked for JSON of that schema; the caller still has to validate it. Raises
        ModelUnavailable; TextRejected if only this text is rejected; MalformedAnswer for JSON that was cut off.
        """
