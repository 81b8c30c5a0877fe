"""MCP server on standard input and output: the memory of a sidecar as tools for desktop agents."""
