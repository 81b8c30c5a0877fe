"""docs/settings.md, generated from the settings."""

from __future__ import annotations

from pydantic.fields import FieldInfo

from memsidecar.settings.loader import CONFIG, flag, variable
from memsidecar.settings.schema import Settings
from memsidecar.settings.types import expectation, format_value

INTRODUCTION = """\
# Settings

Made by `memsidecar settings`; do not edit.

A setting is given as a flag of `memsidecar serve`, as an environment variable, or as a key of a TOML file. Flags win
over the environment, the environment over the file, the file over the defaults. An unknown name is rejected, and so is
a value outside its limits. KiB, MiB and GiB count in 1,024; KB, MB and GB in 1,000.
"""

CONFIG_MEANING = "The TOML file to read settings from. It cannot name another one."

COLUMNS = ("setting", "environment", "flag", "default", "takes", "meaning")


def documentation() -> str:
    """Return a Markdown page: every setting with its names, default, allowed values and reason."""
    rows = [_row(name, field) for name, field in Settings.model_fields.items()]
    config = _cells("", f"`{variable(CONFIG)}`", f"`{flag(CONFIG)}`", "none", "a file", CONFIG_MEANING)
    rule = _cells(*("---" for _ in COLUMNS))
    return "\n".join((INTRODUCTION, _cells(*COLUMNS), rule, *rows, config)) + "\n"


def _row(name: str, field: FieldInfo) -> str:
    names = (f"`{name}`", f"`{variable(name)}`", f"`{flag(name)}`")
    default = f"`{format_value(field, field.default)}`"
    return _cells(*names, default, expectation(field), field.description or "")


def _cells(*texts: str) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"
