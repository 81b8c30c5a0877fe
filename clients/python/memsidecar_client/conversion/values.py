"""JSON values with the path that an error names, and the text of a content in parts."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

EMPTY = "[empty]"
"The content of a message without any text: the sidecar stores no empty one, except with tool calls."

IS_ERROR = "is_error"
"The metadata key of a tool result that is an error; only Anthropic's format has a field for it."


class ConversionError(ValueError):
    """Input that is not of the format. Nothing was converted.

    field: The path of the wrong value, as in `messages[3].tool_calls[0].function.name`.
    problem: For people; it may change.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(field, problem)
        self.field = field
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.field}: {self.problem}"


@dataclass(frozen=True)
class Value:
    """A value of the input. Absent fields are null, as in what the providers' packages dump."""

    value: Any
    path: str

    def is_null(self) -> bool:
        return self.value is None

    def is_text(self) -> bool:
        return isinstance(self.value, str)

    def is_list(self) -> bool:
        return isinstance(self.value, list | tuple)

    def is_object(self) -> bool:
        return isinstance(self.value, Mapping)

    def field(self, name: str) -> "Value":
        if not self.is_object():
            raise self.wrong("an object")
        return Value(self.value.get(name), f"{self.path}.{name}")

    def items(self) -> Iterator["Value"]:
        if not self.is_list():
            raise self.wrong("a list")
        return (Value(item, f"{self.path}[{position}]") for position, item in enumerate(self.value))

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong("a text")
        return self._valid(self.value)

    def optional_text(self) -> str:
        return "" if self.is_null() else self.text()

    def filled_text(self) -> str:
        """Return a text that the contract requires, as ids and names of tools."""
        return self.text() or self._refuse("a text is required, not an empty one")

    def one_of(self, names: Iterable[str]) -> str:
        text = self.text()
        return text if text in names else self._refuse(f'"{text}" is none of {", ".join(names)}')

    def json(self) -> str:
        """Return the JSON of the value, compact."""
        try:
            text = json.dumps(self.value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError) as error:
            raise self.error(f"is not JSON: {error}") from error
        return self._valid(text)

    def error(self, problem: str) -> ConversionError:
        return ConversionError(self.path, problem)

    def wrong(self, required: str) -> ConversionError:
        return self.error(f"{required} is required, not {_kind(self.value)}")

    def _valid(self, text: str) -> str:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise self.error("is not valid Unicode") from error
        return text

    def _refuse(self, problem: str) -> str:
        raise self.error(problem)


def check_distinct(ids: Iterable[Value]) -> None:
    """Raise ConversionError if two calls of a message have the same id: a result would belong to either."""
    seen: set[str] = set()
    for each in ids:
        if each.value in seen:
            raise each.error(f'"{each.value}" is the id of an earlier call of the message')
        seen.add(each.value)


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, list | tuple):
        return "a list"
    return "an object" if isinstance(value, Mapping) else type(value).__name__


@dataclass(frozen=True)
class Piece:
    """The text of one part. A part that cannot be stored, as an image, has its type as a placeholder: `[image]`."""

    text: str
    placeholder: bool = False


def placeholder(kind: str) -> Piece:
    return Piece(f"[{kind}]", placeholder=True)


def joined(pieces: Iterable[Piece], model: bool) -> str:
    """Return the pieces as one text, each on its own line. Texts of a model are joined: it splits them at citations."""
    text, previous = "", Piece("", placeholder=True)
    for piece in pieces:
        if not piece.text:
            continue
        continues = model and not piece.placeholder and not previous.placeholder
        text += piece.text if continues or not text else f"\n{piece.text}"
        previous = piece
    return text


def object_of(text: str, otherwise: str) -> dict[str, Any]:
    """Return the JSON object in a text; any other text becomes the value of the key `otherwise`."""
    try:
        value = json.loads(text, parse_constant=_reject, parse_float=_finite)
    except (ValueError, RecursionError):
        value = text
    return value if isinstance(value, dict) else {otherwise: value}


def _reject(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _finite(number: str) -> float:
    """Return the number; 1e999 would become infinity, which is no JSON."""
    value = float(number)
    if not math.isfinite(value):
        _reject(number)
    return value
