"""Commands whose flags are settings, generated from the schema; and `memsidecar settings`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from memsidecar.cli.command import SidecarCommand, UsageError
from memsidecar.settings.documentation import CONFIG_MEANING, documentation
from memsidecar.settings.loader import CONFIG, SETTING_NAMES, InvalidSettings, flag, load_settings, variable
from memsidecar.settings.schema import Settings
from memsidecar.settings.types import expectation, format_value, metavar

_LOG_SETTINGS = ("log_format", "log_level")
_POSTGRES_SETTINGS = ("journal", "postgres_url_file")
_REINDEX_SETTINGS = ("data_dir", *_POSTGRES_SETTINGS, *_LOG_SETTINGS, "index_cache_bytes", "vector_index_messages")

# For each command the settings that are its flags.
COMMAND_SETTINGS: dict[str, tuple[str, ...]] = {
    "serve": SETTING_NAMES,
    "doctor": ("data_dir", *_POSTGRES_SETTINGS, *_LOG_SETTINGS),
    "migrate": ("postgres_url_file", *_LOG_SETTINGS),
    "reindex": tuple(name for name in SETTING_NAMES if name in _REINDEX_SETTINGS or name.startswith("embedder")),
}


def settings_command(
    name: str, run: Callable[[Settings], int], *, text: str, examples: Sequence[str]
) -> SidecarCommand:
    """Return a command that calls `run` with the settings of its flags, the environment and the file."""

    def call(**given: Any) -> int:
        return run(settings_of(given))

    return SidecarCommand(name, callback=call, params=setting_options(name), help=text, examples=examples)


def setting_options(command: str) -> list[click.Parameter]:
    """Return an option for the configuration file and for each setting of the command."""
    return [_option(CONFIG, "FILE", CONFIG_MEANING), *map(_setting_option, COMMAND_SETTINGS[command])]


def settings_of(given: Mapping[str, Any]) -> Settings:
    """Load the settings. Raises UsageError with a line for each problem."""
    try:
        return load_settings(given_flags(given))
    except InvalidSettings as error:
        raise UsageError(str(error)) from None


def given_flags(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the given flags by setting name; others are absent."""
    return {name: value for name, value in given.items() if name in (*SETTING_NAMES, CONFIG) and value is not None}


def _setting_option(name: str) -> click.Option:
    field = Settings.model_fields[name]
    default = format_value(field, field.default)
    text = f"{field.description} Takes {expectation(field)}. Default: {default}."
    return _option(name, metavar(field), text)


def _option(name: str, placeholder: str, text: str) -> click.Option:
    return click.Option([flag(name), name], metavar=placeholder, help=f"{text} [{variable(name)}]")


@click.command(name="settings", cls=SidecarCommand, examples=("memsidecar settings",))
def print_settings() -> None:
    """Print every setting with its names, default and reason, as Markdown."""
    print(documentation(), end="")
