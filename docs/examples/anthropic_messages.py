"""Convert a context for Anthropic. `python docs/examples/anthropic_messages.py ADDRESS USER SESSION` prints it."""

import json

from context import context_from_args

from memsidecar_client.conversion.anthropic import anthropic_messages

if __name__ == "__main__":
    print(json.dumps(anthropic_messages(context_from_args()), indent=2))
