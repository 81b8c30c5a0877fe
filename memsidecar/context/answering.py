"""From a context that fits to the answer: messages, memory as one text, the account, and what of it stays the same."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from memsidecar.context.caps import Caps
from memsidecar.context.filling import Count
from memsidecar.context.fitting import Fitted, Material
from memsidecar.context.receipt import Accounting
from memsidecar.domain.message import Role
from memsidecar.tokens.contract import MESSAGE_OVERHEAD, Counter
from memsidecar.v1.context_pb2 import BuildContextResponse
from memsidecar.v1.message_pb2 import Message
from memsidecar.v1.message_pb2 import Role as WireRole


@dataclass(frozen=True)
class Answering:
    caps: Caps
    counter: Counter
    count: Count
    retrieved_role: Role
    debug: bool

    def __call__(self, material: Material, fitted: Fitted) -> BuildContextResponse:
        rendered = fitted.rendered
        stable = [*self._composed(Role.SYSTEM, rendered.stable), *(one.message for one in rendered.before)]
        response = BuildContextResponse(
            messages=[
                *stable,
                *self._composed(self.retrieved_role, rendered.retrieved),
                *(one.message for one in rendered.after),
                *self._asked(rendered.query),
            ],
            memory_text=rendered.memory,
            total_tokens=fitted.total_tokens,
            max_tokens=self.caps.budget,
            stable_prefix_count=len(stable),
            stable_prefix_sha256=_digest(stable),
        )
        response.receipt.sections.extend(Accounting(self.caps, self.count, self.debug)(material, fitted))
        response.receipt.tokenizer, response.receipt.exact = self.counter.name, self.counter.exact
        return response

    def _composed(self, role: Role, text: str) -> list[Message]:
        if not text:
            return []
        tokens = MESSAGE_OVERHEAD + self.count(text)
        return [Message(role=WireRole.Name(role), content=text, tokens=tokens, synthetic=True)]

    def _asked(self, query: str) -> list[Message]:
        if not query:
            return []
        return [Message(role="ROLE_USER", content=query, tokens=MESSAGE_OVERHEAD + self.count(query))]


def _digest(messages: Iterable[Message]) -> str:
    digest = hashlib.sha256()
    for one in messages:
        said = Message(role=one.role, name=one.name, content=one.content, tool_calls=one.tool_calls)
        encoded = said.SerializeToString(deterministic=True)
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()
