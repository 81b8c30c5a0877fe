"""The embedder of sentence-transformers exports, with a tiny export that onnxruntime really computes."""

import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from memsidecar.embedding.contract import Embedder, Embedders, EmbedderUnavailable, InvalidEmbedder, Vectors
from memsidecar.embedding.onnx import MAX_INTERACTIVE_TOKENS, OnnxEmbedder
from memsidecar.embedding.registry import ConfiguredEmbedders, EmbedderConfig
from tests.support.tiny_onnx import DIMENSIONS, MATRIX, write_export

POOLING = "1_Pooling/config.json"
PROMPTS = "config_sentence_transformers.json"
LENGTH = "sentence_bert_config.json"


def load(folder: Path, **changes: Any) -> OnnxEmbedder:
    return OnnxEmbedder.load(write_export(folder, **changes), DIMENSIONS)


def unit(*words: str, pooled: Any = np.mean) -> Vectors:
    row = pooled(np.array([MATRIX[word] for word in words], np.float32), axis=0)
    return np.asarray(row / np.linalg.norm(row), np.float32)


@pytest.fixture
def embedder(tmp_path: Path) -> OnnxEmbedder:
    return load(tmp_path)


def test_without_configuration_a_vector_is_the_mean_of_the_tokens(embedder: OnnxEmbedder) -> None:
    expected: Embedder = embedder
    assert expected.ready and (expected.dimensions, expected.identity[:5]) == (DIMENSIONS, "onnx/")
    (vector,) = embedder.embed(["cats purr"])
    assert vector == pytest.approx(unit("[CLS]", "cats", "purr", "[SEP]"))


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, unit("[CLS]")),
        ({"pooling_mode_mean_tokens": True}, unit("[CLS]", "cats", "[SEP]")),
        ({"pooling_mode_mean_sqrt_len_tokens": True}, unit("[CLS]", "cats", "[SEP]")),
        ({"pooling_mode_max_tokens": True}, unit("[CLS]", "cats", "[SEP]", pooled=np.max)),
        ({"pooling_mode_lasttoken": True}, unit("[SEP]")),
        ({"pooling_mode": "cls"}, unit("[CLS]")),
    ],
    ids=str,
)
def test_the_export_names_its_pooling(tmp_path: Path, config: Mapping[str, object], expected: Vectors) -> None:
    (vector,) = load(tmp_path, files={POOLING: config}).embed(["cats"])
    assert vector == pytest.approx(expected, abs=1e-6)


def test_the_list_of_modules_says_where_the_pooling_is(tmp_path: Path) -> None:
    modules = [{"path": "", "type": "a.Transformer"}, {"path": "9_P", "type": "a.Pooling"}, {"type": "a.Normalize"}]
    files = {"modules.json": modules, "9_P/config.json": {"pooling_mode": "cls"}}
    assert load(tmp_path, files=files).embed(["cats"])[0] == pytest.approx(unit("[CLS]"), abs=1e-6)


def test_the_model_may_be_in_the_folder_onnx(tmp_path: Path, embedder: OnnxEmbedder) -> None:
    (tmp_path / "onnx").mkdir()
    (tmp_path / "model.onnx").rename(tmp_path / "onnx/model.onnx")
    assert OnnxEmbedder.load(tmp_path, DIMENSIONS).identity == embedder.identity


def test_queries_and_messages_have_the_prompts_of_the_export(tmp_path: Path) -> None:
    embedder = load(tmp_path, files={PROMPTS: {"prompts": {"query": "ask: ", "passage": "text: "}}})
    assert embedder.embed(["cats"])[0] == pytest.approx(unit("[CLS]", "text:", "cats", "[SEP]"))
    assert embedder.interactive().embed([" cats "])[0] == pytest.approx(unit("[CLS]", "text:", "cats", "[SEP]"))
    queries = embedder.for_queries()
    assert queries.embed(["cats"])[0] == pytest.approx(unit("[CLS]", "ask:", "cats", "[SEP]"))
    assert queries.identity == embedder.identity


def test_the_default_prompt_is_for_all_texts(tmp_path: Path) -> None:
    embedder = load(tmp_path, files={PROMPTS: {"prompts": {"p": "text: "}, "default_prompt_name": "p"}})
    for variant in (embedder, embedder.for_queries()):
        assert variant.embed(["cats"])[0] == pytest.approx(unit("[CLS]", "text:", "cats", "[SEP]"))


def test_a_long_text_is_embedded_by_its_beginning(tmp_path: Path) -> None:
    embedder = load(tmp_path, files={LENGTH: {"max_seq_length": 4}})
    long, short = embedder.embed(["cats purr " + "ships " * 100_000, "cats purr"])
    assert np.array_equal(long, short)


def test_a_vector_does_not_depend_on_other_texts(embedder: OnnxEmbedder) -> None:
    texts = ["cats", "ships sail " * 40, "", "cats purr ships"]
    alone = [embedder.embed([text])[0] for text in texts]
    with ThreadPoolExecutor(4) as pool:
        for together in pool.map(embedder.embed, [texts] * 8):
            assert np.array_equal(together, np.stack(alone))


@pytest.mark.parametrize("text", ["", " \n", "...", "?!"])
def test_a_text_without_words_has_no_vector(embedder: OnnxEmbedder, text: str) -> None:
    assert not embedder.embed([text]).any()


def test_special_tokens_in_a_text_are_plain_text(embedder: OnnxEmbedder) -> None:
    (vector,) = embedder.embed(["cats [SEP]"])
    assert vector == pytest.approx(unit("[CLS]", "cats", "[UNK]", "[SEP]"))


def test_the_cosine_of_unrelated_texts_is_measured(tmp_path: Path) -> None:
    assert load(tmp_path / "a").unrelated_cosine == 0.9
    prompts = {"prompts": {"query": "ask: ask: ask: ", "passage": "cats cats cats cats cats cats "}}
    assert 0.1 < load(tmp_path / "b", files={PROMPTS: prompts}).unrelated_cosine < 0.7


@pytest.mark.parametrize(
    "changes",
    [
        {"matrix": {**MATRIX, "ships": (0.0, 1.0, 0.1)}},
        {"files": {POOLING: {"pooling_mode": "cls"}}},
        {"files": {PROMPTS: {"prompts": {"query": "ask: "}}}},
        {"files": {LENGTH: {"max_seq_length": 9}}},
    ],
    ids=["weights", "pooling", "prompt", "length"],
)
def test_another_model_has_another_identity(tmp_path: Path, changes: dict[str, Any]) -> None:
    before = load(tmp_path).identity
    assert load(tmp_path, **changes).identity != before


@pytest.mark.parametrize("name", ["model.onnx_data", "model.onnx.data", "model.data", "weights.bin"])
def test_weights_outside_of_the_model_file_belong_to_the_identity(tmp_path: Path, name: str) -> None:
    before = load(tmp_path / "a", weights_file=name)
    after = load(tmp_path / "b", weights_file=name, matrix={**MATRIX, "ships": (0.0, 1.0, 0.1)})
    assert (tmp_path / "a/model.onnx").read_bytes() == (tmp_path / "b/model.onnx").read_bytes()
    assert not np.array_equal(after.embed(["ships"]), before.embed(["ships"]))
    assert after.identity != before.identity


def test_another_tokenizer_has_another_identity(tmp_path: Path, embedder: OnnxEmbedder) -> None:
    file = tmp_path / "tokenizer.json"
    text = file.read_text()
    file.write_text(text.replace('"cats"', '"dogs"'))
    assert file.read_text() != text
    assert OnnxEmbedder.load(tmp_path, DIMENSIONS).identity != embedder.identity


def test_the_same_files_elsewhere_have_the_same_identity(tmp_path: Path) -> None:
    assert load(tmp_path / "a").identity == load(tmp_path / "b").identity


def test_at_most_so_many_texts_are_computed_at_the_same_time(tmp_path: Path) -> None:
    embedder = OnnxEmbedder.load(write_export(tmp_path), DIMENSIONS, threads=2)
    session, meeting = embedder._model._session, threading.Barrier(2, timeout=10)
    running: list[int] = []
    most: list[int] = []

    class Counting:
        def run(self, *arguments: object) -> Sequence[object]:
            running.append(1)
            meeting.wait()
            most.append(len(running))
            meeting.wait()
            running.pop()
            return session.run(*arguments)  # type: ignore[no-any-return]

    embedder._model._session = Counting()
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(embedder.embed, [["cats"]] * 6))
    assert max(most) == 2


def test_a_waiting_caller_gets_an_error_for_too_many_texts(embedder: OnnxEmbedder) -> None:
    texts = ["cats"] * MAX_INTERACTIVE_TOKENS
    with pytest.raises(EmbedderUnavailable):
        embedder.interactive().embed(texts)
    assert embedder.interactive().embed(texts[:100]).all()
    assert embedder.interactive().batch_size >= 1_000
    assert embedder.embed(texts).all()


def test_the_settings_choose_an_export(tmp_path: Path) -> None:
    files = {PROMPTS: {"prompts": {"query": "ask: "}}}
    config = EmbedderConfig("onnx", DIMENSIONS, model=str(write_export(tmp_path, files=files)))
    embedders: Embedders = ConfiguredEmbedders(config)
    default = embedders.default
    assert isinstance(default, OnnxEmbedder)
    assert embedders.of_identity(default.identity) is default
    assert embedders.of_identity("onnx/00/3") is None
    query, message = (each.embed(["cats"]) for each in (embedders.for_queries(default), embedders.interactive(default)))
    assert not np.allclose(query, message)
    assert ConfiguredEmbedders(EmbedderConfig()).of_identity(default.identity) is None


def test_without_the_extra_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(InvalidEmbedder, match=r"pip install 'memsidecar\[onnx\]'"):
        load(tmp_path)


def test_a_missing_directory_or_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidEmbedder, match=r"embedder_model .*absent is no directory"):
        OnnxEmbedder.load(tmp_path / "absent", DIMENSIONS)
    with pytest.raises(InvalidEmbedder, match=r"has no model.onnx"):
        OnnxEmbedder.load(tmp_path, DIMENSIONS)
    write_export(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    with pytest.raises(InvalidEmbedder, match=r"has no tokenizer.json"):
        OnnxEmbedder.load(tmp_path, DIMENSIONS)


def test_wrong_dimensions_are_refused_with_the_right_ones(tmp_path: Path) -> None:
    with pytest.raises(InvalidEmbedder, match="embedder_dimensions is 256: set it to 3"):
        OnnxEmbedder.load(write_export(tmp_path), 256)


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_named(tmp_path: Path, file: str) -> None:
    write_export(tmp_path)
    (tmp_path / file).write_text("damaged")
    with pytest.raises(InvalidEmbedder, match=file):
        OnnxEmbedder.load(tmp_path, DIMENSIONS)


DENSE = [{"type": "a.Transformer"}, {"type": "a.Pooling"}, {"path": "2_Dense", "type": "a.Dense"}]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"files": {POOLING: {"pooling_mode_weightedmean_tokens": True}}}, "pooling"),
        ({"files": {POOLING: {"pooling_mode_cls_token": True, "pooling_mode_max_tokens": True}}}, "pooling"),
        ({"files": {POOLING: {"pooling_mode": "median"}}}, "pooling"),
        ({"files": {POOLING: {"include_prompt": False}}}, "prompts"),
        ({"files": {POOLING: []}}, "no file of a sentence-transformers export"),
        ({"files": {LENGTH: {"max_seq_length": "long"}}}, "max_seq_length"),
        ({"files": {LENGTH: {"max_seq_length": True}}}, "max_seq_length"),
        ({"files": {LENGTH: {"max_seq_length": 10_000_000}}}, "max_seq_length"),
        ({"files": {"modules.json": ["Pooling"]}}, "modules.json"),
        ({"files": {"config_sentence_transformers.json": {"prompts": {"query": 5}}}}, "prompts.query"),
        ({"files": {"config_sentence_transformers.json": {"prompts": ["query"]}}}, "prompts"),
        ({"files": {"config_sentence_transformers.json": {"default_prompt_name": ["query"]}}}, "default_prompt_name"),
        ({"files": {"modules.json": DENSE}}, "Dense"),
        ({"inputs": ("input_ids", "pixel_values")}, "pixel_values"),
        ({"matrix": dict.fromkeys(MATRIX, (float("nan"),) * DIMENSIONS)}, "no vector"),
    ],
    ids=str,
)
def test_an_export_that_cannot_be_computed_is_refused(tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidEmbedder, match=problem):
        load(tmp_path, **changes)


def test_unreadable_configuration_is_named(tmp_path: Path) -> None:
    write_export(tmp_path)
    (tmp_path / PROMPTS).write_text("{")
    with pytest.raises(InvalidEmbedder, match=PROMPTS):
        OnnxEmbedder.load(tmp_path, DIMENSIONS)


def test_further_modules_may_be_inside_of_the_model(tmp_path: Path) -> None:
    embedder = load(tmp_path, output="sentence_embedding", files={"modules.json": DENSE})
    assert embedder.embed(["cats"]).any()


def test_a_text_that_the_model_rejects_gets_zeros_and_others_their_vectors(tmp_path: Path) -> None:
    rejected, accepted = list(MATRIX)[-1], next(iter(MATRIX))
    embedder = load(tmp_path, matrix={**MATRIX, rejected: (float("nan"),) * DIMENSIONS})
    first, second = embedder.embed([rejected, accepted])
    assert not first.any() and second.any()
