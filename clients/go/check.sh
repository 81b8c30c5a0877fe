#!/bin/sh
# Checks everything about the Go client but the scenarios: layout, lint, generated code, tests, and that all of it
# builds. The driver and the benchmark are left in build/.
#
# Needs Go, and what `make setup` installs. The tests run with the race detector where there is a C compiler.
set -eu

cd "$(dirname "$0")"

race=
if [ "$(go env CGO_ENABLED)" = 1 ] && command -v "$(go env CC)" >/dev/null; then
	race=-race
fi

untidy=$(gofmt -l .)
if [ -n "$untidy" ]; then
	echo "gofmt would change: $untidy" >&2
	exit 1
fi

./generate.sh --check
mkdir -p build/tools
GOBIN=$PWD/build/tools go -C tools install honnef.co/go/tools/cmd/staticcheck

staticcheck=$PWD/build/tools/staticcheck

for module in . langchaingo; do
	(
		cd "$module"
		go mod tidy -diff
		go vet ./...
		"$staticcheck" ./...
		go test -count=1 $race ./...
	)
done

go build -o build/ ./internal/driver ./internal/benchmark ./examples/agent
go -C langchaingo build -o ../build/langchaingo-agent ./examples/agent
