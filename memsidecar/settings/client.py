"""Environment variables of clients. A sidecar ignores them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

DEFAULT_ADDRESS = "127.0.0.1:7600"

ADDRESS_VARIABLE = "MEMSIDECAR_ADDRESS"
TOKEN_VARIABLE = "MEMSIDECAR_TOKEN"
TOKEN_FILE_VARIABLE = "MEMSIDECAR_TOKEN_FILE"
TLS_VARIABLE = "MEMSIDECAR_TLS"
CA_FILE_VARIABLE = "MEMSIDECAR_CA_FILE"
CERTIFICATE_FILE_VARIABLE = "MEMSIDECAR_CLIENT_CERTIFICATE_FILE"
KEY_FILE_VARIABLE = "MEMSIDECAR_CLIENT_KEY_FILE"
USER_ID_VARIABLE = "MEMSIDECAR_USER_ID"
SESSION_ID_VARIABLE = "MEMSIDECAR_SESSION_ID"
ALLOWED_TOOLS_VARIABLE = "MEMSIDECAR_MCP_ALLOWED_TOOLS"

CLIENT_VARIABLES = frozenset(
    {
        ADDRESS_VARIABLE,
        TOKEN_VARIABLE,
        TOKEN_FILE_VARIABLE,
        TLS_VARIABLE,
        CA_FILE_VARIABLE,
        CERTIFICATE_FILE_VARIABLE,
        KEY_FILE_VARIABLE,
        USER_ID_VARIABLE,
        SESSION_ID_VARIABLE,
        ALLOWED_TOOLS_VARIABLE,
    }
)


@dataclass(frozen=True)
class ClientEnvironment:
    """Address and credentials for calling a sidecar. Unset variables are empty."""

    address: str
    token: str
    token_file: str
    ca_file: str
    certificate_file: str
    key_file: str
    tls: str
    "true or false; true without a CA file uses the authorities of the system."
    user_id: str
    session_id: str
    allowed_tools: str
    "Names of tools, separated by commas."


def client_environment(environ: Mapping[str, str] = os.environ) -> ClientEnvironment:
    return ClientEnvironment(
        address=environ.get(ADDRESS_VARIABLE) or DEFAULT_ADDRESS,
        token=environ.get(TOKEN_VARIABLE, ""),
        token_file=environ.get(TOKEN_FILE_VARIABLE, ""),
        ca_file=environ.get(CA_FILE_VARIABLE, ""),
        certificate_file=environ.get(CERTIFICATE_FILE_VARIABLE, ""),
        key_file=environ.get(KEY_FILE_VARIABLE, ""),
        tls=environ.get(TLS_VARIABLE, "").strip().lower(),
        user_id=environ.get(USER_ID_VARIABLE, ""),
        session_id=environ.get(SESSION_ID_VARIABLE, ""),
        allowed_tools=environ.get(ALLOWED_TOOLS_VARIABLE, ""),
    )
