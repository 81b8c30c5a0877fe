"""The one JSON object in what a model said, which may stand in a fence or between polite words."""

import json

from memsidecar.endpoint.client import refuse_constant
from memsidecar.language.contract import MalformedAnswer


def only_object(text: str) -> dict[str, object]:
    """What stands from the first brace to the last one. Raises MalformedAnswer, which shows nothing of the text.

    Nothing is looked for inside what cannot be read as a whole: a piece of a broken answer may look like an answer.
    """
    braced = text[text.find("{") : text.rfind("}") + 1]
    try:
        read = json.loads(braced, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        raise MalformedAnswer("it is not one JSON object") from None
    if not isinstance(read, dict):
        raise MalformedAnswer("it is not one JSON object")
    return read
