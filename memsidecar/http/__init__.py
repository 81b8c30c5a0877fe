"""The HTTP listener: the services of the proto in the Connect protocol, and plain pages for probes."""
