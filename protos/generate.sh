#!/usr/bin/env bash
# Writes the Python code beside each .proto. `make protos` runs it; a test fails when the committed code is stale.
# Usage: protos/generate.sh [OUT]      OUT is where to write (default: protos itself)
set -euo pipefail
cd "$(dirname "$0")"
out=${1:-.}
python=${PYTHON:-../.venv/bin/python}
common=$("$python" -c 'import google.rpc.status_pb2 as m, pathlib; print(pathlib.Path(m.__file__).parents[2])')
mapfile -t files < <(find tidegate -name '*.proto' | sort)
"$python" -m grpc_tools.protoc -I . -I "$common" --python_out="$out" --pyi_out="$out" --grpc_python_out="$out" "${files[@]}"
