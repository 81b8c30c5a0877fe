"""From text to vectors: `contract` says what an embedder promises."""
