"""Invariants of every context, with token counts by the documented rule."""

import hashlib
from collections.abc import Sequence

from memsidecar.tokens.contract import Counter
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.v1.context_pb2 import BuildContextRequest, BuildContextResponse
from memsidecar.v1.message_pb2 import ROLE_TOOL, Message

COUNTERS = CounterRegistry("o200k_base")
TOKENIZERS = {"": "o200k_base", "gpt-4o": "o200k_base", "gpt-4-turbo": "cl100k_base", "claude-3.5": "claude estimate"}
"Documented tokenizers of the models in these tests."


def counter_of(model: str) -> Counter:
    return COUNTERS.named(TOKENIZERS[model])


def tokens_of(message: Message, counter: Counter) -> int:
    """Count tokens by the documented rule, not by the code under test: 4 a message, 1 a name, 3 a tool call."""
    name = 1 + counter.count(message.name) if message.name else 0
    calls = sum(3 + counter.count(call.name) + counter.count(call.arguments_json) for call in message.tool_calls)
    return 4 + counter.count(message.content) + counter.count(message.reasoning) + name + calls


def check_token_counts(request: BuildContextRequest, built: BuildContextResponse) -> None:
    """Check every token count of the response."""
    counter = counter_of(request.model)
    each = [tokens_of(message, counter) for message in built.messages]
    assert [message.tokens for message in built.messages] == each
    besides = counter.count(request.tool_schemas_json) + request.reserve_output_tokens
    used = [section.used_tokens for section in built.receipt.sections]
    assert built.total_tokens == sum(each) + besides == sum(used)
    assert min(used) >= 0
    assert built.total_tokens <= built.max_tokens
    assert request.max_tokens in (0, built.max_tokens)
    assert (built.receipt.tokenizer, built.receipt.exact) == (counter.name, counter.exact)
    assert built.stable_prefix_sha256 == digest_of(built.messages[: built.stable_prefix_count])


def check_exchanges(stored: Sequence[Message], built: BuildContextResponse) -> None:
    """Check that a call is shown with all its results in the window, or not at all."""
    shown = {message.id for message in built.messages if message.id}
    for message in stored:
        calls = {call.id for call in message.tool_calls}
        later = [one for one in stored if one.sequence > message.sequence]
        answers = {one.id for one in later if one.role == ROLE_TOOL and one.tool_call_id in calls}
        exchange = {message.id} | answers
        assert exchange <= shown or not exchange & shown, (exchange, shown)


def digest_of(messages: Sequence[Message]) -> str:
    digest = hashlib.sha256()
    for message in messages:
        hashed = Message(role=message.role, name=message.name, content=message.content, tool_calls=message.tool_calls)
        encoded = hashed.SerializeToString(deterministic=True)
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()
