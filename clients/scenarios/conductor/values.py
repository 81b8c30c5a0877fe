"""What stands in a scenario with its variables filled in."""

import re
from typing import Any

_WHOLE = re.compile(r"\$\{([\w.]+)\}")


class UnknownVariable(Exception):
    pass


def filled(value: Any, variables: dict[str, Any]) -> Any:
    """`${name}` alone keeps its type, inside of a text it becomes text. `$text` and `$list` make large values."""
    if isinstance(value, str):
        return _text(value, variables)
    if isinstance(value, list):
        return [filled(one, variables) for one in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"$text"}:
        return str(filled(value["$text"]["of"], variables)) * value["$text"]["times"]
    if set(value) == {"$list"}:
        made = value["$list"]
        return [filled(made["of"], {**variables, "i": at}) for at in range(1, made["times"] + 1)]
    return {filled(name, variables): filled(one, variables) for name, one in value.items()}


def _text(text: str, variables: dict[str, Any]) -> Any:
    if whole := _WHOLE.fullmatch(text):
        return looked_up(variables, whole[1])
    return _WHOLE.sub(lambda found: str(looked_up(variables, found[1])), text)


def looked_up(value: Any, path: str) -> Any:
    """By a path such as `results.0.message_id`."""
    for step in path.split("."):
        try:
            value = value[int(step)] if isinstance(value, list) else value[step]
        except (KeyError, IndexError, TypeError, ValueError):
            raise UnknownVariable(f"there is no {path!r}") from None
    return value
