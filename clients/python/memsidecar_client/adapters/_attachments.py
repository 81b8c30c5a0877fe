"""Texts of any length that belong to a session and are for the adapter alone: large frames, the state of an agent.

They are artifacts, compressed and in base 32. So written they have no words, and no context shows them.
"""

import base64
import hashlib
import zlib
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from memsidecar_client import Client
from memsidecar_client.adapters._contract import Place
from memsidecar_client.errors import NotFound

SOURCE = "memsidecar-client"
PART_CHARACTERS = 1_000_000


@dataclass(frozen=True)
class Attachments:
    client: Client
    place: Place

    def put(self, name: str, text: str) -> None:
        """Replace the text with this name, part by part; surplus old parts are not read, and stay until deleted."""
        written = base64.b32encode(zlib.compress(text.encode())).decode().rstrip("=")
        parts = [written[at : at + PART_CHARACTERS] for at in range(0, len(written), PART_CHARACTERS)]
        for number, part in enumerate(parts):
            self.client.put_artifact(
                **self.place,
                artifact_id=_part_id(name, number),
                source=SOURCE,
                content=part,
                metadata={"name": name, "part": number, "parts": len(parts), "sum": _sum(written)},
            )

    def all(self) -> dict[str, str]:
        """Return texts by name; incomplete ones are omitted."""
        parts: dict[tuple[str, str, int], dict[int, str]] = defaultdict(dict)
        for artifact in self.client.iter_artifacts(**self.place):
            if artifact.source == SOURCE:
                about = artifact.metadata.fields
                key = (about["name"].string_value, about["sum"].string_value, int(about["parts"].number_value))
                parts[key][int(about["part"].number_value)] = artifact.content
        return {
            name: _read("".join(found[number] for number in range(count)))
            for (name, _, count), found in parts.items()
            if len(found) == count
        }

    def delete(self, names: Iterable[str] | None = None) -> None:
        """Delete texts by name; all of them without names."""
        wanted = None if names is None else set(names)
        for artifact in list(self.client.iter_artifacts(**self.place)):
            if artifact.source == SOURCE and (wanted is None or artifact.metadata["name"] in wanted):
                with suppress(NotFound):  # Another process has deleted it.
                    self.client.delete_artifact(**self.place, artifact_id=artifact.id)


def _part_id(name: str, number: int) -> str:
    return f"{SOURCE}-{_sum(name)}-{number}"


def _sum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _read(written: str) -> str:
    padded = written + "=" * (-len(written) % 8)
    return zlib.decompress(base64.b32decode(padded)).decode()
