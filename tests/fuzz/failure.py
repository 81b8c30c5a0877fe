"""The failure of a fuzzed input, with all that is needed to repeat it."""


class FuzzFailure(AssertionError):
    def __init__(self, target: str, given: bytes, observed: str) -> None:
        super().__init__(f"{target}: {observed} for {len(given)} bytes, in hexadecimal: {given.hex()}")
