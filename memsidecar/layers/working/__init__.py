"""Working memory: the messages of a session and its window."""
