"""When it is the text that the model does not take."""

from memsidecar.language.contract import MalformedAnswer


class TextRefused(MalformedAnswer):
    """The endpoint takes other texts, but not this one: it is too long, or says what is filtered. Waiting never helps.

    Were it a ModelAway, one such message would be tried for ever, and nothing after it would be read.
    """
