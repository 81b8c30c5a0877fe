"""How long the machines go on that do the same with two stores and compare them."""

import os

EXAMPLES = int(os.environ.get("TWIN_EXAMPLES", "12"))
"A dozen in `make test`; `make test-long` gives each many more."
