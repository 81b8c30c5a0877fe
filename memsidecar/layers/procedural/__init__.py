"""Procedural memory: how a user works with the assistant, counted from the messages."""
