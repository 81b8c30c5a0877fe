"""Run one turn of an agent: `python docs/examples/turn.py ADDRESS SESSION QUESTION`, with a stand-in for the model."""

import sys
from collections.abc import Callable

import grpc
from openai_messages import chat_messages

from memsidecar.v1 import memory_pb2
from memsidecar.v1.context_pb2 import BuildContextRequest, BuildContextResponse, Section
from memsidecar.v1.memory_pb2_grpc import MemoryServiceStub
from memsidecar.v1.message_pb2 import Message

MODEL = "gpt-4o"
Ask = Callable[[list[dict[str, object]]], tuple[str, int]]
"Maps messages to the answer and the tokens that the provider charged."


def one_turn(memory: MemoryServiceStub, session_id: str, question: str, ask: Ask) -> str:
    _add(memory, session_id, Message(role="ROLE_USER", content=question))
    context = memory.BuildContext(
        BuildContextRequest(session_id=session_id, model=MODEL, reserve_output_tokens=500, system_prompt="Be kind.")
    )
    answer, prompt_tokens = ask(chat_messages(context))
    _add(memory, session_id, Message(role="ROLE_ASSISTANT", content=answer))
    memory.ReportUsage(
        memory_pb2.ReportUsageRequest(
            model=MODEL, estimated_tokens=context.total_tokens - reserved(context), actual_tokens=prompt_tokens
        )
    )
    return answer


def reserved(context: BuildContextResponse) -> int:
    """Return the output reserve, which is part of total_tokens and was not sent."""
    sections = context.receipt.sections
    return sum(section.used_tokens for section in sections if section.section == Section.SECTION_OUTPUT_RESERVE)


def _add(memory: MemoryServiceStub, session_id: str, message: Message) -> None:
    memory.Add(memory_pb2.AddRequest(session_id=session_id, message=message))


def stand_in(messages: list[dict[str, object]]) -> tuple[str, int]:
    """Stand in for a model.

    With the openai package: answer = client.chat.completions.create(model=MODEL, messages=messages), then return
    answer.choices[0].message.content and answer.usage.prompt_tokens.
    """
    return f"I was shown {len(messages)} messages.", 40 * len(messages)


if __name__ == "__main__":
    address, session_id, question = sys.argv[1:4]
    with grpc.insecure_channel(address) as channel:
        print(one_turn(MemoryServiceStub(channel), session_id, question, stand_in))
