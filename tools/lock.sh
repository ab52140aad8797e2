#!/usr/bin/env bash
# Pins the Python packages: pyproject.toml's ranges -> requirements.lock and those of ./dev, with hashes.
set -eu
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
cd "$root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 -m venv "$work/venv" # Debian 12's, the oldest that howlate supports: it pins what that one can install
"$work/venv/bin/pip" install --quiet pip-tools
compile=("$work/venv/bin/pip-compile" --quiet --generate-hashes --strip-extras --allow-unsafe --no-header
  --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --upgrade)
"${compile[@]}" -o requirements.lock pyproject.toml
"${compile[@]}" --extra dev -c requirements.lock -o requirements-dev.lock pyproject.toml
for group in browser publish; do # beside dev, in one environment
  "${compile[@]}" --extra $group -c requirements.lock -c requirements-dev.lock -o requirements-$group.lock pyproject.toml
done
