"""FactExtractor, Summarizer, LanguageModel, errors."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from memsidecar.domain.errors import SidecarError
from memsidecar.domain.fact import FactType


class Utterance(NamedTuple):
    """A message as it is read. `role` is one of `domain.message.Role`; `name` is the speaker's, where one is given."""

    message_id: str
    role: int
    name: str
    text: str
    time_us: int


class Finding(NamedTuple):
    """Something that an utterance says about the user, with the messages that say it.

    `holds` is False where the user takes it back ("I no longer work at Acme"): whatever is kept under the key with this
    value (any value, where it is empty) ends.
    """

    type: FactType
    key: str
    value: str
    confidence: float
    source_message_ids: tuple[str, ...]
    holds: bool = True


class ModelUnavailable(SidecarError):
    """The model cannot be reached, or refuses, or is not asked for a while: the same will work later."""


class MalformedAnswer(SidecarError):
    """The model answered, again and again, what nobody asked for. Never taken as "nothing to say"."""


class FactExtractor(Protocol):
    """Reads utterances in order and says what they tell about the user. Thread-safe.

    Only what the user says of themselves counts: no guesses of the assistant, nothing hypothetical, negated, quoted or
    about others. Raises ModelUnavailable or MalformedAnswer; never answers "nothing" for a failure.
    """

    @property
    def origin(self) -> str:
        """As a fact shows it: "rules", or the model's name."""

    def extract(self, utterances: Sequence[Utterance]) -> Sequence[Finding]:
        """What the utterances say, in their order."""


class Summarizer(Protocol):
    """Brings a summary up to date. Thread-safe. Raises ModelUnavailable or MalformedAnswer."""

    @property
    def origin(self) -> str:
        """As a summary shows it: "extractive", or the model's name."""

    def summarize(self, before: str, utterances: Sequence[Utterance], max_tokens: int) -> str:
        """A summary of what `before` summarises and of the utterances that came after it, oldest first.

        At most `max_tokens` by the server's default tokenizer. Empty where there is nothing to say.
        """


class LanguageModel(Protocol):
    """A model behind an endpoint. Thread-safe; waits at most as long as its settings say."""

    @property
    def name(self) -> str:
        """The model's name, as configured."""

    def complete(self, instructions: str, text: str, *, max_tokens: int, schema: object | None = None) -> str:
        """What the model answers; with `schema`, JSON that the endpoint was told to hold to it (check it all the same).

        Raises ModelUnavailable, and MalformedAnswer for a text that is refused though others are taken, and for JSON that was
        cut off. Whatever else the model says is an answer, an empty one too.
        """


class TextRejected(MalformedAnswer):
    """The endpoint takes other texts, but not this one: it is too long, or says what is filtered. Waiting never helps.

    Were it a ModelUnavailable, one such message would be tried for ever, and nothing after it would be read.
    """


class InvalidModel(ValueError):
    """The settings describe no model that could work; never shows a key."""
