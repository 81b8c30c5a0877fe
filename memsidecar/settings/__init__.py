"""Every setting of the sidecar: type, default, unit and reason. The only package that reads the environment."""

from memsidecar.settings.documentation import documentation
from memsidecar.settings.loader import (
    InvalidSettings,
    is_variable_set,
    load_settings,
    prepare_libraries,
    quiet_native_logs,
)
from memsidecar.settings.schema import Settings

__all__ = [
    "InvalidSettings",
    "Settings",
    "documentation",
    "is_variable_set",
    "load_settings",
    "prepare_libraries",
    "quiet_native_logs",
]
