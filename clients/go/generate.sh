#!/bin/sh
# Generates memsidecarpb from the contract in protos/. With --check it writes nothing and fails if memsidecarpb is
# stale.
#
# Needs what `make setup` installs (protoc comes with grpcio-tools) and Go. PYTHON names another Python that has them.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
protos=$here/../../protos
python=${PYTHON:-$here/../../.venv/bin/python}
module=github.com/memsidecar/memsidecar/clients/go

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$python" -c 'import grpc_tools' || {
	echo "generate.sh needs grpcio-tools in $python: run 'make setup', or name another PYTHON." >&2
	exit 1
}

cd "$protos"
sources=$(find memsidecar -name '*.proto' | sort)
# The contract names no Go package, because it belongs to no language; so the package is given for each file.
packages=
for source in $sources; do
	packages="$packages --go_opt=M$source=$module/memsidecarpb --go-grpc_opt=M$source=$module/memsidecarpb"
done

mkdir "$scratch/bin" "$scratch/out"
GOBIN=$scratch/bin go -C "$here/tools" install \
	google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc
# shellcheck disable=SC2086  # both are lists
PATH=$scratch/bin:$PATH "$python" -m grpc_tools.protoc -I. \
	--go_out="$scratch/out" --go_opt=module="$module" \
	--go-grpc_out="$scratch/out" --go-grpc_opt=module="$module" \
	$packages $sources

if [ "${1:-}" = --check ]; then
	diff -r -x doc.go "$here/memsidecarpb" "$scratch/out/memsidecarpb" || {
		echo "memsidecarpb is not what protos/ generates: run clients/go/generate.sh" >&2
		exit 1
	}
else
	rm -f "$here"/memsidecarpb/*.pb.go
	mv "$scratch"/out/memsidecarpb/*.pb.go "$here/memsidecarpb/"
fi
