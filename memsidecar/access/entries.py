"""What may stand in the access file; strict, so that a typo opens nothing."""

import re
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Self

from pydantic import AfterValidator, AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from memsidecar.access.allowance import Allowance
from memsidecar.access.policy import CertificateName, NameKind
from memsidecar.access.rights import ROLE_NAMES, Caller, Role
from memsidecar.access.secret import HASH_SCHEME
from memsidecar.domain.errors import InvalidField
from memsidecar.domain.ids import check_id
from memsidecar.domain.size import parse_size

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


def _role(given: object) -> Role:
    if given not in ROLE_NAMES:
        raise ValueError(f"is no role: expected {', '.join(ROLE_NAMES)}")
    return Role[str(given).upper()]


def _time(given: object) -> object:
    if not isinstance(given, datetime):
        raise ValueError("is no time: expected one such as 2027-01-31T00:00:00Z, without quotes")
    return given


Id = Annotated[str, AfterValidator(_checked_id)]
Namespaces = Annotated[frozenset[Id], Field(min_length=1)]
Hash = Annotated[str, AfterValidator(_checked_hash)]
GivenRole = Annotated[Role, BeforeValidator(_role)]
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


class AllowanceEntry(_Part):
    calls_per_second: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    sessions: Annotated[int, Field(ge=0)] | None = None
    messages: Annotated[int, Field(ge=0)] | None = None
    bytes: Size | None = None

    def over(self, default: Allowance) -> Allowance:
        """What is not said here is as it is for everybody."""
        said = self.model_dump(exclude_none=True)
        rate = said.pop("calls_per_second", default.calls_per_second)
        return Allowance(rate, replace(default.kept, **said))


class AccessFile(_Part):
    tokens: tuple[TokenEntry, ...] = ()
    certificates: tuple[CertificateEntry, ...] = ()
    quotas: dict[Id, AllowanceEntry] = Field(default_factory=dict)
