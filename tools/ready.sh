#!/usr/bin/env bash
# Makes ready what a command needs beyond the Python packages; howlate calls it when it comes to that:
#   tools/ready.sh own                                       the probe for this machine
#   tools/ready.sh guest amd64|arm64                         QEMU for such guests of the lab, what their kernels take, and their probe
#   tools/ready.sh archive                                   the keys of the Debian archive and their check
#   tools/ready.sh probe x86_64|aarch64|armv7|riscv64 ...    the probe for such machines, and the compiler that builds it
set -u
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
# shellcheck source=tools/setup.sh
. "$root/tools/setup.sh"
werror=${HOWLATE_WERROR:-OFF}

# What Debian calls an architecture's tools.
cross_tools() { # architecture
  case $1 in
    x86_64 | aarch64 | riscv64) echo "$1-linux-gnu" ;;
    armv7) echo arm-linux-gnueabihf ;;
    *) return 1 ;;
  esac
}

# The Debian package with its compiler; nothing for this machine's own.
cross_package() { # architecture
  local tools
  tools=$(cross_tools "$1")
  [ "$1" = "$(uname -m)" ] || echo "g++-${tools//_/-}"
}

# The static probe for an architecture, with Debian's cross compiler: build/cross/ARCHITECTURE/howlate-probe. This machine's own is
# the one in build/probe, which is static as well.
need_cross_probe() { # architecture
  local arch=$1 tools directory=$root/build/cross/$1 started
  if [ "$arch" = "$(uname -m)" ]; then
    need_probe
    mkdir -p "$directory"
    cmp -s "$root/build/probe/howlate-probe" "$directory/howlate-probe" || cp "$root/build/probe/howlate-probe" "$directory/"
    cp "$root/build/probe/howlate-clock.so" "$root/build/probe/howlate-trace.so" "$directory/"
    cp --preserve=timestamps "$root/build/probe/.built" "$directory/.built" # as old as the build, though the copy may be older
    return
  fi
  probe_is_old "$directory/.built" || return 0
  tools=$(cross_tools "$arch")
  say "building the probe for $arch (about a minute)"
  started=$(mktemp)
  build_probe "$directory" howlate-probe -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="${tools%%-*}" \
    -DCMAKE_CXX_COMPILER="$tools-g++"
  mv "$started" "$directory/.built"
}

# Whoever may not write the checkout, or install, does with what is there. A command is found nearly for nothing, where asking dpkg is not.
is_ready() {
  local name
  for name in "${commands[@]}"; do command -v "$name" >/dev/null || return 1; done
  [ ${#either[@]} -eq 0 ] || is_any_there "${either[@]}" || return 1
  for name in "${built[@]}"; do ! probe_is_old "$root/build/$name/.built" || return 1; done
}

is_any_there() { # file ...
  local name
  for name in "$@"; do [ ! -f "$name" ] || return 0; done
  return 1
}

make_ready() {
  need_packages "${packages[@]}"
  local name
  for name in "${built[@]}"; do
    case $name in probe) need_probe ;; *) need_cross_probe "${name#cross/}" ;; esac
  done
}

# The keys of the Debian archive, as KEYRINGS of src/howlate/lab/archive/apt.py: one of them is enough.
keyrings=(/usr/share/keyrings/debian-archive-keyring.{gpg,pgp})
commands=() either=() packages=() built=()
case ${1:-}:${2:-} in
  own:) built=(probe) packages=("${packages_run[@]}") ;;
  archive:) commands=(gpgv) either=("${keyrings[@]}") packages=(gpgv debian-archive-keyring) ;;
  guest:amd64 | guest:arm64)
    emulator=qemu-system-x86 arch=x86_64
    [ "$2" = amd64 ] || emulator=qemu-system-arm arch=aarch64
    commands=("qemu-system-$arch" gpgv zstd make)
    # Guests are possible without these: a keyring can be given, and debootstrap is root's. So they stop nobody who cannot install them.
    [ "$(id -u)" != 0 ] || [ "$install" = no ] || { commands+=(debootstrap) && either=("${keyrings[@]}"); }
    packages=("${packages_lab[@]}" "$emulator")
    [ "$arch" = "$(uname -m)" ] || built=("cross/$arch") packages+=("${packages_run[@]}" "$(cross_package "$arch")")
    ;;
  probe:*)
    shift
    [ $# -gt 0 ] || set -- "${cross_all[@]}"
    packages=("${packages_run[@]}")
    for arch in "$@"; do
      cross_tools "$arch" >/dev/null || die $EXIT_USAGE "there is no probe for '$arch'; there are ${cross_all[*]}"
      built+=("cross/$arch")
      mapfile -t -O ${#packages[@]} packages < <(cross_package "$arch")
    done
    ;;
  *) die $EXIT_USAGE "say what: own, archive, guest amd64|arm64, or probe and the architecture" ;;
esac
is_ready || with_lock make_ready
