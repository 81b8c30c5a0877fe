"""Reference encodings, built by tiktoken from the bundled vocabularies."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
import tiktoken
import tiktoken.load
from tiktoken_ext import openai_public

from memsidecar.tokens.tiktoken_counter import VOCABULARIES, VOCABULARY_DIR, TiktokenCounter


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tiktoken.Encoding]]:
    """Encodings of tiktoken. It checks its own expected hash, so a vocabulary of another version fails."""
    folder = tmp_path_factory.mktemp("vocabulary")

    def from_package(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
        local = folder / Path(url).name
        local.write_bytes(gzip.decompress((VOCABULARY_DIR / f"{local.name}.gz").read_bytes()))
        assert tiktoken.load.check_hash(local.read_bytes(), expected_hash or "")
        return tiktoken.load.load_tiktoken_bpe(str(local), expected_hash)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_CACHE_DIR", "")
        patch.setattr(openai_public, "load_tiktoken_bpe", from_package)
        yield {name: tiktoken.Encoding(**openai_public.ENCODING_CONSTRUCTORS[name]()) for name in VOCABULARIES}


@pytest.fixture(scope="session", params=list(VOCABULARIES))
def counter(request: pytest.FixtureRequest) -> TiktokenCounter:
    counter = TiktokenCounter(request.param)
    # Loading inside a property test would break the deadline of its first example.
    counter.warm()
    return counter
