"""The access file: errors are reported with their position, without secrets, and grant no access."""

from pathlib import Path

import pytest

from memsidecar.access.access_file import InvalidAccessFile, read_access_file
from memsidecar.access.policy import AccessPolicy, AccessRole, NamespaceLimits
from memsidecar.assembly.security import open_security_files
from memsidecar.domain.quota import Quota
from memsidecar.settings import Settings
from tests.access.access_files import Grant, write_access_file

GRANT = Grant("agent", ("research",))
GOOD = GRANT.lines
EVERYBODY = NamespaceLimits(calls_per_second=10, quota=Quota(sessions=5))


def read(file: Path, text: str) -> AccessPolicy:
    file.write_text(text, encoding="utf-8")
    return read_access_file(file, EVERYBODY)


def problem(file: Path, text: str) -> str:
    with pytest.raises(InvalidAccessFile) as refused:
        read(file, text)
    return str(refused.value)


def test_a_valid_file_lists_its_callers(access_file: Path) -> None:
    (token,) = read(access_file, GOOD).tokens.values()
    assert (token.caller.name, token.caller.role) == ("agent", AccessRole.WRITE)
    assert token.caller.may_access("research") and not token.caller.may_access("researc")


@pytest.mark.parametrize(
    ("right", "wrong", "place", "expected"),
    [
        ("role =", "rolle =", "tokens[0].role", "required"),
        ("role =", "rolle =", "tokens[0].rolle", "not permitted"),
        ('"write"', '"owner"', "tokens[0].role", "is no role: expected read, write, admin"),
        ('"write"', '"WRITE"', "tokens[0].role", "is no role"),
        ('"write"', "2", "tokens[0].role", "is no role"),
        ('"write"', "[]", "tokens[0].role", "is no role"),
        ('["research"]', "[]", "tokens[0].namespaces", "at least 1"),
        ('["research"]', '"research"', "tokens[0].namespaces", "valid frozenset"),
        ('["research"]', '[""]', "tokens[0].namespaces", "is required"),
        ('["research"]', '["a\\u0000"]', "tokens[0].namespaces", "control character"),
        ('["research"]', "[1]", "tokens[0].namespaces", "valid string"),
        ('"agent"', '""', "tokens[0].name", "is required"),
        ('"agent"', f'"{"n" * 257}"', "tokens[0].name", "longer than 256 bytes"),
        ("[[tokens]]", "[[token]]", "token", "not permitted"),
        ("[[tokens]]", "[tokens]", "tokens", "valid tuple"),
        ('role = "write"', 'role = "write"\nexpires = 2027-01-31T00:00:00', "tokens[0].expires", "timezone"),
        ('role = "write"', 'role = "write"\nexpires = 2027-01-31', "tokens[0].expires", "is no time"),
        ('role = "write"', 'role = "write"\nexpires = "2027-01-31T00:00:00Z"', "tokens[0].expires", "without quotes"),
        ('role = "write"', 'role = "write"\nexpires = 4000000000', "tokens[0].expires", "is no time"),
    ],
)
def test_an_error_is_reported_with_its_position(
    access_file: Path, right: str, wrong: str, place: str, expected: str
) -> None:
    assert right in GOOD
    message = problem(access_file, GOOD.replace(right, wrong))
    assert str(access_file) in message and f"\n  {place}" in message and expected in message


@pytest.mark.parametrize(
    "spoiled",
    [
        lambda digest: digest.removeprefix("sha256:"),
        lambda digest: digest.upper(),
        lambda digest: digest[:-1],
        lambda digest: digest + "0",
        lambda digest: digest.replace("sha256", "md5"),
        lambda _: GRANT.text,  # the token where its hash belongs
    ],
)
def test_an_invalid_hash_is_rejected_and_not_shown(access_file: Path, spoiled: object) -> None:
    assert callable(spoiled)
    message = problem(access_file, GOOD.replace(GRANT.token.hash, spoiled(GRANT.token.hash)))
    assert "tokens[0].hash: is no hash of a token" in message
    assert GRANT.token.secret not in message and GRANT.token.hash[7:20].lower() not in message.lower()


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("hash = ", "hash "),
        GOOD.replace('hash = "', "hash = "),
        GOOD.replace("hash = ", "hash = [").replace('role = "write"', ""),
        GOOD.replace('"\nnamespaces', "\nnamespaces"),
        GOOD.replace("hash = ", "hash = 5\nhash = "),
        GOOD.replace("hash = ", "hash.x = "),
        GOOD.replace("id = ", f"token = {GRANT.text!r}\nid = "),
        GOOD + GOOD.replace('role = "write"', 'role = "none"'),
        GOOD + GOOD,
    ],
)
def test_no_error_message_shows_a_hash_or_a_token(access_file: Path, text: str) -> None:
    message = problem(access_file, text)
    assert GRANT.token.hash[7:20] not in message and GRANT.token.secret not in message


def test_two_tokens_with_the_same_id_are_rejected(access_file: Path) -> None:
    assert "two tokens have the same id" in problem(access_file, GOOD + GOOD)


CERTIFICATE = '[[certificates]]\nname = "c"\nnamespaces = ["research"]\nrole = "read"\n'


@pytest.mark.parametrize(("one", "other"), [('uri = "u:1"', 'uri = "u:1"'), ('dns = "a.example"', 'dns = "A.Example"')])
def test_two_certificates_with_the_same_name_are_rejected(access_file: Path, one: str, other: str) -> None:
    message = problem(access_file, f"{CERTIFICATE}{one}\n{CERTIFICATE}{other}\n")
    assert "two certificates have the same name" in message


@pytest.mark.parametrize("names", ["", 'uri = "u:1"\ndns = "a.example"'])
def test_a_certificate_has_one_name(access_file: Path, names: str) -> None:
    assert "certificates[0]: expected either uri or dns" in problem(access_file, f"{CERTIFICATE}{names}\n")


@pytest.mark.parametrize("text", ["", "\n# no entries yet\n", "tokens = []\n", "[quotas.research]\nsessions = 1\n"])
def test_a_file_that_grants_no_access_stops_the_start(access_file: Path, text: str) -> None:
    access_file.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidAccessFile, match="grants no access"):
        open_security_files(Settings(access_file=access_file))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    for file, why in ((tmp_path / "none.toml", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(InvalidAccessFile, match=why) as refused:
            read_access_file(file, EVERYBODY)
        assert str(file) in str(refused.value)


@pytest.mark.parametrize(
    "data", [b"\xff\xfe", GOOD.encode("utf-16"), b"\x00", b"tokens = " + b"[" * 5_000, b"name = '" + b"x" * 5_000]
)
def test_invalid_toml_is_rejected(access_file: Path, data: bytes) -> None:
    access_file.write_bytes(data)
    with pytest.raises(InvalidAccessFile, match="is not valid TOML"):
        read_access_file(access_file, EVERYBODY)


def test_a_quota_overrides_the_default_of_its_namespace(access_file: Path) -> None:
    policy = read(access_file, GOOD + '[quotas.research]\nsessions = 0\nbytes = "2GiB"\n')
    assert policy.namespace_limits == {"research": NamespaceLimits(calls_per_second=10, quota=Quota(bytes=2 << 30))}


@pytest.mark.parametrize(
    ("quota", "expected"),
    [
        ("sessions = -1", "greater than or equal to 0"),
        ("calls_per_second = nan", "finite"),
        ("calls_per_second = -0.5", "greater than or equal to 0"),
        ('bytes = "2 parsecs"', "unknown unit"),
        ("session = 1", "not permitted"),
    ],
)
def test_an_invalid_quota_is_reported(access_file: Path, quota: str, expected: str) -> None:
    message = problem(access_file, f"{GOOD}[quotas.research]\n{quota}\n")
    assert "quotas.research." in message and expected in message


def test_a_quota_is_of_one_namespace(access_file: Path) -> None:
    assert "expected the name of one namespace" in problem(access_file, f'{GOOD}[quotas."*"]\nsessions = 1\n')


def test_names_are_kept_as_they_are_written(access_file: Path) -> None:
    odd = Grant('a "b" \\ ]]\u202e', ("n[0]", "näme", "na\u0308me", "'", "#"))
    write_access_file(access_file, [odd])
    (token,) = read_access_file(access_file, EVERYBODY).tokens.values()
    assert token.caller.name == odd.name and token.caller.namespaces == frozenset(odd.namespaces)
