"""A certificate authority, and files of certificates that it signs."""

from dataclasses import dataclass
from pathlib import Path

from tests.tls import authority as tls


@dataclass(frozen=True)
class Certificate:
    file: Path
    key: Path


@dataclass(frozen=True)
class Authority:
    folder: Path
    signer: tls.Authority

    @property
    def file(self) -> Path:
        return self.folder / "authority.pem"

    @classmethod
    def new(cls, folder: Path) -> "Authority":
        folder.mkdir()
        authority = cls(folder, tls.Authority.new(folder.name))
        authority.file.write_bytes(authority.signer.pem)
        return authority

    def sign(self, name: str) -> Certificate:
        """Write a certificate for a host or a caller."""
        return Certificate(*self.signer.client(dns=name, common_name=name).write(self.folder, name))
