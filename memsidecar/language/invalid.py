"""What is wrong with a configured model, found before the first question."""


class InvalidModel(ValueError):
    """The settings describe no model that could work; never shows a key."""
