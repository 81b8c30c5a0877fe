"""Each tool, used as a desktop agent would, against a running sidecar."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from mcp import MCPError

from memsidecar.mcp_server.tool import MAX_RESULT_BYTES
from tests.mcp.desktop import USER, Desktop, desktop
from tests.support.canaries import CANARY
from tests.support.process import Client, SidecarProcess

READING = {"build_context", "search_messages", "recent_messages", "list_facts", "search_documents"}
ERASING = {"forget_session", "forget_fact", "forget_document", "save_document"}
ADDING = {"add_messages", "remember_facts"}


@pytest.fixture(scope="module")
def desk(sidecar: SidecarProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desktop]:
    with desktop(tmp_path_factory.mktemp("desk"), "--address", sidecar.address, "--session-id", "monday") as one:
        yield one


def message(content: str, role: str = "user") -> dict[str, str]:
    return {"role": role, "content": f"{content} {CANARY}"}


def contents(messages: list[dict[str, Any]]) -> list[str]:
    return [message["content"].removesuffix(f" {CANARY}") for message in messages]


# -- descriptions for models


def test_tools_are_listed_with_their_annotations(desk: Desktop) -> None:
    assert set(desk.tools) == READING | ERASING | ADDING
    for name, tool in desk.tools.items():
        hints = tool.annotations
        assert hints is not None and tool.title
        assert (hints.read_only_hint, hints.destructive_hint) == (name in READING, name in ERASING)
        assert hints.idempotent_hint == (name != "add_messages")
        assert hints.open_world_hint is False


def test_schemas_are_valid_and_every_parameter_is_described(desk: Desktop) -> None:
    for tool in desk.tools.values():
        for schema in (tool.input_schema, tool.output_schema):
            assert schema is not None and schema["type"] == "object"
            jsonschema.Draft202012Validator.check_schema(schema)
            assert "$ref" not in str(schema) and "anyOf" not in str(schema)
        assert tool.input_schema["additionalProperties"] is False
        assert all(described(each) for each in tool.input_schema["properties"].values())


def described(schema: dict[str, Any]) -> bool:
    inner = schema.get("items", {}).get("properties", {})
    return bool(schema.get("description")) and all(map(described, inner.values()))


def test_no_tool_takes_a_namespace_or_a_user(desk: Desktop) -> None:
    assert not [
        tool.name for tool in desk.tools.values() if {"namespace", "user_id"} & {*tool.input_schema["properties"]}
    ]


def test_all_tools_together_cost_a_model_less_than_five_thousand_tokens(desk: Desktop) -> None:
    listed = [tool.model_dump_json(by_alias=True, exclude_none=True) for tool in desk.tools.values()]
    assert sum(map(len, listed)) < 20_000  # about four characters are a token


# -- two conversations


def test_messages_of_one_conversation_are_recalled_in_the_next(
    desk: Desktop, sidecar: SidecarProcess, tmp_path: Path
) -> None:
    added = desk.use(
        "add_messages", messages=[message("I moved to Lisbon."), message("How is the weather?", "assistant")]
    )
    assert added["session_id"] == "monday" and len(added["message_ids"]) == 2 and added["tokens"] > 0
    with desktop(tmp_path, "--address", sidecar.address) as next_day:
        context = next_day.use("build_context", query="Where do I live?")
        assert "I moved to Lisbon." in context["memory_text"]
        assert 0 < context["tokens"] <= 2_000
        assert {"episodic"} <= {section["name"] for section in context["sections"]}
        found = next_day.use("search_messages", query="Lisbon", limit=1)["messages"]
        assert (contents(found), found[0]["session_id"], found[0]["role"]) == (["I moved to Lisbon."], "monday", "user")
        assert next_day.use("add_messages", messages=[message("Good morning.")])["session_id"].startswith("mcp-")
        assert contents(next_day.use("recent_messages")["messages"])[-3:] == [
            "I moved to Lisbon.",
            "How is the weather?",
            "Good morning.",
        ]
        assert "session monday] I moved to Lisbon." in next_day.read("recent_messages", session_id="monday")


def test_a_context_shows_recent_messages_of_the_same_conversation(desk: Desktop) -> None:
    desk.use("add_messages", messages=[message("The parrot is called Otto.")], session_id="parrots")
    assert "called Otto" in desk.use("build_context", query="Who is Otto?", session_id="parrots")["memory_text"]


def test_a_context_stays_within_its_limit(desk: Desktop) -> None:
    desk.use("save_document", document_id="long", text=f"The tide tables of Setubal, {CANARY}. " * 2_000)
    few, many = (desk.use("build_context", query="tide tables", max_tokens=most) for most in (150, 4_000))
    assert few["tokens"] <= 150 < many["tokens"] <= 4_000
    desk.use("forget_document", document_id="long")


def test_a_search_may_be_filtered(desk: Desktop) -> None:
    desk.use(
        "add_messages", messages=[message("Rye bread, please."), message("Rye it is.", "assistant")], session_id="shop"
    )
    desk.use("add_messages", messages=[message("Rye grows high.")], session_id="field")
    in_shop = desk.use("search_messages", query="rye", session_id="shop")["messages"]
    assert {message["session_id"] for message in in_shop} == {"shop"}
    exact = desk.use("search_messages", query="e GROWS h", mode="substring")["messages"]
    assert contents(exact) == ["Rye grows high."]
    assert desk.use("search_messages", query="rye", before="2020-01-31")["messages"] == []
    assert len(desk.use("search_messages", query="rye", after="2020-01-31T10:00:00+02:00")["messages"]) == 3
    assert desk.read("search_messages", query="zeppelin", mode="keyword").startswith("Nothing was found.")


def test_a_conversation_is_forgotten_on_request(desk: Desktop) -> None:
    desk.use("add_messages", messages=[message("A secret.")], session_id="private")
    assert desk.use("forget_session", session_id="private") == {"messages": 1, "facts": 0}
    assert desk.use("recent_messages", session_id="private")["messages"] == []
    assert desk.refusal("forget_session", session_id="private").startswith("NOT_FOUND")


# -- facts and documents


def test_facts_are_remembered_corrected_listed_and_forgotten(desk: Desktop) -> None:
    editor = {"type": "preference", "key": "editor", "value": f"emacs {CANARY}"}
    [emacs] = desk.use("remember_facts", facts=[editor])["facts"]
    [vim] = desk.use("remember_facts", facts=[editor | {"value": f"vim {CANARY}", "pinned": True}])["facts"]
    assert vim["pinned"] and not vim["superseded"] and vim["learned_by"] == "client"
    assert [fact["value"] for fact in desk.use("list_facts", types=["preference"])["facts"]] == [vim["value"]]
    history = desk.use("list_facts", types=["preference"], include_history=True)["facts"]
    assert {fact["fact_id"]: fact["superseded"] for fact in history} == {emacs["fact_id"]: True, vim["fact_id"]: False}
    assert "editor: vim" in desk.use("build_context", query="anything")["memory_text"]
    desk.use("forget_fact", fact_id=vim["fact_id"])
    assert desk.read("list_facts", types=["preference"]) == "Nothing is known yet."


def test_a_document_is_saved_found_replaced_and_forgotten(desk: Desktop) -> None:
    document = {"document_id": "notes.md", "text": f"The router's name is heron {CANARY}.", "title": "Notes"}
    assert desk.use("save_document", **document)["unchanged"] is False
    assert desk.use("save_document", **document)["unchanged"] is True
    [chunk] = desk.use("search_documents", query="router name")["chunks"]
    assert (chunk["document_id"], chunk["chunk_index"]) == ("notes.md", 0) and "heron" in chunk["content"]
    desk.use("save_document", **document | {"text": f"The router's name is egret {CANARY}."})
    assert "egret" in desk.read("search_documents", query="router name")
    assert desk.use("forget_document", document_id="notes.md")["chunks"] == 1
    assert "Nothing was found." in desk.read("search_documents", query="router name")


# -- whose memory it is


def test_other_users_and_namespaces_are_not_accessible(desk: Desktop, client: Client) -> None:
    client.add("theirs", f"a walrus {CANARY}", user_id="bob")
    client.add("hers", f"a walrus {CANARY}", user_id=USER, namespace="elsewhere")
    assert desk.use("search_messages", query="walrus", mode="keyword")["messages"] == []
    for tool, arguments in {
        "recent_messages": {},
        "search_messages": {"query": "walrus"},
        "forget_session": {},
    }.items():
        assert desk.refusal(tool, session_id="theirs", **arguments).startswith("SESSION_OWNER_MISMATCH")
    refusal = desk.refusal("search_messages", query="walrus", namespace="elsewhere")
    assert "INVALID_FIELD" in refusal and "Argument: namespace" in refusal


# -- bad input

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("build_context", {}, "query"),
    ("build_context", {"query": "x", "max_tokens": 1}, "max_tokens"),
    ("add_messages", {"messages": []}, "messages"),
    ("add_messages", {"messages": "not a list"}, "messages"),
    ("add_messages", {"messages": [{"role": "robot", "content": CANARY}]}, "messages[0].role"),
    ("add_messages", {"messages": [message("fine"), {"role": "user", "content": ""}]}, "messages[1].content"),
    ("add_messages", {"messages": [message("fine")], "session_id": "line\nbreak"}, "session_id"),
    ("search_messages", {"query": CANARY, "limit": 21}, "limit"),
    ("search_messages", {"query": CANARY, "mode": "magic"}, "mode"),
    ("search_messages", {"query": CANARY, "after": "yesterday"}, "after"),
    ("recent_messages", {"limit": 0}, "limit"),
    ("remember_facts", {"facts": [{"type": "secret", "key": "k", "value": CANARY}]}, "facts[0].type"),
    ("remember_facts", {"facts": [{"type": "domain", "key": " \t", "value": CANARY}]}, "facts[0].key"),
    ("save_document", {"document_id": "d", "text": "  "}, "text"),
    ("forget_fact", {"fact_id": ""}, "fact_id"),
]


@pytest.mark.parametrize(("tool", "arguments", "field"), BAD)
def test_bad_input_is_rejected_with_the_argument_and_advice(
    desk: Desktop, tool: str, arguments: dict[str, Any], field: str
) -> None:
    refusal = desk.refusal(tool, **arguments)
    assert refusal.startswith("INVALID_FIELD: ")
    assert f"\nArgument: {field}\nWhat to do: Correct this argument" in refusal
    assert CANARY not in refusal


def test_a_list_may_be_given_as_json_text(desk: Desktop) -> None:
    messages = f'[{{"role": "user", "content": "As text. {CANARY}"}}]'
    desk.use("add_messages", messages=messages, session_id="as-text")
    assert contents(desk.use("recent_messages", session_id="as-text")["messages"]) == ["As text."]


def test_a_message_that_is_too_large_is_refused_and_the_next_one_is_not(desk: Desktop) -> None:
    refusal = desk.refusal("add_messages", messages=[message("x" * (1 << 20))])
    assert refusal.startswith("TOO_LARGE") and "What to do: Send less" in refusal
    desk.use("add_messages", messages=[message("A small one.")])


def test_an_unknown_tool_is_an_error_of_the_protocol(desk: Desktop) -> None:
    with pytest.raises(MCPError, match="there is no tool 'erase_everything'"):
        desk.call("erase_everything", {})


# -- size, script, number


def test_results_are_short_however_long_the_memories_are(desk: Desktop) -> None:
    long = [message("baobab " * 20_000), *(message(f"baobab {number} " + "leaf " * 700) for number in range(19))]
    desk.use("add_messages", messages=long, session_id="forest")
    facts = [{"type": "interest", "key": "tree", "value": f"{number} {'b' * 9_000}"} for number in range(50)]
    for tool, arguments in (
        ("search_messages", {"query": "baobab", "limit": 20}),
        ("recent_messages", {"session_id": "forest", "limit": 50}),
        ("remember_facts", {"facts": facts}),
        ("list_facts", {}),
    ):
        result = desk.call(tool, arguments)
        assert desk.checked(tool, result)["more"] is True
        assert len(str(result.structured_content)) < 2 * MAX_RESULT_BYTES
    assert "more characters]" in desk.read("list_facts")


@pytest.mark.parametrize(
    "text", ["Žluťoučký kůň", "東京で猫と暮らす", "سلام دنیا", '👩‍👩‍👧 e\u0301 \u2028 \x00 \\ "', "<|endoftext|>"]
)
def test_text_of_every_script_is_returned_unchanged(desk: Desktop, text: str) -> None:
    session_id = f"script {ord(text[0])} 🗝"
    desk.use("add_messages", messages=[message(text)], session_id=session_id)
    assert contents(desk.use("recent_messages", session_id=session_id)["messages"]) == [text]
    assert contents(desk.use("search_messages", query=text, mode="substring")["messages"]) == [text]


def test_concurrent_calls_do_not_affect_each_other(desk: Desktop) -> None:
    desk.use_at_once(
        [
            ("add_messages", {"messages": [message(f"number {at}")], "session_id": f"concurrent {at % 3}"})
            for at in range(30)
        ]
    )
    calls = [("recent_messages", {"session_id": f"concurrent {at}", "limit": 50}) for at in range(3)]
    together = [content for answer in desk.use_at_once(calls) for content in contents(answer["messages"])]
    assert sorted(together) == sorted(f"number {at}" for at in range(30))
