"""An agent of the OpenAI Agents SDK with a memory. Needs a sidecar and `memsidecar-client[openai-agents]`.

    python examples/openai_agents_session.py       # MEMSIDECAR_ADDRESS says where, else 127.0.0.1:7600

The model here is fake, so that the example runs offline; give the agent the name of yours instead.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from memsidecar_client import Client, new_id
from memsidecar_client.adapters.openai_agents import MemsidecarSession

WEATHER = {"Lisbon": "21 degrees and sunny", "Porto": "17 degrees and rain"}


@function_tool
def weather(city: str) -> str:
    return WEATHER[city]


class FakeModel(Model):
    """A fake model: looks for a city in its input, calls the weather tool, then answers."""

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        newest = input[-1]
        shown = f"{system_instructions} {input}"
        city = next((city for city in WEATHER if city in shown), None)
        if newest.get("type") == "function_call_output":
            return _answer(_said(f"It is {newest['output']}."))
        if city is None or "weather" not in str(newest):
            return _answer(_said("I see."))
        arguments = json.dumps({"city": city})
        call = ResponseFunctionToolCall(type="function_call", call_id=new_id(), name="weather", arguments=arguments)
        return _answer(call)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError("it only answers at once")


def _answer(*output: Any) -> ModelResponse:
    return ModelResponse(output=list(output), usage=Usage(), response_id=None)


def _said(text: str) -> ResponseOutputMessage:
    content = ResponseOutputText(type="output_text", text=text, annotations=[])
    return ResponseOutputMessage(
        id=f"msg_{new_id()}", type="message", role="assistant", status="completed", content=[content]
    )


async def main() -> None:
    agent: Agent[Any] = Agent(name="weather", instructions="Be brief.", model=FakeModel(), tools=[weather])
    with Client() as client:
        client.wait_until_ready(timeout=10)
        user = f"ana-{new_id()[-6:]}"
        for day, question in (("monday", "I live in Lisbon."), ("tuesday", "How is the weather where I live?")):
            session = MemsidecarSession(f"{user}/{day}", client, user_id=user)
            memory = RunConfig(call_model_input_filter=session.memory_filter(max_tokens=4_000), tracing_disabled=True)
            answer = await Runner.run(agent, question, session=session, run_config=memory)
            print(f"{day:8} user:  {question}\n{'':8} agent: {answer.final_output}")


if __name__ == "__main__":
    asyncio.run(main())
