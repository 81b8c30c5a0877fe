"""A token's lines in the access file."""

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from memsidecar.access.file import InvalidAccessFile, parse_access_file
from memsidecar.access.rights import Role
from memsidecar.access.secret import Token


def token_lines(token: Token, name: str, namespaces: Sequence[str], role: Role, expires: datetime | None) -> str:
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
