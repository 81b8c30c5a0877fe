"""Whatever a caller may say, indexing takes it: nothing is set aside, and what follows is indexed as well."""

from collections.abc import Mapping
from pathlib import Path

from memsidecar.v1.message_pb2 import Message, Role, ToolCall
from tests.faults_index.acknowledged import FLAGS, Kept
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


def test_hostile_content_is_indexed_as_any_other(data_dir: Path) -> None:
    kept = Kept()
    with SidecarProcess(data_dir, *FLAGS) as sidecar, sidecar.client() as client:
        for kind, content in HOSTILE.items():
            sequence = client.add(kind.replace(" ", "-"), content, user_id=kept.user_id).sequence
            kept.said[kind.replace(" ", "-"), sequence] = content
        calls = [ToolCall(id="1", name="x" * 64, arguments_json='{"a": "' + "z" * 100_000 + '"}')]
        sequence = client.add("calls", "", Role.ROLE_ASSISTANT, user_id=kept.user_id, tool_calls=calls).sequence
        kept.said["calls", sequence] = ""
        kept.say(client, "after", name="\ufffe\U0001f600", id="an-id")
        IndexFiles(data_dir).wait_until_complete(kept.said)
        assert kept.search(client, kept.words["after", 1]).hits[0].message.content == kept.said["after", 1]
        for query in HOSTILE.values():
            assert kept.search(client, query[:60_000]) is not None
        assert sidecar.stop() == 0
        assert "Traceback" not in sidecar.log()
    IndexFiles(data_dir).check_settled(kept.said)


def test_lone_surrogates_do_not_get_through_the_wire() -> None:
    """A string of the contract is UTF-8: there is no way to say them."""
    try:
        Message(content="\ud800")
    except (UnicodeEncodeError, ValueError):
        return
    raise AssertionError("a lone surrogate was taken")
