# Sourced by ./howlate and ./dev: installs what is missing, makes the virtual environment, builds the probe.
# Each step leaves a stamp behind itself, written last, so that a step that was cut off is done again and one that is done
# costs a few file comparisons. Expects $root; sets $built to yes when anything was made.
# shellcheck shell=bash disable=SC2034

built=no
: "${root:?}"

# Exit codes of DESIGN.md.
EXIT_USAGE=2
EXIT_NOT_POSSIBLE=3
EXIT_BROKEN=4

say() { printf 'howlate: %s\n' "$*" >&2; }
die() { # code, sentence ...
  local code=$1
  shift
  say "$*"
  exit "$code"
}

# What `./howlate` needs on Debian beyond its essential packages.
packages_run=(cmake g++ ninja-build python3 python3-venv)

# What the lab needs besides: the archive's keys and their check, unpacking, what builds modules (for a kernel of another suite
# in a root of it), and QEMU for guests of this machine's kind.
lab_packages() {
  printf '%s\n' debian-archive-keyring gpgv zstd make debootstrap
  case $(uname -m) in aarch64) echo qemu-system-arm ;; *) echo qemu-system-x86 ;; esac
}

# Looked for by their commands: nearly free, where asking dpkg is not. (debootstrap's is not on everybody's PATH.)
lab_is_ready() {
  local name emulator=qemu-system-x86_64
  [ "$HOSTTYPE" = aarch64 ] && emulator=qemu-system-aarch64
  for name in "$emulator" gpgv zstd make; do command -v "$name" >/dev/null || return 1; done
}

# Is a command of the lab called, and not merely its help? Costs nothing for the other commands.
wants_lab() { # argument ...
  local word lab=no
  [ "${1:-}" = lab ] && [ $# -gt 1 ] && lab=yes
  for word in "$@"; do
    case $word in
      lab:* | --target=lab | --target=lab:*) lab=yes ;;
      -h | --help) return 1 ;;
    esac
  done
  [ "${1:-}" != lab ] && [[ " $* " == *" --target lab "* ]] && lab=yes
  [ $lab = yes ]
}

# The architectures that the probe is built for, by their names in build/cross/.
cross_all=(x86_64 aarch64 armv7 riscv64)

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
  tools=$(cross_tools "$1") || return 1
  [ "$1" = "$(uname -m)" ] || echo "g++-${tools//_/-}"
}

# Guests of the lab, by Debian's name: their emulator's package, and the architecture of their probe.
guest_emulator() { case $1 in amd64) echo qemu-system-x86 ;; arm64) echo qemu-system-arm ;; *) return 1 ;; esac; }
guest_architecture() { case $1 in amd64) echo x86_64 ;; arm64) echo aarch64 ;; *) return 1 ;; esac; }

missing_packages() { # package ...: prints those that dpkg does not know as installed
  local name
  for name in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || printf '%s\n' "$name"
  done
}

# Names the Debian packages that are missing and installs them: asks first on a terminal, goes on without one.
# With $install = no it only names them.
need_packages() { # package ...
  command -v dpkg-query >/dev/null || {
    need_commands
    return
  }
  local missing
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -eq 0 ] && return
  say "these Debian packages are missing: ${missing[*]}"
  local command="apt-get install --no-install-recommends ${missing[*]}"
  [ "${install:-yes}" = yes ] || die $EXIT_NOT_POSSIBLE "nothing was installed. To install them: $command"
  [ "$(id -u)" = 0 ] || die $EXIT_NOT_POSSIBLE "only root can install them. As root: $command"
  if [ -t 0 ] && [ -t 2 ]; then
    local answer
    read -r -p "howlate: install them now? [Y/n] " answer
    case $answer in [nN]*) die $EXIT_NOT_POSSIBLE "nothing was installed. To install them: $command" ;; esac
  fi
  say "installing them (about a minute)"
  local log=$root/build/apt.log
  mkdir -p "$root/build"
  export DEBIAN_FRONTEND=noninteractive
  # The lists may be absent or old: a first try without an update is quick where they are not.
  apt-get install -y --no-install-recommends "${missing[@]}" >"$log" 2>&1 ||
    { apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 ||
    { tail -n 5 "$log" >&2; die $EXIT_BROKEN "apt-get failed; its output is in $log"; }
  built=yes
}

# Elsewhere than on Debian: say which commands are missing, install nothing.
need_commands() {
  local name missing=()
  for name in cmake c++ ninja python3; do command -v "$name" >/dev/null || missing+=("$name"); done
  [ ${#missing[@]} -eq 0 ] ||
    die $EXIT_NOT_POSSIBLE "this is not Debian, and these commands are missing: ${missing[*]}. Install them and call again"
}

# A Python of 3.11 or newer that can make a virtual environment: Debian's own first.
find_python() {
  local python
  for python in /usr/bin/python3 python3 python3.13 python3.12 python3.11; do
    "$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && {
      printf '%s\n' "$python"
      return
    }
  done
  die $EXIT_NOT_POSSIBLE "no Python of 3.11 or newer with venv was found. Install python3 and python3-venv of a newer distribution"
}

# venv_is_old LOCK: it does not hold what LOCK pins, or was made for a Python that has been replaced since.
venv_is_old() {
  # The stamp is a copy of the lock, so that a change of branch is seen whatever the times say.
  cmp -s "$1" "$root/.venv/.$(basename "$1")" && [ -x "$root/.venv/bin/python" ] || return 0
  local interpreter
  interpreter=$(readlink -f "$root/.venv/bin/python")
  interpreter=${interpreter##*/}
  [[ $interpreter == python3.* ]] && [ ! -d "$root/.venv/lib/$interpreter" ]
}

# need_venv LOCK: the virtual environment holds what LOCK pins, by hash.
need_venv() {
  local lock=$1
  local stamp
  stamp=$root/.venv/.$(basename "$lock")
  venv_is_old "$lock" || return 0
  if ! "$root/.venv/bin/python" -c 'import pip' 2>/dev/null; then
    local python
    python=$(find_python) || exit $?
    say "making the virtual environment"
    rm -rf "$root/.venv"
    "$python" -m venv "$root/.venv" || die $EXIT_BROKEN "the virtual environment could not be made in $root/.venv"
  fi
  say "installing the Python packages of $(basename "$lock")"
  "$root/.venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$lock" ||
    die $EXIT_BROKEN "pip could not install $lock; its message stands above"
  cp "$lock" "$stamp"
  built=yes
}

# Is the probe beside this stamp gone, or anything that it is built from newer?
probe_is_old() { # stamp
  [ ! -e "$1" ] || [ ! -x "${1%/*}/howlate-probe" ] || [ -n "$(find "$root/probe" \( -type d -o -name '*.[ch]pp' -o -name 'CMakeLists.txt' -o -name '*.in' \) -newer "$1" -print -quit)" ]
}

# build_probe DIRECTORY TARGET [cmake option ...]
build_probe() {
  local directory=$1 target=$2
  shift 2
  local log=$directory/build.log
  mkdir -p "$directory"
  { cmake -S "$root/probe" -B "$directory" -G Ninja "$@" && cmake --build "$directory" --target "$target"; } >"$log" 2>&1 || {
    grep -E 'error|Error' "$log" | head -n 10 >&2
    die $EXIT_BROKEN "the probe could not be built; the compiler's output is in $log"
  }
}

# The static probe for an architecture, with Debian's cross compiler: build/cross/ARCHITECTURE/howlate-probe. This machine's own is
# the one in build/probe, which is static as well.
need_cross_probe() { # architecture
  local arch=$1 tools
  local directory=$root/build/cross/$arch stamp
  stamp=$directory/.built
  if [ "$arch" = "$(uname -m)" ]; then
    need_probe
    mkdir -p "$directory"
    cmp -s "$root/build/probe/howlate-probe" "$directory/howlate-probe" || cp "$root/build/probe/howlate-probe" "$directory/"
    cp --preserve=timestamps "$root/build/probe/.built" "$stamp" # as old as the build, though the copy may be older
    return
  fi
  probe_is_old "$stamp" || return 0
  tools=$(cross_tools "$arch")
  say "building the probe for $arch (about a minute)"
  local started
  started=$(mktemp)
  build_probe "$directory" howlate-probe -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="${tools%%-*}" \
    -DCMAKE_CXX_COMPILER="$tools-g++"
  mv "$started" "$stamp"
}

need_probe() {
  local stamp=$root/build/probe/.built
  probe_is_old "$stamp" || return 0
  say "building the probe (about a minute)"
  local started
  started=$(mktemp)  # sources changed while it builds are newer than this
  build_probe "$root/build/probe" howlate-probe
  mv "$started" "$stamp"
  built=yes
}

# The tests' SSH server: Debian's package unpacked into build/sshd and not installed, since its installation makes a user and host
# keys, enables a service and starts it on port 22. One that is installed already is taken as it is.
need_sshd() {
  [ -x /usr/sbin/sshd ] || [ -x "$root/build/sshd/usr/sbin/sshd" ] && return
  command -v dpkg-deb >/dev/null || return 0 # not Debian: the tests say that there is none
  say "unpacking an SSH server for the tests (it is not installed)"
  local work log=$root/build/apt.log
  work=$(mktemp -d)
  chmod 755 "$work"
  { (cd "$work" && apt-get download openssh-server) && dpkg-deb -x "$work"/openssh-server_*.deb "$work/sshd" &&
    mv "$work/sshd" "$root/build/sshd"; } >"$log" 2>&1 ||
    { rm -rf "$work"; tail -n 5 "$log" >&2; die $EXIT_BROKEN "the SSH server could not be unpacked; the output is in $log"; }
  rm -rf "$work"
}

# One launcher at a time builds; the others wait for it.
with_lock() {
  if ! { mkdir -p "$root/build" && touch "$root/build/.lock"; } 2>/dev/null; then
    die $EXIT_NOT_POSSIBLE "$root cannot be written, and howlate builds in place. Clone it to a folder of yours"
  fi
  exec 8>>"$root/build/.lock"
  flock 8
  "$@"
  exec 8>&-
}
