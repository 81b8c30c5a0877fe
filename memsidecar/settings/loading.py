"""Flags > env > file; error reports."""

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

# Names the file itself, so it is a flag and a variable but no key of the file.
CONFIG = "config"

SETTING_NAMES = tuple(Settings.model_fields)

# The kubelet sets these in every pod of a namespace that has a Service called memsidecar or memsidecar-something.
SERVICE_LINK = re.compile(
    r"MEMSIDECAR(_[A-Z0-9_]+)?"
    r"(_SERVICE_HOST|_SERVICE_PORT(_[A-Z0-9_]+)?|_PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)"
)


class InvalidSettings(ValueError):
    """The settings cannot be used. `problems` has one line for each thing that is wrong."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(("wrong settings:", *(f"  {problem}" for problem in self.problems))))


@dataclass(frozen=True)
class GivenValue:
    """A value and what its giver called it: a flag, a variable, or a key of a file."""

    called: str
    value: object


def describe(error: ErrorDetails, given: Mapping[str, GivenValue]) -> str:
    """One line for one refused value."""
    name = str(error["loc"][0])
    field = Settings.model_fields[name]
    called = _as_given(given[name], field) if name in given else name
    return f"{called}: {_reason(error, field)}"


def _as_given(given: GivenValue, field: FieldInfo) -> str:
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


def flag(name: str) -> str:
    """The flag of a setting: `data_dir` is `--data-dir`."""
    return "--" + name.replace("_", "-")


def variable(name: str) -> str:
    """The environment variable of a setting: `data_dir` is `MEMSIDECAR_DATA_DIR`."""
    return PREFIX + name.upper()


def is_exempt(variable_name: str) -> bool:
    """True for a variable that begins like ours and is set by somebody else, or for clients in the same container."""
    return variable_name in CLIENT_VARIABLES or SERVICE_LINK.fullmatch(variable_name) is not None


def nearest(name: str, known: Collection[str]) -> str:
    """The known name that looks most like this one."""
    return get_close_matches(name, known, n=1, cutoff=0.0)[0]


def load_settings(flags: Mapping[str, str], environ: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings from flags (by setting name), the environment, and the file that either of them names.

    Raises InvalidSettings, which tells everything that is wrong with names and values.
    """
    by_flag, by_variable = _from_flags(flags), _from_environment(environ)
    file = by_flag.get(CONFIG) or by_variable.get(CONFIG)
    by_file = _from_file(file) if file else {}
    _refuse_unknown(flags, environ, by_file)
    given = {**by_file, **by_variable, **by_flag}
    given.pop(CONFIG, None)
    return _validated(given)


def _from_flags(flags: Mapping[str, str]) -> dict[str, GivenValue]:
    return {name: GivenValue(flag(name), value) for name, value in flags.items()}


def _from_environment(environ: Mapping[str, str]) -> dict[str, GivenValue]:
    variables = {name: variable(name) for name in (*SETTING_NAMES, CONFIG)}
    return {name: GivenValue(called, environ[called]) for name, called in variables.items() if called in environ}


def _from_file(file: GivenValue) -> dict[str, GivenValue]:
    path = str(file.value)
    return {key: GivenValue(f"{key} in {path}", value) for key, value in _read_toml(file).items()}


def _read_toml(file: GivenValue) -> dict[str, object]:
    try:
        return tomllib.loads(Path(str(file.value)).read_text(encoding="utf-8"))
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    except ValueError as error:
        reason = f"is not valid TOML: {error}"
    raise InvalidSettings([f"{file.called} = {file.value!r}: {reason}"])


def _refuse_unknown(flags: Mapping[str, str], environ: Mapping[str, str], by_file: Mapping[str, GivenValue]) -> None:
    problems = [*_unknown_flags(flags), *_unknown_variables(environ), *_unknown_keys(by_file)]
    if problems:
        raise InvalidSettings(problems)


# A value under an unknown name is never shown: it may be a token whose name was mistyped.


def _unknown_flags(flags: Mapping[str, str]) -> list[str]:
    known = {name: flag(name) for name in (*SETTING_NAMES, CONFIG)}
    return [_unknown(flag(name), flag(name), known.values()) for name in flags if name not in known]


def _unknown_variables(environ: Mapping[str, str]) -> list[str]:
    known = {variable(name) for name in (*SETTING_NAMES, CONFIG)}
    ours = sorted(name for name in environ if name.startswith(PREFIX) and not is_exempt(name))
    return [_unknown(name, name, known) for name in ours if name not in known]


def _unknown_keys(by_file: Mapping[str, GivenValue]) -> list[str]:
    return [_unknown(given.called, key, SETTING_NAMES) for key, given in by_file.items() if key not in SETTING_NAMES]


def _unknown(called: str, name: str, known: Collection[str]) -> str:
    return f"{called}: unknown setting; the nearest known one is {nearest(name, known)}"


def _validated(given: Mapping[str, GivenValue]) -> Settings:
    try:
        return Settings.model_validate({name: each.value for name, each in given.items()})
    except ValidationError as error:
        problems = [describe(each, given) for each in error.errors()]
    raise InvalidSettings(problems)


def prepare_libraries(environment: Mapping[str, str]) -> None:
    """What a library reads from the environment when it is imported, unless somebody has set it already."""
    for name, value in environment.items():
        os.environ.setdefault(name, value)


def quiet_native_logs() -> None:
    """Keep gRPC's own lines out of our log, unless somebody asked for them; to be called before grpc is imported."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
