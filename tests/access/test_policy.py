"""Callers of credentials: roles, expiry, rotation, and equal work for all invalid credentials."""

import hmac
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memsidecar.access.access_file import read_access_file
from memsidecar.access.bearer_token import PREFIX, Token, new_token, read_token
from memsidecar.access.policy import (
    ANONYMOUS,
    AccessPolicy,
    AccessRole,
    Caller,
    CertificateName,
    NameKind,
    NamespaceLimits,
)
from memsidecar.api.admission.auth import Authenticator
from memsidecar.domain.errors import Unauthenticated
from tests.access.access_files import LONG_AGO, Grant, write_access_file

NOW = datetime(2026, 7, 1, tzinfo=UTC)
GOOD = Grant("agent", ("research", "a*"))
ENDING = Grant("guest", ("research",), AccessRole.READ, NOW)
OVER = Grant("ghost", ("research",), AccessRole.ADMIN, LONG_AGO)


@pytest.fixture
def policy(access_file: Path) -> AccessPolicy:
    write_access_file(access_file, [GOOD, GOOD.rotated(), ENDING, OVER])
    return read_access_file(access_file, NamespaceLimits())


NOT_GOOD = {
    "nothing": "",
    "no token": "open sesame",
    "another prefix": GOOD.text.replace(PREFIX, "mcs"),
    "prefix alone": f"{PREFIX}__",
    "no secret": f"{PREFIX}_{GOOD.token.id}_",
    "no id": f"{PREFIX}__{GOOD.token.secret}",
    "unknown id": new_token().text,
    "unknown id, known secret": Token("0" * 12, GOOD.token.secret).text,
    "another's secret": Token(GOOD.token.id, ENDING.token.secret).text,
    "cut": GOOD.text[:-1],
    "longer": f"{GOOD.text}A",
    "other case": GOOD.text.swapcase(),
    "its hash": GOOD.token.hash,
    "expired": OVER.text,
    "no ASCII": f"{GOOD.text}é\U0001f98a",
    "very long": GOOD.text * 1_000,
}


@pytest.fixture
def comparisons(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Record the lengths of compared values."""
    seen: list[tuple[int, int]] = []
    compare = hmac.compare_digest

    def counted(one: bytes, other: bytes) -> bool:
        seen.append((len(one), len(other)))
        return compare(one, other)

    monkeypatch.setattr(hmac, "compare_digest", counted)
    return seen


@pytest.mark.parametrize("text", NOT_GOOD.values(), ids=NOT_GOOD)
def test_an_invalid_token_has_no_caller_and_takes_the_work_of_a_valid_one(
    policy: AccessPolicy, comparisons: list[tuple[int, int]], text: str
) -> None:
    assert policy.by_token(text, NOW) is None
    of_a_bad_one, comparisons[:] = comparisons[:], []
    assert policy.by_token(GOOD.text, NOW) is not None
    assert of_a_bad_one == comparisons and len(comparisons) == 1


def test_a_valid_token_has_its_caller(policy: AccessPolicy) -> None:
    assert policy.by_token(GOOD.text, NOW) == Caller("agent", AccessRole.WRITE, frozenset({"research", "a*"}))


def test_a_token_expires_at_its_time_and_not_before(policy: AccessPolicy) -> None:
    assert policy.by_token(ENDING.text, NOW - timedelta(microseconds=1)) is not None
    assert policy.by_token(ENDING.text, NOW) is None


def test_an_expiry_may_have_another_time_zone(access_file: Path) -> None:
    access_file.write_text(GOOD.lines + "expires = 2026-07-01T02:00:00+02:00\n", encoding="utf-8")
    policy = read_access_file(access_file, NamespaceLimits())
    assert policy.by_token(GOOD.text, NOW - timedelta(seconds=1)) is not None
    assert policy.by_token(GOOD.text, NOW) is None


def test_both_tokens_are_valid_during_a_rotation(access_file: Path) -> None:
    old, new = GOOD, GOOD.rotated()
    write_access_file(access_file, [old, new])
    policy = read_access_file(access_file, NamespaceLimits())
    assert policy.by_token(old.text, NOW) == policy.by_token(new.text, NOW) != None  # noqa: E711
    write_access_file(access_file, [new])
    policy = read_access_file(access_file, NamespaceLimits())
    assert policy.by_token(old.text, NOW) is None and policy.by_token(new.text, NOW) is not None


def test_the_text_of_a_token_parses_to_the_same_token() -> None:
    for _ in range(200):
        token = new_token()
        assert read_token(token.text) == token


def test_new_tokens_are_unique() -> None:
    made = [new_token() for _ in range(500)]
    assert len({token.id for token in made}) == len({token.secret for token in made}) == len(made)
    assert min(len(token.secret) for token in made) >= 43  # 256 bits


def test_a_star_inside_a_namespace_is_no_wildcard() -> None:
    caller = Caller("agent", AccessRole.READ, frozenset({"a*", "*b", "**"}))
    assert [name for name in ("a", "ab", "b", "*", "a*", "**", "***", "") if caller.may_access(name)] == ["a*", "**"]
    assert ANONYMOUS.may_access("whatever")


# -- certificates

URI, DNS = "spiffe://cluster.local/ns/billing/sa/agent", "agent.example"
CERTIFICATES = f"""
[[certificates]]
name = "by-uri"
uri = "{URI}"
namespaces = ["billing"]
role = "read"

[[certificates]]
name = "by-dns"
dns = "Agent.Example"
namespaces = ["shop"]
role = "admin"
"""


@pytest.fixture
def certificates(access_file: Path) -> AccessPolicy:
    access_file.write_text(CERTIFICATES + GOOD.lines, encoding="utf-8")
    return read_access_file(access_file, NamespaceLimits())


def name_of(caller: Caller | None) -> str:
    return caller.name if caller else "unknown"


@pytest.mark.parametrize(
    ("kind", "name", "who"),
    [
        (NameKind.URI, URI, "by-uri"),
        (NameKind.DNS, URI, "unknown"),
        (NameKind.DNS, DNS, "by-dns"),
        (NameKind.URI, DNS, "unknown"),
        (NameKind.URI, URI.upper(), "unknown"),
        (NameKind.URI, f"{URI}/", "unknown"),
        (NameKind.DNS, f"x.{DNS}", "unknown"),
        (NameKind.DNS, "*.example", "unknown"),
        (NameKind.DNS, "", "unknown"),
    ],
)
def test_a_certificate_name_matches_its_kind_only(
    certificates: AccessPolicy, kind: NameKind, name: str, who: str
) -> None:
    assert name_of(certificates.by_certificate([CertificateName(kind, name)])) == who


class CallContext:
    """Metadata of a call and the verified properties of its connection, as gRPC provides them."""

    def __init__(self, *headers: object, **names: list[bytes]) -> None:
        self._metadata = [("user-agent", "test"), *(("authorization", header) for header in headers)]
        self._names = names

    def invocation_metadata(self) -> list[tuple[str, object]]:
        return self._metadata

    def auth_context(self) -> dict[str, list[bytes]]:
        return {"transport_security_type": [b"ssl"], **self._names}


def who(policy: AccessPolicy, call_context: Any) -> str:
    try:
        return Authenticator(lambda: policy).authenticate(call_context).name
    except Unauthenticated:
        return "unknown"


def test_the_names_of_a_certificate_are_read_by_kind(certificates: AccessPolicy) -> None:
    assert who(certificates, CallContext(peer_uri=[URI.encode()])) == "by-uri"
    assert who(certificates, CallContext(peer_dns=[b"other.example", b"AGENT.example"])) == "by-dns"
    assert who(certificates, CallContext(peer_dns=[URI.encode()], peer_uri=[DNS.encode()])) == "unknown"


@pytest.mark.parametrize("key", ["x509_common_name", "x509_subject_alternative_name", "peer_email", "peer_ip"])
def test_other_names_of_a_certificate_are_ignored(certificates: AccessPolicy, key: str) -> None:
    assert who(certificates, CallContext(**{key: [URI.encode(), DNS.encode()]})) == "unknown"


def test_a_name_that_is_not_utf8_has_no_caller(certificates: AccessPolicy) -> None:
    assert who(certificates, CallContext(peer_uri=[b"\xff\xfe"], peer_dns=[b"\x00"])) == "unknown"


def test_a_token_takes_precedence_over_the_certificate_even_if_it_is_invalid(certificates: AccessPolicy) -> None:
    names = {"peer_uri": [URI.encode()]}
    assert who(certificates, CallContext(f"Bearer {GOOD.text}", **names)) == "agent"
    assert who(certificates, CallContext("Bearer wrong", **names)) == "unknown"
    assert who(certificates, CallContext("", **names)) == "unknown"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ((f"Bearer {GOOD.text}",), "agent"),
        ((f"bearer {GOOD.text}",), "agent"),
        ((f"BEARER   {GOOD.text} ",), "agent"),
        ((GOOD.text,), "unknown"),
        ((f"Basic {GOOD.text}",), "unknown"),
        ((f"Bearer{GOOD.text}",), "unknown"),
        ((f"Bearer Bearer {GOOD.text}",), "unknown"),
        ((f"Bearer {GOOD.text}", f"Bearer {GOOD.text}"), "unknown"),
        ((f"Bearer {GOOD.text}, Bearer {GOOD.text}",), "unknown"),
        ((f"Bearer {GOOD.text}".encode(),), "unknown"),
        ((), "unknown"),
    ],
)
def test_exactly_one_bearer_token_is_accepted(
    certificates: AccessPolicy, headers: tuple[object, ...], expected: str
) -> None:
    assert who(certificates, CallContext(*headers)) == expected


def test_without_an_access_file_calls_are_anonymous() -> None:
    call_context: Any = CallContext("Bearer whatever")
    assert Authenticator(None).authenticate(call_context) is ANONYMOUS
