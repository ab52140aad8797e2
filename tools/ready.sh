#!/usr/bin/env bash
# Makes ready what guests of another kind than this machine's need: QEMU, a cross compiler, the probe built with it.
# howlate calls it when such a kernel is asked for:  tools/ready.sh amd64|arm64
set -u
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
# shellcheck source=tools/setup.sh
. "$root/tools/setup.sh"
install=${HOWLATE_INSTALL:-yes}

ready() {
  local wanted
  read -r -a wanted <<<"$(foreign_packages "$1")"
  need_packages "${packages_run[@]}" "${wanted[@]}"
  need_foreign_probe "$1"
}

foreign_packages "${1:-}" >/dev/null || die $EXIT_USAGE "name an architecture: amd64 or arm64"
with_lock ready "$1"
