"""Build the context that the examples convert."""

import sys

from memsidecar_client import BuildContextResponse, Client


def context_from_args() -> BuildContextResponse:
    """Build the context for `python docs/examples/NAME.py ADDRESS USER SESSION`, as in `... 127.0.0.1:7600 ana s1`."""
    address, user_id, session_id = sys.argv[1:4]
    with Client(address) as memory:
        return memory.build_context(user_id=user_id, session_id=session_id)
