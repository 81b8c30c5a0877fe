"""Documents: texts that a client puts, split into chunks for search."""
