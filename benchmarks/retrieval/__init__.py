"""Benchmarks of retrieval: cost compared with LanceDB and Chroma, cost for an Add, and quality."""
