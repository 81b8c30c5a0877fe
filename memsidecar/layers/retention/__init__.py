"""Retention: what exceeds the limits of a policy or the settings is erased in the background."""
