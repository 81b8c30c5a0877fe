"""An access file with generated tokens, in the format of docs/security.md."""

import hashlib
import secrets
from pathlib import Path
from typing import Any

from runner.certificates import CLIENT_URI


class AccessFile:
    """The tokens and certificates of a sidecar. Each change rewrites the file, and the sidecar reloads it."""

    def __init__(self, file: Path, tokens: dict[str, Any], quotas: dict[str, Any], certificate: bool) -> None:
        self.file = file
        self._rest = _quotas(quotas) + (_CERTIFICATE if certificate else "")
        self._entries: dict[str, str] = {}
        self.tokens: dict[str, str] = {}
        for name, rights in tokens.items():
            self._add(name, rights)
        self._write()

    def add(self, name: str, rights: dict[str, Any]) -> None:
        self._add(name, rights)
        self._write()

    def remove(self, name: str) -> None:
        del self._entries[name]
        self._write()

    def _add(self, name: str, rights: dict[str, Any]) -> None:
        public = secrets.token_hex(6)
        self.tokens[name] = token = f"msc_{public}_{secrets.token_urlsafe(32)}"
        self._entries[name] = _entry(public, name, hashlib.sha256(token.encode()).hexdigest(), rights)

    def _write(self) -> None:
        fresh = self.file.with_suffix(".new")
        fresh.write_text("\n".join([*self._entries.values(), self._rest]))
        fresh.replace(self.file)


_CERTIFICATE = f'[[certificates]]\nname = "client"\nuri = "{CLIENT_URI}"\nnamespaces = ["*"]\nrole = "admin"\n'


def _entry(public: str, name: str, digest: str, rights: dict[str, Any]) -> str:
    namespaces = ", ".join(f'"{namespace}"' for namespace in rights["namespaces"])
    expires = f"expires = {rights['expires']}\n" if "expires" in rights else ""
    return (
        f'[[tokens]]\nid = "{public}"\nname = "{name}"\nhash = "sha256:{digest}"\n'
        f'namespaces = [{namespaces}]\nrole = "{rights["role"]}"\n{expires}'
    )


def _quotas(quotas: dict[str, Any]) -> str:
    return "".join(
        f"[quotas.{namespace}]\n" + "".join(f"{name} = {value}\n" for name, value in limits.items()) + "\n"
        for namespace, limits in quotas.items()
    )
