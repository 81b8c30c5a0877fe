"""The bundled model: deterministic vectors, without a network."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsidecar.embedding import static as static_module
from memsidecar.embedding.contract import Embedder, EmbedderMismatch, InvalidEmbedder
from memsidecar.embedding.static import (
    BATCH_TEXTS,
    MATRIX,
    MAX_CACHED_WORD_CHARACTERS,
    MAX_TEXT_BYTES,
    SHA256,
    TOKENIZER,
    BundledModel,
    StaticEmbedder,
    StaticModel,
)
from tests.support.work import costs_at_most

ROOT = Path(__file__).resolve().parents[2]

any_text = st.text(st.characters(), max_size=300)
words = st.lists(st.text(st.characters(exclude_categories=["Z", "Cc", "Cs"]), min_size=1), min_size=1).map(" ".join)

CORPUS = {
    "prose": "Caroline went to the support group yesterday; it's 12.5 km away.",
    "emoji": "👍🏽 👩‍👩‍👧‍👦 🇨🇭",
    "cjk": "今日は良い天気ですね。我们明天见" * 9,
    "arabic": "مرحبا بالعالم، كيف حالك اليوم؟",
    "special tokens": "<s> </s> <unk>",
    "combining marks": "e\u0301a\u0300\u0302",
    "lone surrogate": "broken \ud800 text",
    "nul": "\x00",
    "one long word": "x" * 3 * MAX_CACHED_WORD_CHARACTERS,
}

WITHOUT_NETWORK = """
import socket, sys
def refuse(*_): raise AssertionError("asked the network")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = refuse
from memsidecar.embedding.static import StaticEmbedder
sys.stdout.buffer.write(StaticEmbedder().embed(["the same text", "漢字 😀"]).tobytes())
assert "wordllama" not in sys.modules
"""


@given(text=any_text, others=st.lists(any_text, max_size=2 * BATCH_TEXTS), place=st.integers(0))
@settings(max_examples=60, deadline=None)
def test_a_vector_is_bit_identical_alone_and_in_any_batch(
    static: StaticEmbedder, text: str, others: list[str], place: int
) -> None:
    place %= len(others) + 1
    batch = [*others[:place], text, *others[place:]]
    assert static.embed(batch)[place].tobytes() == static.embed([text])[0].tobytes()


@given(texts=st.lists(any_text, max_size=5))
@settings(deadline=None)
def test_a_vector_has_length_one_or_is_all_zeros(static: StaticEmbedder, texts: list[str]) -> None:
    vectors = static.embed(texts)
    assert vectors.shape == (len(texts), 256) and vectors.dtype == np.float32
    for text, length in zip(texts, np.linalg.norm(vectors, axis=1), strict=True):
        assert length == 0 or length == pytest.approx(1, abs=1e-5)
        assert length > 0 or not any(sign.isascii() and sign.isalnum() for sign in text)


def test_punctuation_alone_has_no_direction(static: StaticEmbedder) -> None:
    assert not static.embed(["-", "?! ... --", " "]).any()


def test_a_vector_has_the_direction_of_the_mean_of_its_token_vectors(
    static: StaticEmbedder, bundled: BundledModel
) -> None:
    text = "The kettle is on, isn't it?"
    model = bundled.loaded()
    mean = model.matrix[model.tokenizer.encode(text, add_special_tokens=False).ids].astype(np.float64).mean(axis=0)
    assert static.embed([text])[0] == pytest.approx(mean / np.linalg.norm(mean), abs=1e-6)


@given(text=words)
def test_tokens_of_the_words_are_the_tokens_of_the_text(
    static: StaticEmbedder, bundled: BundledModel, text: str
) -> None:
    whole = bundled.loaded().tokenizer.encode(text, add_special_tokens=False)
    assert static._tokens(text) == whole.ids


def test_no_token_reaches_over_a_space(bundled: BundledModel) -> None:
    vocabulary = bundled.loaded().tokenizer.get_vocab()
    assert not [token for token in vocabulary if "▁" in token.lstrip("▁")]


@pytest.mark.parametrize("text", CORPUS.values(), ids=CORPUS.keys())
def test_any_script_has_a_vector(static: StaticEmbedder, text: str) -> None:
    assert np.linalg.norm(static.embed([text])[0]) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("text", ["", " ", "\n\t \u3000", " " * (1 << 20)])
def test_white_space_has_a_zero_vector(static: StaticEmbedder, text: str) -> None:
    assert not static.embed([text]).any()


def test_no_texts_have_no_rows(static: StaticEmbedder) -> None:
    assert static.embed([]).shape == (0, 256)


def test_special_tokens_are_plain_text(static: StaticEmbedder) -> None:
    assert len(static._tokens("</s>")) > 1


@pytest.mark.parametrize("unit", ["word ", "漢", "😀", "x", "a1-", "\ud800"])
def test_a_mebibyte_costs_no_more_than_its_beginning(static: StaticEmbedder, unit: str) -> None:
    text = unit * ((1 << 20) // len(unit))
    beginning = text[:MAX_TEXT_BYTES]
    assert np.array_equal(static.embed([text])[0], static.embed([beginning])[0])
    assert costs_at_most(2, lambda: static.embed([beginning]), lambda: static.embed([text]), slack_seconds=0.01)


def test_similar_sentences_are_nearer_than_unrelated_ones(static: StaticEmbedder) -> None:
    query, near, far = static.embed(
        [
            "Where does my dog sleep?",
            "The puppy has its bed in the kitchen.",
            "Quarterly revenue rose on higher interest rates.",
        ]
    )
    assert query @ near > query @ far + 0.1


def test_common_words_hardly_move_a_vector(static: StaticEmbedder) -> None:
    bare, dressed = static.embed(["violin concerto", "and it is the violin concerto of the"])
    assert bare @ dressed > 0.9


@pytest.mark.parametrize("dimensions", [64, 128])
def test_fewer_dimensions_are_the_beginning_of_the_vector(
    static: StaticEmbedder, bundled: BundledModel, dimensions: int
) -> None:
    short = StaticEmbedder(dimensions, bundled)
    beginning = static.embed(["violin concerto"])[0, :dimensions]
    assert short.embed(["violin concerto"])[0] == pytest.approx(beginning / np.linalg.norm(beginning), abs=1e-6)
    assert short.identity == f"static/wordllama-l2_supercat-{dimensions}/mean"


@pytest.mark.parametrize("dimensions", [-1, 0, 100, 512])
def test_dimensions_that_the_model_has_not_are_refused(dimensions: int) -> None:
    with pytest.raises(InvalidEmbedder, match=f"64, 128, 256 dimensions, not {dimensions}"):
        StaticEmbedder(dimensions)


def test_every_process_makes_the_same_vectors_without_asking_the_network(static: StaticEmbedder) -> None:
    made = [subprocess.check_output([sys.executable, "-c", WITHOUT_NETWORK], cwd=ROOT) for _ in range(2)]
    assert made == [static.embed(["the same text", "漢字 😀"]).tobytes()] * 2


def test_concurrent_threads_load_the_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[Path] = []
    load = static_module._load

    def counted_load(folder: Path) -> StaticModel:
        loads.append(folder)
        return load(folder)

    monkeypatch.setattr(static_module, "_load", counted_load)
    embedder = StaticEmbedder()
    assert not embedder.ready
    with ThreadPoolExecutor(8) as pool:
        made = {vectors.tobytes() for vectors in pool.map(embedder.embed, [["violin", "漢" * 99]] * 8)}
    assert len(made) == len(loads) == 1 and embedder.ready


def test_warm_loads_the_model() -> None:
    embedder: Embedder = StaticEmbedder()
    embedder.warm()
    assert embedder.ready


def test_a_missing_file_is_noticed_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidEmbedder, match="missing"):
        BundledModel(tmp_path)


@pytest.mark.parametrize("damaged", [MATRIX, TOKENIZER])
def test_a_file_of_another_version_is_refused(tmp_path: Path, damaged: str) -> None:
    shipped = static_module._package_folder()
    for file in SHA256:
        (tmp_path / file).parent.mkdir()
        content = (shipped / file).read_bytes()
        (tmp_path / file).write_bytes(content[:-1] if file == damaged else content)
    embedder = StaticEmbedder(model=BundledModel(tmp_path))
    with pytest.raises(EmbedderMismatch, match="damaged"):
        embedder.embed(["text"])
    assert not embedder.ready
