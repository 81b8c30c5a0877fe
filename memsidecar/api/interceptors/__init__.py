"""Interceptors: wrappers around every RPC handler, one concern a module."""
