"""Value types of settings: validation, and their description in errors, --help and documentation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, get_args

from annotated_types import Ge, Gt, Le
from pydantic import AfterValidator, AllowInfNan, BeforeValidator, PlainValidator
from pydantic.fields import FieldInfo

from memsidecar.domain.byte_size import format_size, parse_size
from memsidecar.domain.network_address import Address

BUILT_IN_TOKENIZERS = ("o200k_base", "cl100k_base", "chars4")
HTTP_URL = re.compile(r"https?://[^\s/?#]+[^\s?#]*")
HOST_NAMES = re.compile(r"[A-Za-z0-9_.-]{1,253}(,[A-Za-z0-9_.-]{1,253})*", re.ASCII)
MODULE_FUNCTION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


@dataclass(frozen=True)
class ValueKind:
    """Description of a value in errors and documentation, and its placeholder in `--help`."""

    words: str
    metavar: str


def parse_address(given: object) -> Address:
    """Parse an address. An Address is returned as it is."""
    if isinstance(given, Address):
        return given
    if isinstance(given, str):
        return Address.parse(given)
    raise ValueError("is no address: expected host:port or unix:/path")


def parse_optional_address(given: object) -> Address | None:
    """Parse an address; None for an empty one."""
    return None if given is None or given == "" else parse_address(given)


def refuse_bool(given: object) -> object:
    """Reject a bool as a number, which Python would accept as 0 or 1."""
    if given is True or given is False:
        raise ValueError("is true or false: expected a number")
    return given


def refuse_empty(given: object) -> object:
    """Reject an empty path, which would mean the current directory."""
    if given == "":
        raise ValueError("is empty: expected a path")
    return given


def check_tokenizer(name: str) -> str:
    """Check the form of a tokenizer's name. The package `tokens` loads it."""
    if name not in BUILT_IN_TOKENIZERS and not MODULE_FUNCTION.fullmatch(name):
        raise ValueError(f"is no tokenizer: expected {', '.join(BUILT_IN_TOKENIZERS)} or module:function")
    return name


def check_url(given: str) -> str:
    """Check the form of a URL."""
    if given and not HTTP_URL.fullmatch(given):
        raise ValueError("is no address: expected http://host/path or https://host/path")
    return given


def check_host_names(given: str) -> str:
    """Check names of hosts that are separated by commas."""
    if given and not HOST_NAMES.fullmatch(given):
        raise ValueError("has no valid host names: expected names such as memory.example, separated by commas")
    return given


def parse_optional_file(given: object) -> Path | None:
    """Parse a path; None for an empty one."""
    return None if given is None or given == "" else Path(str(given))


_NUMBER = BeforeValidator(refuse_bool)

ListenAddress = Annotated[Address, PlainValidator(parse_address), ValueKind("host:port, or unix:/path", "ADDRESS")]
OptionalAddress = Annotated[
    Address | None,
    PlainValidator(parse_optional_address),
    ValueKind("host:port, unix:/path, or empty for none", "ADDRESS"),
]
Directory = Annotated[Path, BeforeValidator(refuse_empty), ValueKind("a directory", "DIR")]
Tokenizer = Annotated[
    str, AfterValidator(check_tokenizer), ValueKind(", ".join(BUILT_IN_TOKENIZERS) + " or module:function", "NAME")
]
Bytes = Annotated[int, BeforeValidator(parse_size), ValueKind("bytes, or a size such as 64MiB or 1GB", "BYTES")]
Seconds = Annotated[float, _NUMBER, AllowInfNan(False), ValueKind("seconds", "SECONDS")]
Milliseconds = Annotated[float, _NUMBER, AllowInfNan(False), ValueKind("milliseconds", "MS")]
Share = Annotated[float, _NUMBER, AllowInfNan(False), ValueKind("a share", "SHARE")]
Messages = Annotated[int, _NUMBER, ValueKind("a whole number of messages", "MESSAGES")]
Tokens = Annotated[int, _NUMBER, ValueKind("a whole number of tokens", "TOKENS")]
Calls = Annotated[int, _NUMBER, ValueKind("a whole number of calls", "CALLS")]
Connections = Annotated[int, _NUMBER, ValueKind("a whole number of connections", "CONNECTIONS")]
Rate = Annotated[float, _NUMBER, AllowInfNan(False), ValueKind("calls a second", "RATE")]
Requests = Annotated[int, _NUMBER, ValueKind("a whole number of requests", "REQUESTS")]
Streams = Annotated[int, _NUMBER, ValueKind("a whole number of streams", "STREAMS")]
Threads = Annotated[int, _NUMBER, ValueKind("a whole number of threads", "THREADS")]
Chunks = Annotated[int, _NUMBER, ValueKind("a whole number of chunks", "CHUNKS")]
Turns = Annotated[int, _NUMBER, ValueKind("a whole number of turns", "TURNS")]
Items = Annotated[int, _NUMBER, ValueKind("a whole number", "NUMBER")]
Users = Annotated[int, _NUMBER, ValueKind("a whole number of users", "USERS")]
Conversations = Annotated[int, _NUMBER, ValueKind("a whole number of conversations", "CONVERSATIONS")]
Days = Annotated[float, _NUMBER, AllowInfNan(False), ValueKind("days", "DAYS")]
Score = Annotated[float, _NUMBER, AllowInfNan(False), ValueKind("a score from 0 to 10", "SCORE")]
Dimensions = Annotated[int, _NUMBER, ValueKind("a whole number of dimensions", "DIMENSIONS")]
Weight = Annotated[float, _NUMBER, AllowInfNan(False), ValueKind("a weight", "WEIGHT")]
Name = Annotated[str, ValueKind("a name, or empty for none", "NAME")]
HostNames = Annotated[
    str, AfterValidator(check_host_names), ValueKind("host names separated by commas, or empty for none", "NAMES")
]
Url = Annotated[str, AfterValidator(check_url), ValueKind("an http or https address, or empty for none", "URL")]
OptionalFile = Annotated[
    Path | None, PlainValidator(parse_optional_file), ValueKind("a file, or empty for none", "FILE")
]


def expectation(field: FieldInfo) -> str:
    """Return the allowed values in words, for example "seconds, from 0 to 3600" or "one of text, json"."""
    kind = _kind_of(field)
    if kind is None:
        return "one of " + ", ".join(get_args(field.annotation))
    return ", ".join(part for part in (kind.words, _limits(field)) if part)


def metavar(field: FieldInfo) -> str:
    """Return the placeholder of the value in `--help`."""
    kind = _kind_of(field)
    return kind.metavar if kind else "{" + ",".join(get_args(field.annotation)) + "}"


def format_value(field: FieldInfo, value: object) -> str:
    """Return a value as it is written in a settings file."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, int) and _is_size(field):
        return format_size(value)
    return "" if value is None else str(value)


def _limits(field: FieldInfo) -> str:
    return " ".join(filter(None, (_limit(field, constraint) for constraint in field.metadata)))


def _limit(field: FieldInfo, constraint: object) -> str:
    match constraint:
        case Ge(ge=minimum):
            return f"from {format_value(field, minimum)}"
        case Gt(gt=bound):
            return f"above {format_value(field, bound)}"
        case Le(le=maximum):
            return f"up to {format_value(field, maximum)}"
        case _:
            return ""


def _kind_of(field: FieldInfo) -> ValueKind | None:
    return next((kind for kind in field.metadata if isinstance(kind, ValueKind)), None)


def _is_size(field: FieldInfo) -> bool:
    kind = _kind_of(field)
    return kind is not None and kind.metavar == "BYTES"
