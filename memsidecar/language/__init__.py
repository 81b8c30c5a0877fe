"""Fact extraction and summarization, by rules or by a language model behind an endpoint."""
