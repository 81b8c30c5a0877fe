"""Embedders: wrong settings are refused at start, and keyword search works while the embedder is unavailable."""

from pathlib import Path

import pytest

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.context_pb2 import DEGRADATION_EMBEDDER_UNAVAILABLE
from tests.scenarios.conversation import Conversation
from tests.scenarios.document_client import DocumentClient
from tests.scenarios.index_readiness import until_index_is_ready
from tests.scenarios.test_start import refused
from tests.support.process import SidecarProcess
from tests.support.tiny_onnx import DIMENSIONS, write_export

OPENAI = ("--embedder", "openai", "--embedder-model", "some-model", "--embedder-dimensions", "8")
WRONG_SETTINGS, CANNOT_START = 2, 1


@pytest.mark.parametrize(
    ("flags", "code", "words"),
    [
        (("--embedder", "openai"), WRONG_SETTINGS, ("embedder_url", "embedder_model", "is empty")),
        ((*OPENAI, "--embedder-url", "ftp://host/v1"), WRONG_SETTINGS, ("--embedder-url", "http://")),
        (("--embedder", "word2vec"), WRONG_SETTINGS, ("--embedder", "static, onnx, openai, client")),
        (("--embedder", "onnx"), WRONG_SETTINGS, ("embedder_model", "is empty", "directory")),
        (
            ("--embedder", "onnx", "--embedder-model", "/no/such/model"),
            CANNOT_START,
            ("embedder_model /no/such/model",),
        ),
        (("--embedder-dimensions", "0"), WRONG_SETTINGS, ("--embedder-dimensions", "from 1 up to 8192")),
        (("--embedder-dimensions", "100"), CANNOT_START, ("64, 128, 256 dimensions", "100")),
        (
            (*OPENAI, "--embedder-url", "http://127.0.0.1:1/v1", "--embedder-key-file", "/no/such/key"),
            CANNOT_START,
            ("embedder_key_file", "/no/such/key", "cannot be read"),
        ),
    ],
    ids=[
        "no address",
        "no such scheme",
        "no such embedder",
        "no directory",
        "no such directory",
        "no dimensions",
        "not the model's",
        "no key file",
    ],
)
def test_a_wrong_embedder_is_refused_at_start_by_name(
    data_dir: Path, flags: tuple[str, ...], code: int, words: tuple[str, ...]
) -> None:
    result = refused(data_dir, *flags)
    assert (result.returncode, result.stdout) == (code, "")
    assert [word for word in words if word not in result.stderr] == []
    assert "Traceback" not in result.stderr


def test_without_the_embedder_words_are_found_and_the_response_is_degraded(data_dir: Path) -> None:
    nowhere = (*OPENAI, "--embedder-url", "http://127.0.0.1:1/v1", "--index", "volatile")
    with SidecarProcess(data_dir, *nowhere) as sidecar, sidecar.client() as client:
        until_index_is_ready(sidecar)
        conversation = Conversation(client, "s")
        conversation.add("Our cat is called Zebulon.")
        assert conversation.find("zebulon", mode=pb.SEARCH_MODE_KEYWORD) == ["Our cat is called Zebulon."]
        answer = conversation.search("zebulon", mode=pb.SEARCH_MODE_HYBRID)
        assert [hit.message.content for hit in answer.hits] == ["Our cat is called Zebulon."]
        assert list(answer.degraded) == [DEGRADATION_EMBEDDER_UNAVAILABLE]
        document_client = DocumentClient(client)
        document_client.put("cats", "All about Zebulon.")
        documents = document_client.search_response("zebulon")
        assert [hit.chunk.document_id for hit in documents.hits] == ["cats"]
        assert list(documents.degraded) == [DEGRADATION_EMBEDDER_UNAVAILABLE]


def test_clients_may_send_all_vectors(data_dir: Path) -> None:
    flags = ("--embedder", "client", "--embedder-dimensions", "2", "--index", "volatile")
    with SidecarProcess(data_dir, *flags) as sidecar, sidecar.client() as client:
        until_index_is_ready(sidecar)
        conversation = Conversation(client, "s")
        conversation.add("north", vector=[1, 0])
        conversation.add("east", vector=[0, 1])
        by_vector = conversation.search("", mode=pb.SEARCH_MODE_SEMANTIC, query_vector=[0.1, 0.9])
        assert [hit.message.content for hit in by_vector.hits] == ["east", "north"]
        by_words = conversation.search("north", mode=pb.SEARCH_MODE_HYBRID)
        assert by_words.hits[0].message.content == "north"


def test_an_export_on_disk_finds_related_words(data_dir: Path, tmp_path: Path) -> None:
    folder = write_export(tmp_path / "export", files={"1_Pooling/config.json": {"pooling_mode": "max"}})
    flags = ("--embedder", "onnx", "--embedder-model", str(folder), "--embedder-dimensions", str(DIMENSIONS))
    with SidecarProcess(data_dir, *flags, "--index", "volatile") as sidecar, sidecar.client() as client:
        until_index_is_ready(sidecar)
        conversation = Conversation(client, "s")
        conversation.add("ships sail")
        conversation.add("cats purr")
        answer = conversation.search("cats", mode=pb.SEARCH_MODE_SEMANTIC)
        assert [hit.message.content for hit in answer.hits][:1] == ["cats purr"]
        assert not answer.degraded
