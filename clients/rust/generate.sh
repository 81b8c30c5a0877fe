#!/bin/sh
# Makes what follows from the contract: ./generate.sh writes it, ./generate.sh --check tells whether it is fresh.
cd "$(dirname "$0")" && exec cargo run --quiet --package memsidecar-client-generator -- "$@"
