"""The wire contract, generated from protos/memsidecar/v1 by `make proto`. Never edited."""
