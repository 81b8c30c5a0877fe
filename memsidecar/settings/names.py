"""How one setting is called as a flag, as an environment variable and in the file, and what a typo probably meant."""

from __future__ import annotations

import re
from collections.abc import Collection
from difflib import get_close_matches

from memsidecar.settings.client import CLIENT_VARIABLES
from memsidecar.settings.schema import Settings

PREFIX = "MEMSIDECAR_"

# Names the file itself, so it is a flag and a variable but no key of the file.
CONFIG = "config"

SETTING_NAMES = tuple(Settings.model_fields)

# The kubelet sets these in every pod of a namespace that has a Service called memsidecar or memsidecar-something.
SERVICE_LINK = re.compile(
    r"MEMSIDECAR(_[A-Z0-9_]+)?"
    r"(_SERVICE_HOST|_SERVICE_PORT(_[A-Z0-9_]+)?|_PORT(_[0-9]+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)"
)


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
