"""Settings of the journal: where it is stored, and how it commits."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from memsidecar.domain.byte_size import GIB, KIB, MIB
from memsidecar.settings.types import Bytes, Connections, Directory, Milliseconds, OptionalFile


class StorageSettings(BaseModel):
    data_dir: Directory = Field(
        default=Path("memsidecar-data"),
        description="Directory of the journal and of everything that is rebuilt from it. One process at a time; a "
        "relative path starts at the working directory.",
    )
    journal: Literal["sqlite", "postgres", "volatile"] = Field(
        default="sqlite",
        description="Storage of messages: sqlite on disk, which survives power loss, postgres in the database of "
        "postgres_url_file (needs the extra `postgres`), or volatile in RAM, which is lost at exit and is meant for "
        "tests.",
    )
    postgres_url_file: OptionalFile = Field(
        default=None,
        validate_default=True,
        description="File with the URL of the database of journal = postgres: postgresql://user:password@host/name. "
        "Read again for each new connection, so that the password can change while the sidecar runs.",
    )
    postgres_connections: Connections = Field(
        default=10,
        ge=4,
        le=1_000,
        description="Maximum connections to the database: one commits, one renews the lease, the others read.",
    )
    postgres_prepare: Literal["on", "off"] = Field(
        default="on",
        description="Prepare the statements that a connection executes often, or not, for a pooler that knows no "
        "prepared statements, such as pgbouncer before 1.21: each statement is then planned anew.",
    )
    commit_delay_ms: Milliseconds = Field(
        default=4.0,
        ge=0,
        le=1000,
        description="Maximum delay in milliseconds between two commits, so that a group fills and shares one fsync. A "
        "single client never waits. 0: no delay.",
    )
    wal_checkpoint_bytes: Bytes = Field(
        default=4 * MIB,
        ge=64 * KIB,
        le=1 * GIB,
        description="Size in bytes of the write-ahead log at which it is checkpointed. Smaller keeps reads fast and "
        "the file small, larger writes less.",
    )
    ballast_bytes: Bytes = Field(
        default=8 * MIB,
        ge=0,
        le=1 * GIB,
        description="Size in bytes of a ballast file, at most half of the free space. It is deleted when the disk is "
        "full, so that erasing, which must write first, still works. Use twice wal_checkpoint_bytes. 0: none.",
    )

    @field_validator("postgres_url_file")
    @classmethod
    def _check_postgres_url_file(cls, file: Path | None, settings: ValidationInfo) -> Path | None:
        if file is None and settings.data.get("journal") == "postgres":
            raise ValueError("expected the file with the URL of the database, which journal = postgres needs")
        return file
