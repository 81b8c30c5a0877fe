"""Embedders: texts to vectors. `contract` states what an embedder promises."""
