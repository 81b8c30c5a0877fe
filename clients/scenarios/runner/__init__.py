"""Scenario runner: starts sidecars, sends commands to a variant's driver, and compares the responses."""
