"""Convert a context for OpenAI. `python docs/examples/openai_messages.py ADDRESS USER SESSION` prints both formats."""

import json

from context import context_from_args

from memsidecar_client.conversion.openai import openai_input, openai_messages

if __name__ == "__main__":
    context = context_from_args()
    print(json.dumps({"messages": openai_messages(context), "input": openai_input(context)}, indent=2))
