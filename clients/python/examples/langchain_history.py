"""A chain of LangChain with a memory. Needs a sidecar and `memsidecar-client[langchain]`.

    python examples/langchain_history.py           # MEMSIDECAR_ADDRESS says where, else 127.0.0.1:7600

The model here is fake, so that the example runs offline; `model` is where yours goes.
"""

from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import tool

from memsidecar_client import Client, new_id
from memsidecar_client.adapters.langchain import MemsidecarChatMessageHistory

WEATHER = {"Lisbon": "21 degrees and sunny", "Porto": "17 degrees and rain"}


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return WEATHER[city]


def fake(messages: list[BaseMessage]) -> AIMessage:
    """A fake model: looks for a city in its input, calls the weather tool, then answers."""
    newest = messages[-1]
    if isinstance(newest, ToolMessage):
        return AIMessage(f"It is {newest.text}.")
    city = next((city for city in WEATHER if city in str(messages)), None)
    if city is None or "weather" not in newest.text:
        return AIMessage("I see.")
    call: Any = {"id": new_id(), "name": "weather", "args": {"city": city}, "type": "tool_call"}
    return AIMessage("", tool_calls=[call])


model: Runnable[list[BaseMessage], AIMessage] = RunnableLambda(fake)


def turn(history: MemsidecarChatMessageHistory, question: str) -> str:
    """Stores each message at once; before each call of the model, builds its context."""
    history.add_message(HumanMessage(question))
    while True:
        answer = model.invoke(history.context(question, max_tokens=4_000, system_prompt="Be brief."))
        history.add_message(answer)
        if not answer.tool_calls:
            return answer.text
        history.add_messages([weather.invoke(call) for call in answer.tool_calls])


def main() -> None:
    with Client() as client:
        client.wait_until_ready(timeout=10)
        user = f"ana-{new_id()[-6:]}"
        for day, question in (("monday", "I live in Lisbon."), ("tuesday", "How is the weather where I live?")):
            history = MemsidecarChatMessageHistory(f"{user}/{day}", client, user_id=user)
            print(f"{day:8} user:  {question}\n{'':8} agent: {turn(history, question)}")


if __name__ == "__main__":
    main()
