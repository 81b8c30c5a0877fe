"""A BuildContext request, parsed and checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from memsidecar.domain.session import SessionKey
from memsidecar.v1.context_pb2 import Section, SectionBudget
from memsidecar.v1.message_pb2 import Scope


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """`sections` holds the overrides of the section defaults. `now_us` is the time of the request."""

    key: SessionKey
    user_id: str
    now_us: int
    query: str = ""
    model: str = ""
    max_tokens: int = 0
    system_prompt: str = ""
    profile: str = ""
    tool_schemas_json: str = ""
    reserve_output_tokens: int = 0
    documents: Sequence[str] = ()
    sections: Mapping[Section, SectionBudget] = field(default_factory=dict)
    scope: Scope = Scope.SCOPE_UNSPECIFIED
    append_query: bool = False
    debug: bool = False
    query_vector: NDArray[np.float32] | None = None
    include_reasoning: bool = False
    fill: float | None = None
