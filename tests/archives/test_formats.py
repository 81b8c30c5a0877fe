"""Files of other systems: what each sample becomes, the detection of formats, and problems with their lines."""

import gzip
import json
import re
from collections.abc import Callable
from contextlib import suppress
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any, BinaryIO, cast
from zipfile import ZipFile

import pytest
from google.protobuf.json_format import ParseDict

from memsidecar.api.archive_record import VERSIONS
from memsidecar.cli.archive_file import FileProblem, open_input
from memsidecar.cli.archive_source import FORMATS, NEWEST_VERSION, ArchiveSource
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_SYSTEM, ROLE_TOOL, ROLE_USER, Message
from memsidecar.v1.session_pb2 import ArchiveRecord

ARCHIVE = '{"userId": "ann", "sessionId": "s", "message": {"id": "m", "role": "ROLE_USER", "content": "Hi"}}'
MESSAGE = '{"role": "user", "content": "Hi"}'
CHAT = f'{{"messages": [{MESSAGE}]}}'
SAMPLES = Path(__file__).parent / "samples"
SAMPLE_FORMATS = {
    "openai.json": "openai",
    "anthropic.json": "anthropic",
    "langchain.json": "langchain",
    "conversations.json": "chatgpt",
    "plain.jsonl": "jsonl",
}


def read(name: str, file_format: str = "auto", **fields: str) -> list[ArchiveRecord]:
    path = SAMPLES / name
    with open_input(str(path)) as file:
        return [record for _, record in ArchiveSource(str(path), file_format, **fields).records(file)]


def read_text(text: str | bytes, file_format: str = "auto") -> list[tuple[int, ArchiveRecord]]:
    content = text.encode() if isinstance(text, str) else text
    return list(ArchiveSource("chat.json", file_format).records(cast(BinaryIO, BufferedReader(BytesIO(content)))))


def spoken(records: list[ArchiveRecord]) -> list[tuple[int, str]]:
    return [(record.message.role, record.message.content) for record in records]


def client_cases() -> list[tuple[str, dict[str, Any]]]:
    """Return the cases of the clients' conversions that give messages."""
    table = json.loads((Path(__file__).parents[2] / "clients" / "scenarios" / "conversion.json").read_text())
    names = ("openai", "anthropic")
    return [(name, case) for name in names for case in table[f"messages_from_{name}"] if case.get("expected")]


def comparable(messages: list[Message]) -> list[Message]:
    """Return the messages with their arguments in one form, if they are JSON."""
    for call in (call for message in messages for call in message.tool_calls):
        with suppress(ValueError):
            call.arguments_json = json.dumps(json.loads(call.arguments_json))
    return messages


@pytest.mark.parametrize(("name", "file_format"), SAMPLE_FORMATS.items())
def test_a_format_is_detected(name: str, file_format: str) -> None:
    assert read(name) == read(name, file_format) != []


@pytest.mark.parametrize("name", SAMPLE_FORMATS)
def test_ids_are_the_same_each_time_and_different_in_a_session(name: str) -> None:
    first, second = read(name), read(name)
    assert first == second
    ids = [(record.session_id, record.message.id) for record in first]
    assert len(set(ids)) == len(ids) and all(message_id for _, message_id in ids)


def test_openai_chats_keep_parts_tool_calls_and_results() -> None:
    records = read("openai.json")
    assert spoken(records) == [
        (ROLE_SYSTEM, "You are a travel agent."),
        (ROLE_USER, "What is the weather in Oslo?\n[image_url]"),
        (ROLE_ASSISTANT, ""),
        (ROLE_TOOL, "4 degrees, rain"),
        (ROLE_TOOL, "12:00"),
        (ROLE_ASSISTANT, "It is 4 degrees and raining at noon."),
        (ROLE_USER, "Thanks."),
        (ROLE_USER, "Thanks."),
    ]
    call = records[2].message.tool_calls[0]
    assert (call.id, call.name, call.arguments_json) == ("call_1", "get_weather", '{"city": "Oslo"}')
    assert [record.message.tool_call_id for record in records[3:5]] == ["call_1", "call_2"]
    assert {record.session_id for record in records} == {"openai"}


def test_anthropic_messages_keep_thoughts_and_split_tool_results() -> None:
    records = read("anthropic.json", user_id="ann", session_id="trip")
    assert spoken(records) == [
        (ROLE_SYSTEM, "You are a travel agent."),
        (ROLE_USER, "What is the weather in Oslo?"),
        (ROLE_ASSISTANT, "Let me look."),
        (ROLE_TOOL, "4 degrees, rain"),
        (ROLE_USER, "And what should I wear?"),
        (ROLE_ASSISTANT, "A raincoat."),
    ]
    assert records[2].message.reasoning == "The tool knows."
    assert json.loads(records[2].message.tool_calls[0].arguments_json) == {"city": "Oslo"}
    assert records[3].message.tool_call_id == records[2].message.tool_calls[0].id == "toolu_01"
    assert {(record.user_id, record.session_id) for record in records} == {("ann", "trip")}


def test_langchain_messages_of_both_encodings_are_read() -> None:
    records = read("langchain.json")
    assert spoken(records) == [
        (ROLE_SYSTEM, "You are a travel agent."),
        (ROLE_USER, "What is the weather in Oslo?"),
        (ROLE_ASSISTANT, ""),
        (ROLE_TOOL, "4 degrees, rain"),
        (ROLE_ASSISTANT, "Take a raincoat."),
    ]
    assert records[1].message.id == "0fe6a7d5-a6fc-44b4-99f7-dccc537de149"
    assert records[3].message.tool_call_id == records[2].message.tool_calls[0].id == "call_1"


def test_a_chatgpt_export_follows_the_current_branch() -> None:
    records = read("conversations.json", user_id="ann")
    assert [(record.session_id, *said) for record, said in zip(records, spoken(records), strict=True)] == [
        ("8f3a2b1c-0001", ROLE_USER, "[image_asset_pointer]\nWhat is the weather in Oslo?"),
        ("8f3a2b1c-0001", ROLE_ASSISTANT, ""),
        ("8f3a2b1c-0001", ROLE_TOOL, "4 degrees, rain"),
        ("8f3a2b1c-0001", ROLE_ASSISTANT, "It is 4 degrees and raining."),
        ("8f3a2b1c-0002", ROLE_USER, "Hello"),
    ]
    question, call, result, answer, _ = [record.message for record in records]
    assert question.create_time.ToMicroseconds() == 1736209412_345_000
    assert (call.tool_calls[0].name, call.tool_calls[0].arguments_json) == ("browser", 'search("weather Oslo")')
    assert (result.name, result.tool_call_id) == ("browser", call.tool_calls[0].id)
    assert dict(answer.metadata.items()) == {"title": "Trip to Oslo", "model": "gpt-4o"}


def chatgpt(*messages: dict[str, Any], **fields: Any) -> str:
    """Return a conversation of these messages, one after the other."""
    nodes = {
        str(at): {"message": message, "parent": str(at - 1), "children": [str(at + 1)]}
        for at, message in enumerate(messages)
    }
    return json.dumps([{"mapping": nodes, "current_node": str(len(messages) - 1), **fields}])


def chatgpt_message(role: str, text: str, **fields: Any) -> dict[str, Any]:
    return {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}, **fields}


def test_an_empty_result_of_a_chatgpt_tool_stays_with_its_call() -> None:
    call = chatgpt_message("assistant", "x = 1", recipient="python", id="c")
    found = [record for _, record in read_text(chatgpt(call, chatgpt_message("tool", ""), chatgpt_message("user", "")))]
    assert spoken(found) == [(ROLE_ASSISTANT, ""), (ROLE_TOOL, "[empty]")]
    assert found[1].message.tool_call_id == "c"


def test_a_chatgpt_message_without_a_time_has_that_of_the_one_before() -> None:
    messages = [chatgpt_message("user", "a", create_time=time) for time in (None, 1_700_000_009, None)]
    found = read_text(chatgpt(*messages, create_time=1_700_000_000.5))
    assert [record.message.create_time.ToMilliseconds() for _, record in found] == [
        1_700_000_000_500,
        1_700_000_009_000,
        1_700_000_009_000,
    ]


def test_plain_lines_keep_sessions_users_times_and_metadata() -> None:
    records = read("plain.jsonl")
    assert [(record.session_id, record.user_id) for record in records] == [("a", "ann")] * 3 + [("b", "")]
    first, second, _, own = [record.message for record in records]
    assert first.create_time.ToJsonString() == "2026-01-31T12:00:00Z" and first.metadata["page"] == 1
    assert second.create_time.ToMicroseconds() == 1769860801_500_000
    assert own.id == "own-id"


def test_ids_that_are_numbers_keep_people_apart() -> None:
    lines = (json.dumps({"role": "user", "content": "Hi", "session_id": at, "user_id": at, "id": at}) for at in (0, 1))
    found = [record for _, record in read_text("\n".join(lines))]
    assert [(record.session_id, record.user_id, record.message.id) for record in found] == [("0",) * 3, ("1",) * 3]


def test_names_of_fields_may_be_in_camel_case() -> None:
    line = {"role": "user", "content": "Hi", "sessionId": "s", "userId": "u", "messageId": "m", "createdAt": 7}
    ((_, record),) = read_text(json.dumps(line))
    assert (record.session_id, record.user_id, record.message.id) == ("s", "u", "m")
    assert record.message.create_time.seconds == 7


@pytest.mark.parametrize("field", ["session_id", "userId", "id"])
@pytest.mark.parametrize("value", ["true", "[1]", '{"id": 1}', "NaN"])
def test_an_id_of_another_type_is_a_problem(field: str, value: str) -> None:
    with pytest.raises(FileProblem, match=f"line 1: the field {field} is neither a text nor a number"):
        read_text(f'{{"role": "user", "content": "Hi", "{field}": {value}}}')


def test_lines_of_conversations_are_sessions_of_their_own() -> None:
    line = json.dumps({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]})
    found = read_text(f"{line}\n{line}\n")
    assert [(number, record.session_id) for number, record in found] == [
        (1, "chat"),
        (1, "chat"),
        (2, "chat-2"),
        (2, "chat-2"),
    ]


@pytest.mark.parametrize(("file_format", "case"), client_cases(), ids=lambda value: str(value)[:60])
def test_messages_become_what_the_clients_make_of_them(file_format: str, case: dict[str, Any]) -> None:
    chat = {"messages": case["messages"], **({"system": case["system"]} if case.get("system") else {})}
    found = [record.message for _, record in read_text(json.dumps(chat), file_format)]
    for message in found:
        message.ClearField("id")
    assert comparable(found) == comparable([ParseDict(message, Message()) for message in case["expected"]])


def test_an_invalid_tool_call_of_langchain_keeps_its_result() -> None:
    invalid = {"name": None, "args": "{bad", "id": "t9", "error": "no JSON"}
    chat = [
        {"type": "ai", "data": {"content": "", "tool_calls": [], "invalid_tool_calls": [invalid]}},
        {"type": "tool", "data": {"content": "Try again.", "tool_call_id": "t9", "status": "error"}},
    ]
    call, result = [record.message for _, record in read_text(json.dumps(chat))]
    assert call.tool_calls[0].arguments_json == "{bad"
    assert call.tool_calls[0].id == result.tool_call_id == "t9"
    assert result.metadata["is_error"]


@pytest.mark.parametrize(
    ("role", "expected"), [("moderator", ROLE_USER), ("assistant", ROLE_ASSISTANT), ("System", ROLE_SYSTEM)]
)
def test_a_chat_message_of_langchain_has_the_nearest_role(role: str, expected: int) -> None:
    dumped = {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "ChatMessage"],
        "kwargs": {"content": "a", "role": role},
    }
    chat = [{"type": "chat", "data": {"content": "a", "role": role}}, dumped]
    for _, record in read_text(json.dumps(chat)):
        assert (record.message.role, record.message.name, record.message.content) == (expected, role, "a")


def test_an_instruction_to_remove_a_message_is_no_message() -> None:
    chat = [
        {"type": "human", "data": {"content": "a", "id": "h"}},
        {"type": "remove", "data": {"content": "", "id": "h"}},
    ]
    assert spoken([record for _, record in read_text(json.dumps(chat))]) == [(ROLE_USER, "a")]


def test_thoughts_of_langchain_are_the_reasoning() -> None:
    parts = [{"type": "thinking", "thinking": "hm"}, "It rains.", {"type": "tool_use", "id": "t"}]
    ((_, record),) = read_text(json.dumps([{"type": "ai", "data": {"content": parts}}]))
    assert (record.message.reasoning, record.message.content) == ("hm", "It rains.")


def test_older_function_calls_are_read() -> None:
    chat = [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "done"},
    ]
    call, result = [record.message for _, record in read_text(json.dumps(chat), "openai")]
    assert call.tool_calls[0].id == result.tool_call_id == "f"


@pytest.mark.parametrize(
    ("text", "file_format", "problem"),
    [
        ('{"role": "user", "content": "a"}\n{"role": "user"', "auto", "line 2: is not JSON"),
        ('{"role": "wizard", "content": "a"}', "auto", "line 1: the role 'wizard' is not known"),
        ('{"role": "user", "content": 7}', "auto", "line 1: a content is neither a text nor a list"),
        ('{"role": "user", "content": "a", "timestamp": "soon"}', "auto", "line 1: a time is neither"),
        ('{"role": "user", "content": "a", "metadata": [1]}', "auto", "line 1: metadata is not an object"),
        ('[{"mapping": 3}]', "auto", "chat.json, conversation 1: mapping is not an object"),
        ("\n[\n\n1,\n]", "auto", "chat.json, line 5: is not JSON"),
        ("7", "auto", "chat.json: is JSON, but neither an object nor a list"),
        ('"Hi"', "auto", "chat.json: is JSON, but neither an object nor a list"),
        ("null", "auto", "chat.json: is JSON, but neither an object nor a list"),
        ("[7]", "auto", "chat.json: the format is not recognised"),
        ('{"color": "red"}', "auto", "chat.json: the format is not recognised: the first object has color; give"),
        ('{"messages": 3}', "openai", "line 1: messages is not a list"),
        ('{"messages": [3]}', "openai", "line 1, message 1: a message is not an object"),
        ('{"messages": [{"role": "user", "content": "\\ud800"}]}', "auto", "line 1, message 1: has a text that is not"),
        (
            '[{"role": "user", "content": "a"}, {"content": "b"}]',
            "auto",
            "json, message 2: has no role, but content",
        ),
        ('[{"type": "ai", "data": {}}, {"type": "ai"}]', "auto", "chat.json, message 2: has no data, but type"),
        (
            '[{"id": "x", "messages": []}, {"id": "y"}]',
            "auto",
            "conversation 2 (y): has no messages, but id",
        ),
        (chatgpt(chatgpt_message("elf", "a")), "auto", "chat.json, conversation 1, message 1: the role 'elf'"),
        (
            chatgpt(chatgpt_message("elf", "a", id="m"), title="T"),
            "auto",
            "conversation 1 (T), message m: the role",
        ),
        (ARCHIVE, "openai", "line 1: has no messages, but userId, sessionId, message"),
        (ARCHIVE, "anthropic", "line 1: has no messages, but userId"),
        (ARCHIVE, "langchain", "line 1: has no messages, but userId"),
        (ARCHIVE, "chatgpt", "line 1: has no mapping, but userId"),
        (ARCHIVE, "jsonl", "line 1: has no role, but userId"),
        (f"{CHAT}\n{MESSAGE}", "auto", "line 2: has no messages, but role, content"),
        (f"{MESSAGE}\n{CHAT}", "auto", "line 2: has no role, but messages"),
        (f'{CHAT}\n{{"color": 1}}\n{CHAT}', "auto", "line 2: has no messages, but color"),
        ("", "auto", "chat.json: has no messages; an archive without records needs --format memsidecar"),
        ("\n \n", "jsonl", "chat.json: has no messages"),
        ("[]", "openai", "chat.json: has no messages"),
        ('{"messages": []}', "openai", "chat.json: has no messages"),
        ('{"session": {}, "version": 1}\n{"session": {"color": 1}}', "auto", "line 2: is no record of an archive"),
        ('[{"session": {}}]', "auto", "one record in each line"),
        ('{"color": {}, "version": 2}', "auto", "line 1: is a record of version 2; the newest known version is 1"),
        ('{"session": {"color": 1}, "version": 2}', "auto", "line 1: is a record of version 2; the newest known"),
        (b'{"role": "user", "content": "\xff"}', "auto", "line 1: is not UTF-8"),
        ("{}", "yaml", "the format 'yaml' is not known: auto, memsidecar"),
    ],
)
def test_a_problem_is_named_with_its_line(text: str | bytes, file_format: str, problem: str) -> None:
    with pytest.raises(FileProblem, match=re.escape(problem)):
        read_text(text, file_format)


def test_the_newest_version_is_that_of_the_server() -> None:
    assert max(VERSIONS) == NEWEST_VERSION


def test_an_archive_may_be_empty() -> None:
    assert read_text("", "memsidecar") == read_text("\n \n", "memsidecar") == []


@pytest.mark.parametrize("separator", ["\n", ",\n"])
def test_messages_in_lines_and_in_a_list_may_name_their_sessions(separator: str) -> None:
    blocks = [{"type": "tool_use", "id": "t", "name": "now"}]
    messages = [
        {"role": "assistant", "content": blocks, "session_id": "a"},
        {"role": "user", "content": "Hi", "session_id": "b", "id": "m"},
        {"role": "user", "content": "Hi"},
        {"role": "user", "content": "Hi"},
    ]
    text = separator.join(map(json.dumps, messages))
    found = [record for _, record in read_text(text if separator == "\n" else f"[{text}]")]
    assert [record.session_id for record in found] == ["a", "b", "chat", "chat"]
    assert found[2].message.id != found[3].message.id and found[0].message.tool_calls[0].name == "now"


def test_messages_of_langchain_in_lines_are_one_session() -> None:
    found = read_text("\n".join(json.dumps({"type": kind, "data": {"content": kind}}) for kind in ("human", "ai")))
    assert [(number, record.session_id, record.message.content) for number, record in found] == [
        (1, "chat", "human"),
        (2, "chat", "ai"),
    ]


def test_lines_of_lists_are_conversations() -> None:
    found = read_text(f"[{MESSAGE}]\n[{MESSAGE}, {MESSAGE}]\n")
    assert [(number, record.session_id) for number, record in found] == [(1, "chat"), (2, "chat-2"), (2, "chat-2")]


def test_a_truncated_compressed_file_gives_its_whole_lines_and_a_problem(tmp_path: Path) -> None:
    lines = "".join(f'{{"role": "user", "content": "message {at}"}}\n' for at in range(20_000))
    path = tmp_path / "chat.jsonl.gz"
    path.write_bytes(gzip.compress(lines.encode())[:-2_000])
    seen: list[Message] = []

    def read_all() -> None:
        with open_input(str(path)) as file:
            for _, record in ArchiveSource(str(path)).records(file):
                seen.append(record.message)

    with pytest.raises(FileProblem, match=r"after line \d+: it is truncated"):
        read_all()
    assert seen[0].content == "message 0"


@pytest.mark.parametrize("wrap", [bytes, gzip.compress])
def test_a_zip_archive_is_named(tmp_path: Path, wrap: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "export.zip"
    with ZipFile(path, "w") as archive:
        archive.write(SAMPLES / "conversations.json", "conversations.json")
    path.write_bytes(wrap(path.read_bytes()))
    with (
        open_input(str(path)) as file,
        pytest.raises(FileProblem, match="zip archive: unpack it, and import"),
    ):
        next(ArchiveSource(str(path)).records(file))


def test_every_format_is_tested() -> None:
    assert {"auto", "memsidecar", *SAMPLE_FORMATS.values()} == set(FORMATS)
