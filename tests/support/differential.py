"""The length of the differential tests: the same commands to a store and to its reference, compared step by step."""

EXAMPLES = 50
