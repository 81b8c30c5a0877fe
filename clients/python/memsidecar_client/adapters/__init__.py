"""Adapters to five frameworks, one module each. A module needs the extra of its name.

They take a `Client`; their asynchronous methods wait for it in a thread.
"""
