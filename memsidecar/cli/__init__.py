"""The command line: commands, flags, and the commands that call a running sidecar."""
