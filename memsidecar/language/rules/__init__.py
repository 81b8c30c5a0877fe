"""Fact extraction by patterns of plain English and German statements in the first person."""
