"""Word lists: they decide where letters alone would not, above all for those who write in lower case."""


def listed(text: str) -> frozenset[str]:
    return frozenset(text.split())
