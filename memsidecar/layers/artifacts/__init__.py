"""Artifacts: compact results of tools, kept for a session, and large ones out of its window."""
