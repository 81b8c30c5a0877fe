"""Rolling summaries: one text of bounded size for the older messages of a session."""
