"""Asking somebody else's HTTP API: where it is, how long to wait, how often to ask, when to leave it alone."""
