"""Contexts, measured: what a prompt cache reuses of them, and what they cost beside the search in them."""
