"""A graph of LangGraph with a long-term memory. Needs a sidecar and `memsidecar-client[langgraph]`.

    python examples/langgraph_store.py             # MEMSIDECAR_ADDRESS says where, else 127.0.0.1:7600

The model here is fake, so that the example runs offline; the node `answer` is where yours goes.
"""

from operator import add
from typing import Annotated, Any, TypedDict

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph.store.base import BaseStore

from memsidecar_client import Client, new_id
from memsidecar_client.adapters.langgraph import MemsidecarStore


class State(TypedDict):
    messages: Annotated[list[AnyMessage], add]


def remember(state: State, config: RunnableConfig, *, store: BaseStore) -> None:
    """Stores statements of the user, and no questions."""
    said = state["messages"][-1].text
    if not said.endswith("?"):
        store.put(("memories", config["configurable"]["user"]), new_id(), {"text": said})


def answer(state: State, config: RunnableConfig, *, store: BaseStore) -> dict[str, Any]:
    """A fake model whose input is what the store finds."""
    question = state["messages"][-1].text
    if not question.endswith("?"):
        return {"messages": [AIMessage("Noted.")]}
    found = store.search(("memories", config["configurable"]["user"]), query=question, limit=1)
    return {"messages": [AIMessage(f'You said: "{found[0].value["text"]}"' if found else "I do not know.")]}


def main() -> None:
    builder = StateGraph(State)
    builder.add_sequence([remember, answer])
    builder.add_edge(START, "remember")
    with Client() as client:
        client.wait_until_ready(timeout=10)
        graph: Any = builder.compile(store=MemsidecarStore(client))
        user = f"ana-{new_id()[-6:]}"
        for day, said in (
            ("monday", "I live in Lisbon."),
            ("monday", "My cat is called Tom."),
            ("tuesday", "Where do I live?"),
        ):
            config = {"configurable": {"thread_id": day, "user": user}}
            told = graph.invoke({"messages": [HumanMessage(said)]}, config)
            print(f"{day:8} user:  {said}\n{'':8} agent: {told['messages'][-1].text}")


if __name__ == "__main__":
    main()
