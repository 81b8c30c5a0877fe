"""Vocabularies are read from the package, and verified; there is no download."""

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memsidecar.domain.errors import DataCorrupted
from memsidecar.tokens.tiktoken_counter import VOCABULARY_DIR, CorruptedVocabulary, TiktokenCounter, load_encoding

FILE = "cl100k_base.tiktoken.gz"


def altered(content: bytes) -> bytes:
    return gzip.compress(gzip.decompress(content).replace(b"IQ== 0\n", b"IQ== 1\n", 1), compresslevel=1)


def truncated(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :]


def replaced(_: bytes) -> bytes:
    return b"version https://git-lfs.github.com/spec/v1"


@pytest.mark.parametrize("damage", [altered, truncated, flipped, replaced])
def test_a_damaged_vocabulary_is_reported_by_its_file(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    (tmp_path / FILE).write_bytes(damage((VOCABULARY_DIR / FILE).read_bytes()))
    with pytest.raises(CorruptedVocabulary, match=FILE) as reported:
        load_encoding("cl100k_base", tmp_path)
    assert isinstance(reported.value, DataCorrupted)
    assert reported.value.file == str(tmp_path / FILE)


def test_a_missing_vocabulary_is_reported_by_its_file(tmp_path: Path) -> None:
    with pytest.raises(CorruptedVocabulary, match=FILE):
        load_encoding("cl100k_base", tmp_path)


def test_a_counter_recovers_when_its_vocabulary_is_back(tmp_path: Path) -> None:
    counter = TiktokenCounter("cl100k_base", tmp_path)
    with pytest.raises(CorruptedVocabulary):
        counter.count("hello")
    (tmp_path / FILE).write_bytes((VOCABULARY_DIR / FILE).read_bytes())
    assert counter.count("hello") == 1


OFFLINE = """
import sys

def refuse(event, arguments):
    if event.startswith("socket."):
        raise SystemExit(f"touched the network: {event} {arguments}")

sys.addaudithook(refuse)
from memsidecar.tokens.registry import CounterRegistry
counters = CounterRegistry("o200k_base")
print(counters.default.count("hello world"), counters.named("cl100k_base").count("hello world"))
"""


def test_counting_touches_neither_network_nor_tiktokens_cache(tmp_path: Path) -> None:
    environment = {**os.environ, "TIKTOKEN_CACHE_DIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    finished = subprocess.run(
        [sys.executable, "-c", OFFLINE], env=environment, capture_output=True, text=True, check=False
    )
    assert (finished.stdout, finished.stderr) == ("2 2\n", "")
    assert list(tmp_path.iterdir()) == []
