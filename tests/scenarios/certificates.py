"""An authority for one test, and certificates that it signs. Made with openssl, which is nearly everywhere."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Certificate:
    file: Path
    key: Path


@dataclass(frozen=True)
class Authority:
    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "authority.pem"

    @classmethod
    def new(cls, folder: Path) -> "Authority":
        if shutil.which("openssl") is None:
            pytest.skip("NOT TESTED: certificates are made with openssl, and there is none")
        folder.mkdir()
        authority = cls(folder)
        _openssl("req", "-x509", *_key(authority._key), "-out", str(authority.file), "-subj", "/CN=authority")
        return authority

    def sign(self, name: str) -> Certificate:
        """A certificate for a host, or for a caller."""
        made = Certificate(self.folder / f"{name}.pem", self.folder / f"{name}.key")
        request, extensions = self.folder / f"{name}.request", self.folder / f"{name}.extensions"
        extensions.write_text(f"subjectAltName=DNS:{name}\n")
        _openssl("req", *_key(made.key), "-out", str(request), "-subj", f"/CN={name}")
        signer = ("-CA", str(self.file), "-CAkey", str(self._key), "-CAcreateserial")
        _openssl("x509", "-req", "-in", str(request), *signer, "-out", str(made.file), "-extfile", str(extensions))
        return made

    @property
    def _key(self) -> Path:
        return self.folder / "authority.key"


def _key(file: Path) -> tuple[str, ...]:
    return ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", str(file))


def _openssl(*arguments: str) -> None:
    subprocess.run(("openssl", *arguments), check=True, capture_output=True, timeout=30)
