"""Any valid content is indexed without dead letters, and later messages are indexed as well."""

from collections.abc import Mapping
from pathlib import Path

from memsidecar.v1.message_pb2 import Message, Role, ToolCall
from tests.faults_index.acknowledged import FLAGS, AcknowledgedMessages
from tests.faults_index.index_files import IndexFiles
from tests.support.process import SidecarProcess

HOSTILE: Mapping[str, str] = {
    "NUL": "\0" * 1000 + "a\0b",
    "control signs": "".join(map(chr, range(1, 32))) * 50,
    "noncharacters": "\ufffe\uffff\U0010ffff\ufdd0" * 100,
    "one word of a mebibyte": "w" * ((1 << 20) - 1000),
    "a hundred thousand words": " ".join(f"word{at}" for at in range(100_000)),
    "emoji only": "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467" * 500,
    "joiners only": "\u200d\u200c\ufeff" * 500,
    "marks upon marks": "e" + "\u0301" * 50_000,
    "right to left": "\u202e\u05e9\u05dc\u05d5\u05dd " * 500,
    "a query": "' OR 1=1; DROP TABLE x; -- \" \\ % _ * ? + ( ) [ ] { }",
    "white space only": " \t\n\u3000\u2028" * 500,
    "digits": "9" * 5000,
    "no space between signs": "\u6f22\u5b57" * 20_000,
    "nothing but signs": "!?#" * 10_000,
}


def test_hostile_content_is_indexed(data_dir: Path) -> None:
    acknowledged = AcknowledgedMessages()
    with SidecarProcess(data_dir, *FLAGS) as sidecar, sidecar.client() as client:
        for kind, content in HOSTILE.items():
            sequence = client.add(kind.replace(" ", "-"), content, user_id=acknowledged.user_id).sequence
            acknowledged.contents[kind.replace(" ", "-"), sequence] = content
        calls = [ToolCall(id="1", name="x" * 64, arguments_json='{"a": "' + "z" * 100_000 + '"}')]
        sequence = client.add("calls", "", Role.ROLE_ASSISTANT, user_id=acknowledged.user_id, tool_calls=calls).sequence
        acknowledged.contents["calls", sequence] = ""
        acknowledged.add(client, "after", name="\ufffe\U0001f600", id="an-id")
        IndexFiles(data_dir).wait_until_complete(acknowledged.contents)
        assert (
            acknowledged.search(client, acknowledged.words["after", 1]).hits[0].message.content
            == acknowledged.contents["after", 1]
        )
        for query in HOSTILE.values():
            assert acknowledged.search(client, query[:60_000]) is not None
        assert sidecar.stop() == 0
        assert "Traceback" not in sidecar.log()
    IndexFiles(data_dir).check_final(acknowledged.contents)


def test_lone_surrogates_cannot_be_sent() -> None:
    """A string of the contract is UTF-8 and cannot represent them."""
    try:
        Message(content="\ud800")
    except (UnicodeEncodeError, ValueError):
        return
    raise AssertionError("a lone surrogate was accepted")
