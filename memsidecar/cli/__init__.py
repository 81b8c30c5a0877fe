"""The command line: its commands and flags, and the commands that talk to a running sidecar."""
