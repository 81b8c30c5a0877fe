"""TOML schema, parse, append."""

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


def _checked_id(given: str) -> str:
    try:
        return check_id("", given)
    except InvalidField as error:
        raise ValueError(error.problem) from None


def _checked_hash(given: str) -> str:
    if not _HASH.fullmatch(given):
        raise ValueError("is no hash of a token: expected sha256: and 64 hexadecimal digits")
    return given


def _role(given: object) -> AccessRole:
    if given not in ROLE_NAMES:
        raise ValueError(f"is no role: expected {', '.join(ROLE_NAMES)}")
    return AccessRole[str(given).upper()]


def _time(given: object) -> object:
    if not isinstance(given, datetime):
        raise ValueError("is no time: expected one such as 2027-01-31T00:00:00Z, without quotes")
    return given


Id = Annotated[str, AfterValidator(_checked_id)]
Namespaces = Annotated[frozenset[Id], Field(min_length=1)]
Hash = Annotated[str, AfterValidator(_checked_hash)]
GivenRole = Annotated[AccessRole, BeforeValidator(_role)]
Time = Annotated[AwareDatetime, BeforeValidator(_time)]
Size = Annotated[int, BeforeValidator(parse_size), Field(ge=0)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class _Granted(_Part):
    name: Id
    namespaces: Namespaces
    role: GivenRole

    @property
    def caller(self) -> Caller:
        return Caller(self.name, self.role, self.namespaces)


class TokenEntry(_Granted):
    id: Id
    hash: Hash
    expires: Time | None = None


class CertificateEntry(_Granted):
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


class NamespaceLimitsEntry(_Part):
    calls_per_second: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    sessions: Annotated[int, Field(ge=0)] | None = None
    messages: Annotated[int, Field(ge=0)] | None = None
    bytes: Size | None = None

    def over(self, default: NamespaceLimits) -> NamespaceLimits:
        """What is not said here is as it is for everybody."""
        said = self.model_dump(exclude_none=True)
        rate = said.pop("calls_per_second", default.calls_per_second)
        return NamespaceLimits(rate, replace(default.quota, **said))


class AccessFile(_Part):
    tokens: tuple[TokenEntry, ...] = ()
    certificates: tuple[CertificateEntry, ...] = ()
    quotas: dict[Id, NamespaceLimitsEntry] = Field(default_factory=dict)


class InvalidAccessFile(StartRefused):
    """The access file cannot be used; the message names the file and each place in it that is wrong."""


def read_access_file(path: Path, default: NamespaceLimits) -> AccessPolicy:
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


def _policy(path: Path, file: AccessFile, default: NamespaceLimits) -> AccessPolicy:
    tokens = {entry.id: StoredToken(entry.id, entry.hash, entry.caller, entry.expires) for entry in file.tokens}
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


def token_lines(token: Token, name: str, namespaces: Sequence[str], role: AccessRole, expires: datetime | None) -> str:
    """As TOML; what JSON writes as a string, TOML reads as one."""
    lines = [
        "[[tokens]]",
        f"id = {_text(token.id)}",
        f"name = {_text(name)}",
        f"hash = {_text(token.hash)}",
        f"namespaces = [{', '.join(map(_text, namespaces))}]",
        f"role = {_text(role.name.lower())}",
    ]
    if expires is not None:
        lines.append(f"expires = {expires.astimezone(UTC).isoformat(timespec='seconds').replace('+00:00', 'Z')}")
    return "\n".join(lines) + "\n"


def append_lines(file: Path, lines: str) -> None:
    """All or nothing: the file is replaced by one that was read back first. Raises InvalidAccessFile or OSError."""
    file = file.resolve()  # a link stays a link
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        fresh.write_text(_appended(file, lines), encoding="utf-8")
        _let_the_same_read(fresh, file)
        parse_access_file(fresh)
        fresh.replace(file)
    except InvalidAccessFile as error:
        raise InvalidAccessFile(str(error).replace(str(fresh), str(file))) from None
    except UnicodeError as error:
        raise InvalidAccessFile(f"access_file {file} must be UTF-8: {error}") from None
    finally:
        fresh.unlink(missing_ok=True)


def _appended(file: Path, lines: str) -> str:
    before = file.read_text(encoding="utf-8").rstrip("\n") if file.exists() else ""
    return f"{before}\n\n{lines}" if before else lines


def _let_the_same_read(fresh: Path, file: Path) -> None:
    if not file.exists():
        fresh.chmod(0o640)
        return
    found = file.stat()
    with suppress(PermissionError):  # only root may give it to another: else the sidecar's own user could not read it
        os.chown(fresh, found.st_uid, found.st_gid)
    fresh.chmod(found.st_mode & 0o777)


def _text(given: str) -> str:
    return json.dumps(given, ensure_ascii=False)
