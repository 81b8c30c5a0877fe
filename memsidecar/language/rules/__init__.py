"""Fact extraction by patterns of plain English statements in the first person."""
