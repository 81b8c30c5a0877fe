"""Artifacts: results of tools that are stored for a session; large ones replace the tool message in its window."""
