"""The length of the tests that `make test-kills` runs."""

import os

KILL_ROUNDS = int(os.environ.get("KILL_ROUNDS", "200"))
