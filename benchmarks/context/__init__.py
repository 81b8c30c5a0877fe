"""Benchmarks of contexts: reuse by a prompt cache, and cost compared with the search that they contain."""
