"""Semantic memory: what is known about a user, and since when."""
