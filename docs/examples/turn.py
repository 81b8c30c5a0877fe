"""Run one turn: `python docs/examples/turn.py ADDRESS USER SESSION QUESTION`, with a stand-in for the model."""

import sys
from collections.abc import Callable
from typing import Any

from memsidecar_client import BuildContextResponse, Client, Section
from memsidecar_client.conversion.openai import messages_from_openai, openai_messages

MODEL = "gpt-4o"
Ask = Callable[[list[dict[str, Any]]], tuple[dict[str, Any], int]]
"Maps messages to the answer and the tokens that the provider charged."


def one_turn(memory: Client, user_id: str, session_id: str, question: str, ask: Ask) -> dict[str, Any]:
    asked = messages_from_openai([{"role": "user", "content": question}])
    memory.add_batch(user_id=user_id, session_id=session_id, messages=asked)
    context = memory.build_context(
        user_id=user_id, session_id=session_id, model=MODEL, reserve_output_tokens=500, system_prompt="Be kind."
    )
    answer, prompt_tokens = ask(openai_messages(context))
    memory.add_batch(user_id=user_id, session_id=session_id, messages=messages_from_openai([answer]))
    memory.report_usage(
        model=MODEL, estimated_tokens=context.total_tokens - reserved(context), actual_tokens=prompt_tokens
    )
    return answer


def reserved(context: BuildContextResponse) -> int:
    """Return the output reserve, which is part of total_tokens and was not sent."""
    sections = context.receipt.sections
    return sum(section.used_tokens for section in sections if section.section == Section.SECTION_OUTPUT_RESERVE)


def stand_in(messages: list[dict[str, Any]]) -> tuple[dict[str, Any], int]:
    """Stand in for a model.

    With the openai package: answer = client.chat.completions.create(model=MODEL, messages=messages), then return
    answer.choices[0].message.model_dump() and answer.usage.prompt_tokens.
    """
    return {"role": "assistant", "content": f"I was shown {len(messages)} messages."}, 40 * len(messages)


if __name__ == "__main__":
    address, user_id, session_id, question = sys.argv[1:5]
    with Client(address) as memory:
        print(one_turn(memory, user_id, session_id, question, stand_in)["content"])
