"""The number of examples of the differential tests, which compare a store with its reference."""

EXAMPLES = 50
