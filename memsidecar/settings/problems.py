"""What is wrong with the given settings, all of it at once, in the words in which they were given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from memsidecar.settings.expectation import expectation
from memsidecar.settings.schema import Settings

MAX_SHOWN_CHARACTERS = 120


class InvalidSettings(ValueError):
    """The settings cannot be used. `problems` has one line for each thing that is wrong."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(("wrong settings:", *(f"  {problem}" for problem in self.problems))))


@dataclass(frozen=True)
class Given:
    """A value and what its giver called it: a flag, a variable, or a key of a file."""

    called: str
    value: object


def describe(error: ErrorDetails, given: Mapping[str, Given]) -> str:
    """One line for one refused value."""
    name = str(error["loc"][0])
    field = Settings.model_fields[name]
    called = _as_given(given[name], field) if name in given else name
    return f"{called}: {_reason(error, field)}"


def _as_given(given: Given, field: FieldInfo) -> str:
    if is_secret(field):
        return given.called
    return f"{given.called} = {shorten(repr(given.value))}"


def _reason(error: ErrorDetails, field: FieldInfo) -> str:
    # Our own validators know better than the type what is wrong; pydantic's speak of inputs and schemas.
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    return f"expected {expectation(field)}"


def is_secret(field: FieldInfo) -> bool:
    """True for a setting whose value must never be shown."""
    return field.annotation in (SecretStr, SecretStr | None)


def shorten(text: str) -> str:
    """Keep a runaway value from burying the rest of the message."""
    return text if len(text) <= MAX_SHOWN_CHARACTERS else text[:MAX_SHOWN_CHARACTERS] + "..."
