"""Metrics: what the sidecar exports at /metrics, read from the statistics that its parts keep."""
