"""Memory for LLM agents, as a gRPC sidecar."""

__version__ = "0.1.0"
