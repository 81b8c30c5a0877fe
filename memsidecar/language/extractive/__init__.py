"""Extractive summarization: the most informative sentences of a conversation, verbatim."""
