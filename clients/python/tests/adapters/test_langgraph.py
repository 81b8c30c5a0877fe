"""The store of LangGraph: side by side with its own InMemoryStore, and inside of a graph.

No package of LangGraph has tests that a store could be given to: those of langgraph-checkpoint-conformance are for
checkpointers. So its own store says what is right.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from operator import add
from typing import Annotated, Any, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from langgraph.store.memory import InMemoryStore

from adapters.shapes import jsons, many, texts
from memsidecar_client import Client, new_id
from memsidecar_client.adapters.langchain import MemsidecarChatMessageHistory
from memsidecar_client.adapters.langgraph import MemsidecarStore


@pytest.fixture
def store(client: Client) -> MemsidecarStore:
    return fresh(client)


def fresh(client: Client, **options: Any) -> MemsidecarStore:
    return MemsidecarStore(client, namespace=f"store-{new_id()}", **options)


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add]


def remember(state: State, config: RunnableConfig, *, store: BaseStore) -> dict[str, Any]:
    """A node that stores its input and answers with what it finds."""
    namespace = ("memories", config["configurable"]["user"])
    said = str(state["messages"][-1].content)
    if not said.endswith("?"):
        store.put(namespace, new_id(), {"text": said})
        return {"messages": [AIMessage("Noted.")]}
    found = store.search(namespace, query=said, limit=1)
    return {"messages": [AIMessage(found[0].value["text"])]}


QUESTION = "Which of these stations should I look at?"
LOOP = [f"station {at} " + "word " * 388 for at in range(13)]
LOG = ["\n".join(f"line {at} of the log says that all is well" for at in range(2_000))]


@pytest.mark.parametrize("max_tokens", [400, 2_000, 8_000, 32_000])
@pytest.mark.parametrize("results", [LOOP, LOG], ids=["loop", "large"])
def test_a_graph_with_large_results_answers_now_and_later(client: Client, results: list[str], max_tokens: int) -> None:
    """The graph's own tool node runs the tools; the node of the model sees the context of the history."""
    history = MemsidecarChatMessageHistory(new_id(), client, user_id=new_id())
    calls: list[Any] = [
        {"id": f"call_{number}", "name": "station", "args": {"number": number}, "type": "tool_call"}
        for number in range(len(results))
    ]
    answers = [*(AIMessage("", tool_calls=[call]) for call in calls), AIMessage("The last one."), AIMessage("Because.")]
    prompts: list[list[BaseMessage]] = []

    @tool
    def station(number: int) -> str:
        """The data of a station."""
        return results[number]

    def model(state: MessagesState) -> dict[str, Any]:
        # A message has its id in the state, so it is stored once.
        history.add_messages(state["messages"])
        question = next(message.text for message in reversed(state["messages"]) if isinstance(message, HumanMessage))
        prompts.append(history.context(question, max_tokens=max_tokens))
        return {"messages": [answers.pop(0)]}

    builder = StateGraph(MessagesState)
    builder.add_node("model", model)
    builder.add_node("tools", ToolNode([station]))
    builder.add_edge(START, "model")
    builder.add_conditional_edges("model", tools_condition)
    builder.add_edge("tools", "model")
    graph: Any = builder.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}, "recursion_limit": 50}
    for question, answer in ((QUESTION, "The last one."), ("Why that one?", "Because.")):
        told = graph.invoke({"messages": [HumanMessage(question)]}, config)
        assert told["messages"][-1].text == answer
    assert prompts[-1][-1].text == "Why that one?"
    for prompt in prompts[:-1]:
        assert [message.text for message in prompt if isinstance(message, HumanMessage)] == [QUESTION]
    for prompt in prompts:
        assert sum(len(message.text.split()) for message in prompt) <= max_tokens


def test_a_large_item_is_stored_whole_and_found(store: MemsidecarStore) -> None:
    store.put(("logs", "ana"), "log", {"text": LOG[0]})
    store.put(("logs", "ana"), "cat", {"text": "The cat is called Tom."})
    found = store.search(("logs", "ana"), query="What does line 1234 of the log say?", limit=1)
    assert [item.value for item in found] == [{"text": LOG[0]}]
    assert found[0].score is not None


def test_a_graph_remembers_from_one_thread_to_the_next(store: MemsidecarStore) -> None:
    builder = StateGraph(State)
    builder.add_node("remember", remember)
    builder.add_edge(START, "remember")
    builder.add_edge("remember", END)
    graph: Any = builder.compile(store=store)
    for user, said in (("ana", "I live in Lisbon."), ("ana", "My cat is called Tom."), ("bob", "I live in Porto.")):
        graph.invoke({"messages": [HumanMessage(said)]}, {"configurable": {"user": user}})
    asked = {"messages": [HumanMessage("Where do I live?")]}
    answers = [graph.invoke(asked, {"configurable": {"user": user}})["messages"][-1] for user in ("ana", "bob")]
    assert [answer.content for answer in answers] == ["I live in Lisbon.", "I live in Porto."]


async def test_the_asynchronous_methods(store: MemsidecarStore) -> None:
    await store.aput(("a",), "k", {"text": "hello"})
    found = await store.aget(("a",), "k")
    assert found is not None
    assert found.value == {"text": "hello"}
    assert [item.key for item in await store.asearch(("a",))] == ["k"]
    assert await store.alist_namespaces() == [("a",)]
    await store.adelete(("a",), "k")
    assert await store.aget(("a",), "k") is None


def test_an_update_keeps_the_creation_time(store: MemsidecarStore) -> None:
    before = datetime.now(UTC)
    store.put(("a", "b"), "k", {"n": 1})
    first = store.get(("a", "b"), "k")
    store.put(("a", "b"), "k", {"n": 2})
    second = store.get(("a", "b"), "k")
    assert first is not None
    assert second is not None
    assert before <= first.created_at == second.created_at == first.updated_at < second.updated_at
    assert second.namespace == ("a", "b")
    assert second.key == "k"
    assert second.value == {"n": 2}


def test_deleted_items_are_erased(client: Client) -> None:
    store = fresh(client)
    store.put(("a",), "small", {"text": "about Lisbon"})
    store.put(("a",), "large", {"text": "about Porto " * 9_000})
    store.put(("a",), "large", {"text": "about Faro " * 9_000})
    for key in ("small", "large", "never there"):
        store.delete(("a",), key)
    assert store.search(("a",), query="Lisbon") == []
    assert store.list_namespaces() == []
    place: Any = {"namespace": store._namespace, "session_id": "a"}
    assert not list(client.iter_documents(**place))
    assert not list(client.iter_artifacts(**place))


def test_replacing_a_large_value_deletes_its_attachments(client: Client) -> None:
    store = fresh(client)
    store.put(("a",), "k", {"text": "x" * 100_000})
    store.put(("a",), "k", {"text": "y"})
    assert not list(client.iter_artifacts(namespace=store._namespace, session_id="a"))


def test_search_hits_come_before_other_items(store: MemsidecarStore) -> None:
    for at in range(24):
        store.put(("notes",), f"rain-{at}", {"text": f"Rain in the city of number {at}."})
    store.put(("notes",), "cat", {"text": "The cat is called Tom."})
    store.put(("notes",), "dog", {"text": "The dog barks."}, index=False)
    found = store.search(("notes",), query="What is the cat called?", limit=30)
    assert found[0].key == "cat"
    scores = [item.score for item in found if item.score is not None]
    assert scores == sorted(scores, reverse=True)
    assert 0 < len(scores) <= 20
    assert len(found) == 26
    assert all(item.score is None for item in found[len(scores) :])
    assert next(item for item in found if item.key == "dog").score is None


def test_only_the_fields_of_the_index_are_searched(store: MemsidecarStore) -> None:
    for key, shown, hidden in (("1", "Lisbon", "Porto"), ("2", "Porto", "Lisbon")):
        store.put(("a",), key, {"shown": {"text": shown}, "hidden": hidden}, index=["shown.text"])
    assert [store.search(("a",), query=city)[0].key for city in ("Lisbon", "Porto")] == ["1", "2"]


def test_items_expire(client: Client) -> None:
    store = fresh(client, ttl={"default_ttl": 0.02, "refresh_on_read": False})
    store.put(("a",), "short", {"text": "short"}, ttl=60)
    store.put(("a",), "long", {"text": "long"}, ttl=60)
    store.put(("a",), "ever", {"text": "ever"}, ttl=None)
    assert len(store.search(("a",))) == 3
    begin = time.monotonic()
    store.put(("a",), "short", {"text": "short"})
    wait_until_gone(lambda: store.get(("a",), "short") is None, most_seconds=1.3)
    assert time.monotonic() - begin >= 1.2
    assert {item.key for item in store.search(("a",))} == {"long", "ever"}
    assert store.sweep_ttl() == 1
    assert store.sweep_ttl() == 0
    assert len(list(client.iter_documents(namespace=store._namespace, session_id="a"))) == 2


def wait_until_gone(is_gone: Callable[[], bool], most_seconds: float) -> None:
    """A read after this time must not find it."""
    end = time.monotonic() + most_seconds
    looked_at = time.monotonic()
    while not is_gone():
        assert looked_at < end, f"it is still there after {most_seconds} seconds"
        time.sleep(0.05)
        looked_at = time.monotonic()


def test_a_read_extends_the_ttl_of_an_item(client: Client) -> None:
    store = fresh(client, ttl={"default_ttl": 60, "refresh_on_read": True})
    store.put(("a",), "k", {"text": "x"})
    for _ in range(3):
        before = datetime.now(UTC)
        assert expiry(client, store) < before + timedelta(minutes=60)
        assert store.get(("a",), "k") is not None
        assert expiry(client, store) >= before + timedelta(minutes=60)
    last = expiry(client, store)
    assert store.search(("a",), refresh_ttl=False)
    assert expiry(client, store) == last
    begin = time.monotonic()
    store.put(("a",), "k", {"text": "x"}, ttl=0.03)
    wait_until_gone(lambda: store.list_namespaces() == [], most_seconds=2)
    assert time.monotonic() - begin >= 1.8


def expiry(client: Client, store: MemsidecarStore) -> datetime:
    """Return the expiry of the only item of the session `a`, as stored."""
    [lease] = client.iter_artifacts(namespace=store._namespace, session_id="a")
    return lease.expire_time.ToDatetime(UTC)


@pytest.mark.parametrize("namespace", [(), ("a.b",), ("",), ("langgraph", "x")])
def test_namespaces_that_langgraph_rejects(store: MemsidecarStore, namespace: tuple[str, ...]) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "k", {})


def test_operations_are_checked_before_any_is_done(store: MemsidecarStore) -> None:
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("a",), "k", {}), GetOp(("a.b",), "k")])
    assert store.list_namespaces() == []


FILTERS: list[dict[str, Any] | None] = [
    None,
    {"kind": "a"},
    {"kind": {"$ne": "a"}},
    {"n": {"$gt": 1}},
    {"n": {"$gte": 1, "$lt": 3}},
    {"n": {"$lte": 2}},
    {"n": {"$eq": 2}},
    {"deep": {"x": 1}},
    {"list": [1, 2]},
    {"nothing": None},
]


@pytest.mark.parametrize("wanted", FILTERS)
def test_filters_are_those_of_langgraphs_own_store(store: MemsidecarStore, wanted: dict[str, Any] | None) -> None:
    values = [{"kind": "ab"[at % 2], "n": at, "deep": {"x": at % 2, "y": at}, "list": [1, at]} for at in range(4)]
    own = InMemoryStore()
    for target in (store, own):
        for at, value in enumerate(values):
            target.put(("a", "xy"[at % 2]), f"k{at}", value)
    assert _keys(store, wanted) == _keys(own, wanted)


def _keys(store: BaseStore, wanted: dict[str, Any] | None) -> list[str]:
    return sorted(item.key for item in store.search(("a",), filter=wanted))


def test_a_missing_field_compares_as_false(store: MemsidecarStore) -> None:
    store.put(("a",), "k", {"text": "x"})
    assert store.search(("a",), filter={"n": {"$gt": 1}}) == []
    with pytest.raises(ValueError, match=r"\$like"):
        store.search(("a",), filter={"n": {"$like": 1}})


def test_pages_have_every_item_once(store: MemsidecarStore) -> None:
    for at in range(7):
        store.put(("a", str(at)), "k", {"n": at})
    pages = [store.search(("a",), limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [item.value["n"] for page in pages for item in page] == [6, 5, 4, 3, 2, 1, 0]
    assert store.list_namespaces(limit=3, offset=5) == [("a", "5"), ("a", "6")]


labels = st.sampled_from(["a", "b", "c", "*"])
paths = st.lists(labels, min_size=1, max_size=3).map(tuple)
plain_paths = st.lists(labels.filter(lambda label: label != "*"), min_size=1, max_size=3).map(tuple)
conditions = st.builds(MatchCondition, match_type=st.sampled_from(["prefix", "suffix"]), path=paths)
values = st.dictionaries(texts, jsons(2), max_size=3)
puts = st.builds(
    PutOp,
    namespace=plain_paths,
    key=st.one_of(st.sampled_from(["k", "K", " k", "k."]), texts.filter(bool)),
    value=st.one_of(st.none(), values),
    index=st.sampled_from([None, False]),
    ttl=st.sampled_from([None, 1.0, 1e12]),
)


@many
@given(
    put=st.lists(puts, min_size=1, max_size=6),
    match=st.lists(conditions, max_size=2).map(tuple),
    depth=st.one_of(st.none(), st.integers(1, 3)),
    prefix=st.lists(labels.filter(lambda label: label != "*"), max_size=2).map(tuple),
)
def test_it_stores_what_langgraphs_own_store_stores(
    client: Client, put: list[PutOp], match: Any, depth: int | None, prefix: Any
) -> None:
    ours, own = fresh(client), InMemoryStore()
    for store in (ours, own):
        store.batch(put[:3])
        store.batch(put[3:])
    reads = [GetOp(op.namespace, op.key) for op in put]
    search = SearchOp(prefix, limit=100)
    listing = ListNamespacesOp(match_conditions=match, max_depth=depth)
    found, wanted = ours.batch([*reads, search, listing]), own.batch([*reads, search, listing])
    assert [_plain(item) for item in found[:-2]] == [_plain(item) for item in wanted[:-2]]
    assert sorted(map(_plain, found[-2] or ()), key=repr) == sorted(map(_plain, wanted[-2] or ()), key=repr)  # type: ignore[arg-type]
    held = {op.namespace for op in put if own.get(op.namespace, op.key)}
    emptied = {op.namespace for op in put} - held
    if not emptied:  # Its own store goes on listing a namespace whose items are all deleted.
        assert found[-1] == wanted[-1]


def _plain(item: Any) -> Any:
    return item and (item.namespace, item.key, item.value)
