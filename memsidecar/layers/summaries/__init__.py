"""Rolling summaries: what was said before the newest messages, in a few hundred tokens."""
