"""Flags over environment over file over defaults, each value remembered with the name it was given under."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path

from pydantic import ValidationError

from memsidecar.settings.names import CONFIG, PREFIX, SETTING_NAMES, flag, is_exempt, nearest, variable
from memsidecar.settings.problems import Given, InvalidSettings, describe
from memsidecar.settings.schema import Settings


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


def _from_flags(flags: Mapping[str, str]) -> dict[str, Given]:
    return {name: Given(flag(name), value) for name, value in flags.items()}


def _from_environment(environ: Mapping[str, str]) -> dict[str, Given]:
    variables = {name: variable(name) for name in (*SETTING_NAMES, CONFIG)}
    return {name: Given(called, environ[called]) for name, called in variables.items() if called in environ}


def _from_file(file: Given) -> dict[str, Given]:
    path = str(file.value)
    return {key: Given(f"{key} in {path}", value) for key, value in _read_toml(file).items()}


def _read_toml(file: Given) -> dict[str, object]:
    try:
        return tomllib.loads(Path(str(file.value)).read_text(encoding="utf-8"))
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
    except ValueError as error:
        reason = f"is not valid TOML: {error}"
    raise InvalidSettings([f"{file.called} = {file.value!r}: {reason}"])


def _refuse_unknown(flags: Mapping[str, str], environ: Mapping[str, str], by_file: Mapping[str, Given]) -> None:
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


def _unknown_keys(by_file: Mapping[str, Given]) -> list[str]:
    return [_unknown(given.called, key, SETTING_NAMES) for key, given in by_file.items() if key not in SETTING_NAMES]


def _unknown(called: str, name: str, known: Collection[str]) -> str:
    return f"{called}: unknown setting; the nearest known one is {nearest(name, known)}"


def _validated(given: Mapping[str, Given]) -> Settings:
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
