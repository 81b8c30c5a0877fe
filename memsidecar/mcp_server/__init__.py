"""The memory for desktop agents: an MCP server over standard input and output, in front of a sidecar."""
