#!/bin/sh
# Everything but the scenarios: format, freshness of what is generated, lints, tests, documentation, and that all is
# built.
set -e
cd "$(dirname "$0")"
cargo fmt --all --check
./generate.sh --check
cargo clippy --quiet --workspace --all-targets --all-features -- -D warnings
cargo clippy --quiet --package memsidecar-client --no-default-features -- -D warnings
cargo test --quiet --workspace --all-features
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --no-deps --all-features --package memsidecar-client
cargo build --quiet --workspace --bins --examples
