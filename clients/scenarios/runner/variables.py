"""Substitutes variables in the values of a scenario."""

import re
from typing import Any

_WHOLE = re.compile(r"\$\{([\w.]+)\}")


class UnknownVariable(Exception):
    pass


def substitute(value: Any, variables: dict[str, Any]) -> Any:
    """Return `value` with variables replaced. `${name}` alone keeps its type; inside a text it becomes text.

    `$text` and `$list` generate large values.
    """
    if isinstance(value, str):
        return _text(value, variables)
    if isinstance(value, list):
        return [substitute(item, variables) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"$text"}:
        return str(substitute(value["$text"]["of"], variables)) * value["$text"]["times"]
    if set(value) == {"$list"}:
        spec = value["$list"]
        return [substitute(spec["of"], {**variables, "i": at}) for at in range(1, spec["times"] + 1)]
    return {substitute(name, variables): substitute(item, variables) for name, item in value.items()}


def _text(text: str, variables: dict[str, Any]) -> Any:
    if whole := _WHOLE.fullmatch(text):
        return lookup(variables, whole[1])
    return _WHOLE.sub(lambda found: str(lookup(variables, found[1])), text)


def lookup(value: Any, path: str) -> Any:
    """Return the value at a path such as `results.0.message_id`."""
    for step in path.split("."):
        try:
            value = value[int(step)] if isinstance(value, list) else value[step]
        except (KeyError, IndexError, TypeError, ValueError):
            raise UnknownVariable(f"there is no {path!r}") from None
    return value
