"""`memsidecar token`: new tokens are valid, output has no other secret, and the file is replaced atomically."""

import io
import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memsidecar.__main__ import main
from memsidecar.access.access_file import read_access_file
from memsidecar.access.bearer_token import read_token
from memsidecar.access.policy import AccessPolicy, AccessRole, NamespaceLimits
from tests.access.access_files import LONG_AGO, Grant, write_access_file

Captured = pytest.CaptureFixture[str]
OTHER = Grant("other", ("elsewhere",), AccessRole.READ)
ODD_NAMES = ['"', "\\", "'''", "a b", "]", "#x", "é", "e\u0301", "\u202eolleh", "🦊", "n" * 256, "[[tokens]]", "=", "-"]


def new(file: Path | None, *more: str, name: str = "agent", namespace: str = "research", role: str = "write") -> int:
    flags = ("--access-file", str(file)) if file else ()
    return main(["token", "new", f"--name={name}", f"--namespace={namespace}", "--role", role, *flags, *more])


def policy(file: Path) -> AccessPolicy:
    return read_access_file(file, NamespaceLimits())


def test_a_new_token_is_printed_alone_and_is_valid(access_file: Path, capsys: Captured) -> None:
    assert new(access_file, "--namespace", "more", role="admin") == 0
    out, err = capsys.readouterr()
    assert out.count("\n") == 1 and err == ""
    caller = policy(access_file).by_token(out.strip(), datetime.now(UTC))
    assert caller is not None
    assert (caller.name, caller.role, caller.namespaces) == ("agent", AccessRole.ADMIN, frozenset({"research", "more"}))


def test_the_file_gets_the_hash_and_never_the_secret(access_file: Path, capsys: Captured) -> None:
    new(access_file)
    token = read_token(capsys.readouterr().out.strip())
    assert token is not None
    assert token.secret not in access_file.read_text() and token.hash in access_file.read_text()


def test_without_a_file_the_entry_is_printed_to_standard_error(access_file: Path, capsys: Captured) -> None:
    assert new(None) == 0
    out, err = capsys.readouterr()
    access_file.write_text(err[err.index("[[tokens]]") :])
    assert policy(access_file).by_token(out.strip(), datetime.now(UTC)) is not None
    assert out.strip() not in err


def test_a_token_is_added_to_the_entries_of_the_file(access_file: Path, capsys: Captured) -> None:
    before = f"# kept by hand\n{OTHER.lines}[quotas.research]\nsessions = 3 # few"
    access_file.write_text(before)
    for _ in range(3):
        assert new(access_file) == 0
    made = capsys.readouterr().out.split()
    found = policy(access_file)
    assert access_file.read_text().startswith(before + "\n")
    assert all(found.by_token(text, datetime.now(UTC)) for text in [*made, OTHER.text])
    assert found.namespace_limits["research"].quota.sessions == 3


@pytest.mark.parametrize("odd", ODD_NAMES)
def test_unusual_names_are_stored_unchanged(access_file: Path, odd: str, capsys: Captured) -> None:
    assert new(access_file, name=odd, namespace=odd) == 0
    (token,) = policy(access_file).tokens.values()
    assert token.caller.name == odd and token.caller.namespaces == {odd}
    capsys.readouterr()
    assert main(["token", "list", "--access-file", str(access_file)]) == 0
    assert f"{odd} has the role write in {odd}" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", ["", "a\nb", "\x7f", "\x85", "n" * 257, "é" * 129])
def test_an_empty_name_is_wrong_usage(access_file: Path, wrong: str, capsys: Captured) -> None:
    for flags in ({"name": wrong}, {"namespace": wrong}):
        with pytest.raises(SystemExit) as left:
            new(access_file, **flags)
        assert left.value.code == 2
    assert capsys.readouterr().out == "" and not access_file.exists()


def test_a_name_that_is_not_utf8_is_rejected(access_file: Path, capsys: Captured) -> None:
    assert new(access_file, name=os.fsdecode(b"\xff")) == 1
    out, err = capsys.readouterr()
    assert out == "" and "must be UTF-8" in err
    assert list(access_file.parent.iterdir()) == []


def test_a_file_that_is_not_utf8_is_rejected_and_unchanged(access_file: Path, capsys: Captured) -> None:
    access_file.write_bytes(b"\xff\xfe")
    assert new(access_file) == 1
    assert capsys.readouterr().out == "" and access_file.read_bytes() == b"\xff\xfe"


@pytest.mark.parametrize("role", ["owner", "READ", "", "write,admin"])
def test_an_unknown_role_is_wrong_usage(access_file: Path, role: str) -> None:
    with pytest.raises(SystemExit):
        new(access_file, role=role)
    assert not access_file.exists()


def test_expiry_is_given_in_days_or_as_a_time(access_file: Path) -> None:
    for when in ("90d", "2099-01-31", "2099-01-31T12:00:00", "2099-01-31T12:00:00+02:00"):
        assert new(access_file, "--expires", when) == 0
    ends = [token.expires for token in policy(access_file).tokens.values()]
    assert ends[1:] == [
        datetime(2099, 1, 31, tzinfo=UTC),
        datetime(2099, 1, 31, 12, tzinfo=UTC),
        datetime(2099, 1, 31, 10, tzinfo=UTC),
    ]
    assert ends[0] is not None and abs(ends[0] - datetime.now(UTC) - timedelta(days=90)) < timedelta(minutes=5)


@pytest.mark.parametrize("when", ["soon", "-1d", "1.5d", "90", "2099-02-30", ""])
def test_an_invalid_expiry_is_wrong_usage(access_file: Path, when: str) -> None:
    with pytest.raises(SystemExit):
        new(access_file, f"--expires={when}")
    assert not access_file.exists()


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
@pytest.mark.parametrize("before", [OTHER.lines, ""], ids=["with tokens", "empty"])
def test_the_mode_of_the_file_is_kept(access_file: Path, mode: int, before: str) -> None:
    access_file.write_text(before)
    access_file.chmod(mode)
    assert new(access_file) == 0
    assert stat.S_IMODE(access_file.stat().st_mode) == mode


def test_a_new_file_is_readable_by_its_owner_only(access_file: Path) -> None:
    new(access_file)
    assert stat.S_IMODE(access_file.stat().st_mode) == 0o640


def test_the_owner_of_the_file_is_kept(access_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "chown", lambda _file, user, group: given.append((user, group)))
    write_access_file(access_file, [OTHER])
    assert new(access_file) == 0
    assert given == [(access_file.stat().st_uid, access_file.stat().st_gid)]


def test_a_link_to_the_file_is_kept(tmp_path: Path, access_file: Path) -> None:
    write_access_file(access_file, [OTHER])
    link = tmp_path / "link.toml"
    link.symlink_to(access_file.name)
    assert new(link) == 0
    assert link.is_symlink() and len(policy(access_file).tokens) == 2


@pytest.mark.parametrize("before", ["tokens = []\n", OTHER.lines.replace("role", "rolle"), "[[tokens]\n"])
def test_a_file_that_would_become_invalid_is_unchanged(access_file: Path, before: str, capsys: Captured) -> None:
    access_file.write_text(before)
    assert new(access_file) == 1
    out, err = capsys.readouterr()
    assert out == "" and f"access_file {access_file} is" in err and OTHER.token.hash not in err
    assert access_file.read_text() == before and list(access_file.parent.iterdir()) == [access_file]


def test_a_failed_write_leaves_the_file_unchanged(
    access_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    write_access_file(access_file, [OTHER])

    def fail(_self: Path, _target: Path) -> None:
        raise OSError("no room")

    monkeypatch.setattr(Path, "replace", fail)
    assert new(access_file) == 1
    out, err = capsys.readouterr()
    assert out == "" and "no room" in err
    assert access_file.read_text() == OTHER.lines and list(access_file.parent.iterdir()) == [access_file]


def test_the_file_is_replaced_and_never_written_in_place(access_file: Path) -> None:
    write_access_file(access_file, [OTHER])
    with access_file.open() as opened:
        assert new(access_file) == 0
        assert opened.read() == OTHER.lines


def test_a_missing_folder_is_reported(tmp_path: Path, capsys: Captured) -> None:
    assert new(tmp_path / "none" / "access.toml") == 1
    out, err = capsys.readouterr()
    assert out == "" and "No such file" in err


# -- list and check


def test_the_list_shows_all_callers_and_no_hash(access_file: Path, capsys: Captured) -> None:
    over = Grant("ghost", ("b", "a"), AccessRole.ADMIN, LONG_AGO)
    certificate = '[[certificates]]\nname = "c"\ndns = "A.example"\nnamespaces = ["*"]\nrole = "read"\n'
    access_file.write_text(OTHER.lines + over.lines + certificate)
    assert main(["token", "list", "--access-file", str(access_file)]) == 0
    out, _ = capsys.readouterr()
    assert out.splitlines() == [
        f"token {OTHER.token.id}: other has the role read in elsewhere",
        f"token {over.token.id}: ghost has the role admin in a, b, expired {LONG_AGO.isoformat()}",
        "certificate dns:a.example: c has the role read in *",
    ]


@pytest.mark.parametrize("verb", ["list", "check"])
def test_an_invalid_file_is_reported(access_file: Path, capsys: Captured, verb: str) -> None:
    access_file.write_text(OTHER.lines + OTHER.lines)
    assert main(["token", verb, "--access-file", str(access_file)]) == 1
    assert "two tokens have the same id" in capsys.readouterr().err


def check(file: Path, text: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> tuple[int, str]:
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    code = main(["token", "check", "--access-file", str(file)])
    return code, capsys.readouterr().out.strip()


def test_a_token_is_checked(access_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    over = Grant("ghost", ("n",), AccessRole.ADMIN, LONG_AGO)
    write_access_file(access_file, [OTHER, over])
    verdicts = {
        f"{OTHER.text}\n": (0, "valid: other has the role read in elsewhere"),
        over.text: (1, f"not valid: it expired at {LONG_AGO.isoformat()}"),
        f"{OTHER.text}x": (1, "not valid: its secret is another"),
        OTHER.rotated().text: (1, "not valid: the access file has no such token"),
        "nonsense": (1, "not valid: the access file has no such token"),
        "": (1, "not valid: the access file has no such token"),
    }
    assert {text: check(access_file, text, monkeypatch, capsys) for text in verdicts} == verdicts


def test_a_token_is_read_from_a_file(access_file: Path, tmp_path: Path, capsys: Captured) -> None:
    write_access_file(access_file, [OTHER])
    kept = tmp_path / "token"
    kept.write_text(OTHER.text + "\n")
    flags = ["--access-file", str(access_file), "--token-file"]
    assert main(["token", "check", *flags, str(kept)]) == 0
    assert OTHER.token.secret not in "".join(capsys.readouterr())
    assert main(["token", "check", *flags, str(tmp_path / "none")]) == 1
    assert "No such file" in capsys.readouterr().err
