"""Reading a body that should be JSON."""

import json
from typing import NoReturn

from memsidecar.endpoint.errors import Unanswered


def json_object(body: bytes) -> dict[str, object]:
    """The object that a body is. Raises Unanswered, which shows and carries nothing of it."""
    try:
        # A body that is nothing but brackets exhausts the parser's stack.
        answer = json.loads(body, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        raise Unanswered("the answer is not JSON") from None
    if not isinstance(answer, dict):
        raise Unanswered("the answer is no JSON object")
    return answer


def refuse_constant(name: str) -> NoReturn:
    """For `parse_constant`: Python reads NaN and Infinity, JSON has neither. Raises ValueError."""
    raise ValueError(f"{name} is no JSON")
