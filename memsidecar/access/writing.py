"""A token's lines in the access file."""

import json
import os
from collections.abc import Sequence
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
    before = file.read_text(encoding="utf-8") if file.exists() else ""
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        fresh.write_text(
            "\n".join(filter(None, (before.rstrip("\n") + "\n" if before else "", lines))), encoding="utf-8"
        )
        fresh.chmod(file.stat().st_mode & 0o777 if before else 0o640)
        parse_access_file(fresh)
        fresh.replace(file)
    except InvalidAccessFile as error:
        raise InvalidAccessFile(str(error).replace(str(fresh), str(file))) from None
    finally:
        fresh.unlink(missing_ok=True)


def _text(given: str) -> str:
    return json.dumps(given, ensure_ascii=False)
