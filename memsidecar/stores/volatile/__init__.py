"""Journal and index in RAM: exact, simple, the reference for tests of the others."""
