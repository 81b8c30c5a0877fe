"""Archives of the memory: the order and the cursors of an export."""
