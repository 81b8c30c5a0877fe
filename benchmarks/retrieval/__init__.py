"""Retrieval: what it costs beside a bare LanceDB and beside Chroma, what it costs an Add, and how well it finds."""
