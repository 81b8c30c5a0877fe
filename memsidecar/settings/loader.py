"""Loading the settings from flags, environment and file, in this order of precedence, and reporting all errors."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from memsidecar.settings.client import CLIENT_VARIABLES
from memsidecar.settings.schema import Settings
from memsidecar.settings.types import expectation

MAX_SHOWN_CHARACTERS = 120

PREFIX = "MEMSIDECAR_"

# The path of the file: a flag and a variable, but no key of the file.
CONFIG = "config"

SETTING_NAMES = tuple(Settings.model_fields)

# The kubelet sets these in every pod of a namespace that has a Service called memsidecar or memsidecar-something.
SERVICE_LINK = re.compile(
    r"MEMSIDECAR(_[A-Z0-9_]+)?"
    r"(_SERVICE_HOST|_SERVICE_PORT(_[A-Z0-9_]+)?|_PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)"
)


class InvalidSettings(ValueError):
    """The settings are invalid. `problems` has one line for each problem."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(("wrong settings:", *(f"  {problem}" for problem in self.problems))))


@dataclass(frozen=True)
class GivenValue:
    """A value and its origin: a flag, a variable, or a key of a file."""

    origin: str
    value: object


def describe(error: ErrorDetails, given: Mapping[str, GivenValue]) -> str:
    """Return one line for one invalid value."""
    name = str(error["loc"][0])
    field = Settings.model_fields[name]
    origin = _with_value(given[name], field) if name in given else name
    return f"{origin}: {_reason(error, field)}"


def _with_value(given: GivenValue, field: FieldInfo) -> str:
    if is_secret(field):
        return given.origin
    return f"{given.origin} = {shorten(repr(given.value))}"


def _reason(error: ErrorDetails, field: FieldInfo) -> str:
    # Messages of our validators are specific; pydantic's speak of inputs and schemas.
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    return f"expected {expectation(field)}"


def is_secret(field: FieldInfo) -> bool:
    """Return whether the value of a setting must never be printed."""
    return field.annotation in (SecretStr, SecretStr | None)


def shorten(text: str) -> str:
    """Cut a long value."""
    return text if len(text) <= MAX_SHOWN_CHARACTERS else text[:MAX_SHOWN_CHARACTERS] + "..."


def flag(name: str) -> str:
    """Return the flag of a setting: `--data-dir` for `data_dir`."""
    return "--" + name.replace("_", "-")


def variable(name: str) -> str:
    """Return the environment variable of a setting: `MEMSIDECAR_DATA_DIR` for `data_dir`."""
    return PREFIX + name.upper()


def is_exempt(variable_name: str) -> bool:
    """Return whether a variable with our prefix is set by Kubernetes, or is for clients in the same container."""
    return variable_name in CLIENT_VARIABLES or SERVICE_LINK.fullmatch(variable_name) is not None


def nearest(name: str, known: Collection[str]) -> str:
    """Return the known name that is most similar."""
    return get_close_matches(name, known, n=1, cutoff=0.0)[0]


def load_settings(flags: Mapping[str, str], environ: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings from flags (by setting name), the environment, and the file that either of them names.

    Raises InvalidSettings with all problems of names and values.
    """
    by_flag, by_variable = _from_flags(flags), _from_environment(environ)
    file = by_flag.get(CONFIG) or by_variable.get(CONFIG)
    by_file = _from_file(file) if file else {}
    _check_names(flags, environ, by_file)
    given = {**by_file, **by_variable, **by_flag}
    given.pop(CONFIG, None)
    return _validate(given)


def config_file(flags: Mapping[str, str], environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the file that a flag or the environment names."""
    name = flags.get(CONFIG) or environ.get(variable(CONFIG))
    return Path(name) if name else None


def _from_flags(flags: Mapping[str, str]) -> dict[str, GivenValue]:
    return {name: GivenValue(flag(name), value) for name, value in flags.items()}


def _from_environment(environ: Mapping[str, str]) -> dict[str, GivenValue]:
    variables = {name: variable(name) for name in (*SETTING_NAMES, CONFIG)}
    return {name: GivenValue(key, environ[key]) for name, key in variables.items() if key in environ}


def _from_file(file: GivenValue) -> dict[str, GivenValue]:
    path = str(file.value)
    return {key: GivenValue(f"{key} in {path}", value) for key, value in _read_toml(file).items()}


def _read_toml(file: GivenValue) -> dict[str, object]:
    try:
        return tomllib.loads(Path(str(file.value)).read_text(encoding="utf-8"))
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    except (ValueError, RecursionError) as error:
        reason = f"is not valid TOML: {error}"
    raise InvalidSettings([f"{file.origin} = {file.value!r}: {reason}"])


def _check_names(flags: Mapping[str, str], environ: Mapping[str, str], by_file: Mapping[str, GivenValue]) -> None:
    problems = [*_unknown_flags(flags), *_unknown_variables(environ), *_unknown_keys(by_file)]
    if problems:
        raise InvalidSettings(problems)


# The value of an unknown name is never printed: it may be a secret whose name was mistyped.


def _unknown_flags(flags: Mapping[str, str]) -> list[str]:
    known = {name: flag(name) for name in (*SETTING_NAMES, CONFIG)}
    return [_unknown(flag(name), flag(name), known.values()) for name in flags if name not in known]


def _unknown_variables(environ: Mapping[str, str]) -> list[str]:
    known = {variable(name) for name in (*SETTING_NAMES, CONFIG)}
    ours = sorted(name for name in environ if name.startswith(PREFIX) and not is_exempt(name))
    return [_unknown(name, name, known) for name in ours if name not in known]


def _unknown_keys(by_file: Mapping[str, GivenValue]) -> list[str]:
    return [_unknown(given.origin, key, SETTING_NAMES) for key, given in by_file.items() if key not in SETTING_NAMES]


def _unknown(origin: str, name: str, known: Collection[str]) -> str:
    return f"{origin}: unknown setting; the nearest known one is {nearest(name, known)}"


def _validate(given: Mapping[str, GivenValue]) -> Settings:
    try:
        return Settings.model_validate({name: value.value for name, value in given.items()})
    except ValidationError as error:
        problems = [describe(details, given) for details in error.errors()]
    raise InvalidSettings(problems)


def prepare_libraries(environment: Mapping[str, str]) -> None:
    """Set environment variables that libraries read when they are imported, unless they are set already."""
    for name, value in environment.items():
        os.environ.setdefault(name, value)


def is_variable_set(name: str) -> bool:
    return name in os.environ


def quiet_native_logs() -> None:
    """Turn off gRPC's own log lines unless GRPC_VERBOSITY is set. Must be called before grpc is imported."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
