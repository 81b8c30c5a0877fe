"""An agent of LlamaIndex with a memory. Needs a sidecar and `memsidecar-client[llamaindex]`.

    python examples/llamaindex_memory.py           # MEMSIDECAR_ADDRESS says where, else 127.0.0.1:7600

The model here is fake, so that the example runs offline; give the agent yours instead.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM

from memsidecar_client import Client, new_id
from memsidecar_client.adapters.llamaindex import MemsidecarMemory

WEATHER = {"Lisbon": "21 degrees and sunny", "Porto": "17 degrees and rain"}


def weather(city: str) -> str:
    """The weather in a city."""
    return WEATHER[city]


def fake(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
    """A fake model: looks for a city in its input, calls the weather tool, then answers."""
    newest = messages[-1]
    if newest.role == MessageRole.TOOL:
        return ChatMessage(f"It is {newest.content}.", role=MessageRole.ASSISTANT)
    city = next((city for city in WEATHER if city in str(messages)), None)
    if city is None or "weather" not in str(newest.content):
        return ChatMessage("I see.", role=MessageRole.ASSISTANT)
    call = ToolCallBlock(tool_call_id=new_id(), tool_name="weather", tool_kwargs={"city": city})
    return ChatMessage(role=MessageRole.ASSISTANT, blocks=[call])


async def main() -> None:
    agent = FunctionAgent(tools=[weather], llm=MockFunctionCallingLLM(response_generator=fake))
    with Client() as client:
        client.wait_until_ready(timeout=10)
        user = f"ana-{new_id()[-6:]}"
        for day, question in (("monday", "I live in Lisbon."), ("tuesday", "How is the weather where I live?")):
            memory = MemsidecarMemory(client, session_id=f"{user}/{day}", user_id=user, token_limit=4_000)
            print(f"{day:8} user:  {question}\n{'':8} agent: {await agent.run(question, memory=memory)}")


if __name__ == "__main__":
    asyncio.run(main())
