#!/usr/bin/env bash
# Makes ready what another kind of machine than this one needs; howlate calls it when one is asked for:
#   tools/ready.sh guest amd64|arm64                         QEMU for such guests of the lab, and their probe
#   tools/ready.sh probe x86_64|aarch64|armv7|riscv64 ...    the probe for such machines, and the compiler that builds it
set -u
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
# shellcheck source=tools/setup.sh
. "$root/tools/setup.sh"
werror=${HOWLATE_WERROR:-OFF}

# Whoever may not write the checkout, or install, does with what is there.
is_ready() { # architecture ...; expects $command
  local arch
  [ -z "$command" ] || command -v "$command" >/dev/null || return 1
  for arch in "$@"; do ! probe_is_old "$root/build/cross/$arch/.built" || return 1; done
}

make_ready() { # architecture ...; expects $emulator
  local arch wanted=()
  for arch in "$@"; do mapfile -t -O ${#wanted[@]} wanted < <(cross_package "$arch"); done
  need_packages "${packages_run[@]}" "${wanted[@]}" ${emulator:+"$emulator"}
  for arch in "$@"; do need_cross_probe "$arch"; done
}

emulator='' command=''
case ${1:-} in
  guest)
    emulator=$(guest_emulator "${2:-}") || die $EXIT_USAGE "name a guest's architecture: amd64 or arm64"
    command=$(guest_command "$2")
    set -- "$(guest_architecture "$2")"
    ;;
  probe)
    shift
    [ $# -gt 0 ] || set -- "${cross_all[@]}"
    for arch in "$@"; do
      cross_tools "$arch" >/dev/null ||
        die $EXIT_USAGE "there is no probe for '$arch'; there are ${cross_all[*]}"
    done
    ;;
  *) die $EXIT_USAGE "say what: guest or probe, and the architecture" ;;
esac
is_ready "$@" || with_lock make_ready "$@"
