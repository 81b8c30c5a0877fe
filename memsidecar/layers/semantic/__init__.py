"""Semantic memory: facts about a user, and the time for which each holds."""
