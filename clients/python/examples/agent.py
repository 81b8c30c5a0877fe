"""An agent with a memory: asks a model, lets it call a tool, answers, and remembers. Needs a sidecar and nothing else.

    python examples/agent.py                       # MEMSIDECAR_ADDRESS says where, else 127.0.0.1:7600

The model here is fake, so that the example runs offline; `ask_model` is where yours goes.
"""

import json
from dataclasses import dataclass, field

from memsidecar_client import BuildContextResponse, Client, Fact, FactType, Role, Section, ToolCall, new_id

MODEL = "gpt-4o"
SYSTEM_PROMPT = "You answer questions about the weather."
TOOLS = [{"name": name, "parameters": {"city": "string"}} for name in ("weather", "remember_home")]
WEATHER = {"Lisbon": "21 degrees and sunny", "Porto": "17 degrees and rain"}


@dataclass(frozen=True)
class Answer:
    """An answer of a provider: a text or tool calls, and the charged tokens."""

    text: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    charged_tokens: int = 0


def ask_model(context: BuildContextResponse) -> Answer:
    """A fake model: looks for a city in its input, calls the weather tool, then answers."""
    charged = sum(message.tokens for message in context.messages) or context.total_tokens
    newest = context.messages[-1]
    if newest.role == Role.ROLE_TOOL:
        return Answer(text=f"It is {newest.content}.", charged_tokens=charged)
    shown = [message.content for message in reversed(context.messages)]
    city = next((city for text in shown for city in WEATHER if city in text), None)
    if city is None:
        return Answer(text="Where do you live?", charged_tokens=charged)
    wanted = ["remember_home", "weather"] if city in newest.content else ["weather"]
    calls = [ToolCall(id=new_id(), name=name, arguments_json=json.dumps({"city": city})) for name in wanted]
    return Answer(calls=calls, charged_tokens=charged)


@dataclass(frozen=True)
class Agent:
    memory: Client
    user_id: str
    session_id: str

    def turn(self, question: str) -> str:
        """Stores each message at once, so no message is lost if the agent ends."""
        self._say(Role.ROLE_USER, question)
        while (answer := self._think()).calls:
            self._say(Role.ROLE_ASSISTANT, answer.text, tool_calls=answer.calls)
            for call in answer.calls:
                self._say(Role.ROLE_TOOL, self._use_tool(call), tool_call_id=call.id, name=call.name)
        self._say(Role.ROLE_ASSISTANT, answer.text)
        return answer.text

    def _think(self) -> Answer:
        context = self.memory.build_context(
            session_id=self.session_id,
            user_id=self.user_id,
            model=MODEL,
            max_tokens=4_000,
            reserve_output_tokens=500,
            system_prompt=SYSTEM_PROMPT,
            tool_schemas_json=json.dumps(TOOLS),
        )
        answer = ask_model(context)
        self.memory.report_usage(
            model=MODEL, estimated_tokens=context.total_tokens - _reserved(context), actual_tokens=answer.charged_tokens
        )
        return answer

    def _use_tool(self, call: ToolCall) -> str:
        city = json.loads(call.arguments_json)["city"]
        if call.name == "weather":
            return WEATHER[city]
        home = Fact(type=FactType.FACT_TYPE_USER_PROFILE, key="home", value=city)
        self.memory.put_facts(user_id=self.user_id, session_id=self.session_id, facts=[home])
        return "remembered"

    def _say(
        self, role: Role, content: str, tool_calls: list[ToolCall] | None = None, tool_call_id: str = "", name: str = ""
    ) -> None:
        self.memory.add(
            session_id=self.session_id,
            user_id=self.user_id,
            role=role,
            content=content,
            tool_calls=tool_calls or (),
            tool_call_id=tool_call_id,
            name=name,
        )


def _reserved(context: BuildContextResponse) -> int:
    """Tokens that are reserved for the answer and not sent."""
    sections = context.receipt.sections
    return sum(section.used_tokens for section in sections if section.section == Section.SECTION_OUTPUT_RESERVE)


def main() -> None:
    with Client() as memory:
        memory.wait_until_ready(timeout=10)
        user = f"ana-{new_id()[-6:]}"
        for session, question in (
            ("monday", "What is the weather like?"),
            ("monday", "I live in Lisbon."),
            ("tuesday", "How is the weather where I live?"),
        ):
            print(f"{session:8} user:  {question}")
            print(f"{'':8} agent: {Agent(memory, user, f'{user}/{session}').turn(question)}")


if __name__ == "__main__":
    main()
