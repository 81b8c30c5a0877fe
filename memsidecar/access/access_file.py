"""The access file: its TOML schema, reading it, and appending tokens to it."""

import json
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from memsidecar.access.bearer_token import HASH_SCHEME, Token
from memsidecar.access.policy import (
    EVERY_NAMESPACE,
    ROLE_NAMES,
    AccessPolicy,
    AccessRole,
    Caller,
    CertificateName,
    NameKind,
    NamespaceLimits,
    StoredToken,
)
from memsidecar.domain.byte_size import parse_size
from memsidecar.domain.errors import InvalidField, StartRefused
from memsidecar.domain.ids import check_id

_HASH = re.compile(re.escape(HASH_SCHEME) + "[0-9a-f]{64}")


def _validate_id(given: str) -> str:
    try:
        return check_id("", given)
    except InvalidField as error:
        raise ValueError(error.problem) from None


def _validate_hash(given: str) -> str:
    if not _HASH.fullmatch(given):
        raise ValueError("is no hash of a token: expected sha256: and 64 hexadecimal digits")
    return given


def _parse_role(given: object) -> AccessRole:
    if given not in ROLE_NAMES:
        raise ValueError(f"is no role: expected {', '.join(ROLE_NAMES)}")
    return AccessRole[str(given).upper()]


def _validate_time(given: object) -> object:
    if not isinstance(given, datetime):
        raise ValueError("is no time: expected one such as 2027-01-31T00:00:00Z, without quotes")
    return given


Id = Annotated[str, AfterValidator(_validate_id)]
Namespaces = Annotated[frozenset[Id], Field(min_length=1)]
Hash = Annotated[str, AfterValidator(_validate_hash)]
RoleName = Annotated[AccessRole, BeforeValidator(_parse_role)]
Time = Annotated[AwareDatetime, BeforeValidator(_validate_time)]
Size = Annotated[int, BeforeValidator(parse_size), Field(ge=0)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class _Grant(_Table):
    name: Id
    namespaces: Namespaces
    role: RoleName

    @property
    def caller(self) -> Caller:
        return Caller(self.name, self.role, self.namespaces)


class TokenEntry(_Grant):
    id: Id
    hash: Hash
    expires: Time | None = None


class CertificateEntry(_Grant):
    uri: Id | None = None
    dns: Id | None = None

    @model_validator(mode="after")
    def _one_name(self) -> Self:
        if (self.uri is None) == (self.dns is None):
            raise ValueError("expected either uri or dns, the name in the certificate")
        return self

    @property
    def certificate_name(self) -> CertificateName:
        if self.uri is not None:
            return CertificateName(NameKind.URI, self.uri)
        return CertificateName(NameKind.DNS, str(self.dns).lower())


class NamespaceLimitsEntry(_Table):
    calls_per_second: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    sessions: Annotated[int, Field(ge=0)] | None = None
    messages: Annotated[int, Field(ge=0)] | None = None
    bytes: Size | None = None

    def over(self, default: NamespaceLimits) -> NamespaceLimits:
        """Return the default limits with those of this entry in their place."""
        given = self.model_dump(exclude_none=True)
        rate = given.pop("calls_per_second", default.calls_per_second)
        return NamespaceLimits(rate, replace(default.quota, **given))


class AccessFile(_Table):
    tokens: tuple[TokenEntry, ...] = ()
    certificates: tuple[CertificateEntry, ...] = ()
    quotas: dict[Id, NamespaceLimitsEntry] = Field(default_factory=dict)


class InvalidAccessFile(StartRefused):
    """The access file cannot be used; the message names the file and each place in it that is wrong."""


def read_access_file(path: Path, default: NamespaceLimits) -> AccessPolicy:
    """Read and validate the file. Raises InvalidAccessFile."""
    return _policy(path, parse_access_file(path), default)


def parse_access_file(path: Path) -> AccessFile:
    """Parse the file without checks between entries. Raises InvalidAccessFile."""
    try:
        return AccessFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise InvalidAccessFile(f"access_file {path} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        problems = "".join(f"\n  {_path(each['loc'])}: {_reason(each)}" for each in error.errors(include_input=False))
        raise InvalidAccessFile(f"access_file {path} is wrong:{problems}") from None
    except (ValueError, RecursionError) as error:  # from TOML or the encoding; their messages do not quote the file
        raise InvalidAccessFile(f"access_file {path} is not valid TOML: {error}") from None


def _policy(path: Path, file: AccessFile, default: NamespaceLimits) -> AccessPolicy:
    tokens = {entry.id: StoredToken(entry.id, entry.hash, entry.caller, entry.expires) for entry in file.tokens}
    certificates = {entry.certificate_name: entry.caller for entry in file.certificates}
    if len(tokens) < len(file.tokens):
        raise InvalidAccessFile(f"access_file {path} is wrong: two tokens have the same id")
    if len(certificates) < len(file.certificates):
        raise InvalidAccessFile(f"access_file {path} is wrong: two certificates have the same name")
    _check_quotas(path, file.quotas)
    return AccessPolicy(tokens, certificates, {name: entry.over(default) for name, entry in file.quotas.items()})


def _check_quotas(path: Path, quotas: Iterable[str]) -> None:
    if EVERY_NAMESPACE in quotas:
        raise InvalidAccessFile(
            f"access_file {path} is wrong: quotas.{EVERY_NAMESPACE!r}: expected the name of one namespace; "
            "what holds for all is a setting (quota_sessions ...)"
        )


def _path(location: tuple[int | str, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location).lstrip(".")


def _reason(error: Mapping[str, Any]) -> str:
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    return str(error["msg"]).lower()


def token_lines(token: Token, name: str, namespaces: Sequence[str], role: AccessRole, expires: datetime | None) -> str:
    """Return the TOML entry of a token. A JSON string is a valid TOML string."""
    lines = [
        "[[tokens]]",
        f"id = {_toml_string(token.id)}",
        f"name = {_toml_string(name)}",
        f"hash = {_toml_string(token.hash)}",
        f"namespaces = [{', '.join(map(_toml_string, namespaces))}]",
        f"role = {_toml_string(role.name.lower())}",
    ]
    if expires is not None:
        lines.append(f"expires = {expires.astimezone(UTC).isoformat(timespec='seconds').replace('+00:00', 'Z')}")
    return "\n".join(lines) + "\n"


def append_lines(file: Path, lines: str) -> None:
    """Append atomically: the file is replaced by one that was parsed first. Raises InvalidAccessFile or OSError."""
    file = file.resolve()  # a symbolic link stays one
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        fresh.write_text(_with_lines(file, lines), encoding="utf-8")
        _copy_permissions(fresh, file)
        parse_access_file(fresh)
        fresh.replace(file)
    except InvalidAccessFile as error:
        raise InvalidAccessFile(str(error).replace(str(fresh), str(file))) from None
    except UnicodeError as error:
        raise InvalidAccessFile(f"access_file {file} must be UTF-8: {error}") from None
    finally:
        fresh.unlink(missing_ok=True)


def _with_lines(file: Path, lines: str) -> str:
    before = file.read_text(encoding="utf-8").rstrip("\n") if file.exists() else ""
    return f"{before}\n\n{lines}" if before else lines


def _copy_permissions(fresh: Path, file: Path) -> None:
    if not file.exists():
        fresh.chmod(0o640)
        return
    stat = file.stat()
    with suppress(PermissionError):  # only root may change the owner; without it the sidecar's user could not read it
        os.chown(fresh, stat.st_uid, stat.st_gid)
    fresh.chmod(stat.st_mode & 0o777)


def _toml_string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
