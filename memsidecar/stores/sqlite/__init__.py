"""The journal in one SQLite file: one writer thread with group commit, several read connections."""
