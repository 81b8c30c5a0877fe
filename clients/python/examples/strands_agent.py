"""An agent of Strands with a memory. Needs a sidecar and `memsidecar-client[strands]`.

    python examples/strands_agent.py               # MEMSIDECAR_ADDRESS says where, else 127.0.0.1:7600

The model here is fake, so that the example runs offline; give the agent yours instead.
"""

import json
from collections.abc import AsyncIterable
from typing import Any

from strands import Agent, tool
from strands.memory import MemoryManager
from strands.models import Model
from strands.session.repository_session_manager import RepositorySessionManager

from memsidecar_client import Client, new_id
from memsidecar_client.adapters.strands import MemsidecarMemoryStore, MemsidecarSessionRepository

WEATHER = {"Lisbon": "21 degrees and sunny", "Porto": "17 degrees and rain"}


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return WEATHER[city]


class FakeModel(Model):
    """A fake model: looks for a city in its input, calls the weather tool, then answers."""

    def update_config(self, **_: Any) -> None:
        raise NotImplementedError("it has no settings")

    def get_config(self) -> dict[str, Any]:
        return {}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError("it only says texts")

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterable[Any]:
        newest = messages[-1]["content"]
        results = [block["toolResult"] for block in newest if "toolResult" in block]
        city = next((city for city in WEATHER if city in str(messages)), None)
        calls = not results and city is not None and "weather" in str(newest)
        start: dict[str, Any] = {"toolUse": {"toolUseId": new_id(), "name": "weather"}} if calls else {}
        text = f"It is {results[0]['content'][0]['text']}." if results else "I see."
        delta = {"toolUse": {"input": json.dumps({"city": city})}} if calls else {"text": text}
        yield {"messageStart": {"role": "assistant"}}
        yield {"contentBlockStart": {"start": start}}
        yield {"contentBlockDelta": {"delta": delta}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}}


def main() -> None:
    with Client() as client:
        client.wait_until_ready(timeout=10)
        user = f"ana-{new_id()[-6:]}"
        repository = MemsidecarSessionRepository(client, user_id=user)
        for day, question in (("monday", "I live in Lisbon."), ("tuesday", "How is the weather where I live?")):
            session_id = f"{user}-{day}"
            store = MemsidecarMemoryStore(client, session_id=session_id, user_id=user, max_tokens=4_000)
            agent = Agent(
                FakeModel(),
                tools=[weather],
                callback_handler=None,
                session_manager=RepositorySessionManager(session_id, repository),
                memory_manager=MemoryManager(stores=[store], search_tool_config=False),
            )
            print(f"{day:8} user:  {question}\n{'':8} agent: {str(agent(question)).strip()}")


if __name__ == "__main__":
    main()
