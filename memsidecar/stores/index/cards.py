"""How a table is called on disk, and what is known of it without opening it."""

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from memsidecar.stores.contract.index import Generation


def stem(namespace: str) -> str:
    """LanceDB allows little in a name, a file name even less: so a digest, and the card tells what it stands for."""
    return "n" + hashlib.blake2b(namespace.encode(), digest_size=16).hexdigest()


def name(namespace: str, number: int) -> str:
    return f"{stem(namespace)}_g{int(number)}"


def write(directory: Path, namespace: str, generation: Generation) -> None:
    """Synced, unlike what LanceDB writes: it is small and written once."""
    path = directory / f"{name(namespace, generation.number)}.json"
    fresh = path.with_suffix(".json.new")
    with fresh.open("w") as file:
        json.dump({"namespace": namespace, **asdict(generation)}, file)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def read(directory: Path, namespace: str, number: int) -> Generation | None:
    """None where there is no card, or none that can be read. The first cards did not tell the version of the words."""
    path = directory / f"{name(namespace, number)}.json"
    try:
        card = json.loads(path.read_bytes())
        made_by = str(card["embedder"]), int(card["dimensions"]), int(card.get("words", 1))
        generation = Generation(int(card["number"]), *made_by)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return generation if card["namespace"] == namespace and generation.number == number else None


def numbers(directory: Path, namespace: str) -> list[int]:
    """Of the namespace's tables that have a card."""
    found = (path.stem.rpartition("_g")[2] for path in directory.glob(f"{stem(namespace)}_g*.json"))
    return sorted(int(number) for number in found if number.isdigit())


def begin_opening(directory: Path, namespace: str, number: int) -> int:
    """Note that the table is being opened: how many times that was begun, and never ended, before.

    On a full disk it is not noted, and the table is opened all the same.
    """
    path = directory / f"{name(namespace, number)}.opening"
    before = path.stat().st_size if path.exists() else 0
    with suppress(OSError):
        path.write_bytes(b"." * (before + 1))
    return before


def end_opening(directory: Path, namespace: str, number: int) -> None:
    (directory / f"{name(namespace, number)}.opening").unlink(missing_ok=True)


def remove(directory: Path, namespace: str, number: int) -> None:
    for suffix in (".json", ".json.new", ".opening", ".unpurged"):
        (directory / f"{name(namespace, number)}{suffix}").unlink(missing_ok=True)
