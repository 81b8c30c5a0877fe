"""Plays the scenarios: starts sidecars, tells a language's driver what to call, and compares what it answers."""
