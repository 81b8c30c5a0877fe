"""What those who call a sidecar read from the environment; a sidecar itself passes over it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

DEFAULT_ADDRESS = "127.0.0.1:7600"

ADDRESS_VARIABLE = "MEMSIDECAR_ADDRESS"
TOKEN_VARIABLE = "MEMSIDECAR_TOKEN"
TOKEN_FILE_VARIABLE = "MEMSIDECAR_TOKEN_FILE"


@dataclass(frozen=True)
class ClientEnvironment:
    """Where the sidecar is, and with which token it is called; what is not set is empty."""

    address: str
    token: str
    token_file: str


def client_environment(environ: Mapping[str, str] = os.environ) -> ClientEnvironment:
    return ClientEnvironment(
        address=environ.get(ADDRESS_VARIABLE) or DEFAULT_ADDRESS,
        token=environ.get(TOKEN_VARIABLE, ""),
        token_file=environ.get(TOKEN_FILE_VARIABLE, ""),
    )
