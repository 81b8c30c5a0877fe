"""Storage: the contract of journal and index, and their implementations."""
