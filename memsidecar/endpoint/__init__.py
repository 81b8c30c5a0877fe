"""Client of an OpenAI-compatible HTTP API: address, retries, circuit breaker."""
