"""What is wrong with a configured embedder, found before the first text."""


class InvalidEmbedder(ValueError):
    """The settings describe no embedder that could work; never shows a key."""
