#!/usr/bin/env bash
# Writes the lock files: exact versions with hashes, and no address of any registry. `make lock` runs it.
set -euo pipefail
cd "$(dirname "$0")/.."
compile() {
  .venv/bin/uv pip compile --quiet --python-version 3.11 --universal --generate-hashes --no-emit-index-url \
    --no-emit-find-links --no-header --no-annotate "$@"
}
compile requirements/dev.in --output-file requirements/dev.lock
compile requirements/install.in --constraint requirements/dev.in --constraint <(grep -E '^[a-z0-9._-]+==' requirements/dev.lock | sed 's/ \\$//') \
  --output-file requirements/install.lock
