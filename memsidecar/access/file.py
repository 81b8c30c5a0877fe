"""The access file: TOML, strict, and its errors never show what may be a secret.

[[tokens]]
id = "3f9c0a7be21d"
name = "research-agent"
hash = "sha256:..."
namespaces = ["research"]
role = "write"
expires = 2027-01-31T00:00:00Z

[[certificates]]
name = "billing-agent"
uri = "spiffe://cluster.local/ns/billing/sa/agent"
namespaces = ["billing"]
role = "read"

[quotas.research]
calls_per_second = 50
bytes = "2GiB"
"""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from memsidecar.access.allowance import Allowance
from memsidecar.access.entries import AccessFile
from memsidecar.access.policy import AccessPolicy, KnownToken
from memsidecar.access.rights import EVERY_NAMESPACE
from memsidecar.domain.errors import StartRefused


class InvalidAccessFile(StartRefused):
    """The access file cannot be used; the message names the file and each place in it that is wrong."""


def read_access_file(path: Path, default: Allowance) -> AccessPolicy:
    """Raises InvalidAccessFile."""
    return _policy(path, parse_access_file(path), default)


def parse_access_file(path: Path) -> AccessFile:
    """Raises InvalidAccessFile."""
    try:
        return AccessFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise InvalidAccessFile(f"access_file {path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        problems = "".join(f"\n  {_place(each['loc'])}: {_reason(each)}" for each in error.errors(include_input=False))
        raise InvalidAccessFile(f"access_file {path} is wrong:{problems}") from None
    except (ValueError, RecursionError) as error:  # of TOML or of its encoding; none of them quotes the file
        raise InvalidAccessFile(f"access_file {path} is not valid TOML: {error}") from None


def _policy(path: Path, file: AccessFile, default: Allowance) -> AccessPolicy:
    tokens = {entry.id: KnownToken(entry.id, entry.hash, entry.caller, entry.expires) for entry in file.tokens}
    certificates = {entry.certificate_name: entry.caller for entry in file.certificates}
    if len(tokens) < len(file.tokens):
        raise InvalidAccessFile(f"access_file {path} is wrong: two tokens have the same id")
    if len(certificates) < len(file.certificates):
        raise InvalidAccessFile(f"access_file {path} is wrong: two certificates have the same name")
    _refuse_unusable_quota(path, file.quotas)
    return AccessPolicy(tokens, certificates, {name: entry.over(default) for name, entry in file.quotas.items()})


def _refuse_unusable_quota(path: Path, quotas: Iterable[str]) -> None:
    if EVERY_NAMESPACE in quotas:
        raise InvalidAccessFile(
            f"access_file {path} is wrong: quotas.{EVERY_NAMESPACE!r}: expected the name of one namespace; "
            "what holds for all is a setting (quota_sessions ...)"
        )


def _place(location: tuple[int | str, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location).lstrip(".")


def _reason(error: Mapping[str, Any]) -> str:
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    return str(error["msg"]).lower()
