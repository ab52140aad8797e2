# Sourced by ./howlate, ./dev and tools/ready.sh: installs what is missing, makes the virtual environment, builds the probe.
# Each step leaves a stamp behind itself, written last, so that a step that was cut off is done again and one that is done
# costs a few file comparisons. Expects $root.
# shellcheck shell=bash disable=SC2034

: "${root:?}"

# The exit codes of docs/architecture.md.
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

# What `./howlate` needs on Debian beyond its essential packages: itself, and to build the probe.
packages_python=(python3 python3-venv)
packages_run=(cmake g++ ninja-build "${packages_python[@]}")

# What the lab needs besides QEMU: the archive's keys and their check, unpacking, what builds modules (for a kernel of another suite in
# a root of it).
packages_lab=(debian-archive-keyring gpgv zstd make debootstrap)

# The architectures that the probe is built for, by their names in build/cross/.
cross_all=(x86_64 aarch64 armv7 riscv64)

# What the sources ask of a system.
least_python=3.11
least_gxx=11
least_cmake=3.22

# May packages be installed? "ask" does on a terminal and refuses without one, "unasked" goes on there (the README's two commands).
install=${HOWLATE_INSTALL:-ask}
case $install in ask | unasked | yes | no) ;; *) die $EXIT_USAGE "HOWLATE_INSTALL is '$install'; set it to yes, no or ask" ;; esac
agreed=no

# launcher_options ARGUMENT ...: what stands before the command sets $install; $taken says how many words that were.
launcher_options() {
  taken=0
  while [ $# -gt 0 ]; do
    case $1 in --yes) install=yes ;; --no-install) install=no ;; *) return 0 ;; esac
    taken=$((taken + 1))
    shift
  done
}

# The name by which the caller can call the launcher $1 again, as it has to be typed.
name_to_type() { # $0 of the launcher
  local found
  found=$(type -P "${1##*/}" || true)
  case $1 in
    "$found") printf '%s' "${1##*/}" ;;
    */*) printf '%q' "$1" ;;
    *) printf './%q' "$1" ;;
  esac
}

missing_packages() { # package ...: prints those that dpkg does not know as installed
  local name
  for name in "$@"; do
    case $name in
      python3) ;; # comes with the next
      python3-venv) find_python >/dev/null || python_packages ;;
      *) [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || printf '%s\n' "$name" ;;
    esac
  done
}

# The version that apt would install; nothing where its lists do not have it.
candidate() { # package
  LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^  Candidate: \([^(].*\)$/\1/p' | sed 's/^[0-9]*://'
}

at_least() { # version least
  [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]
}

# The packages of the distribution's Python; where that is too old, of a newer one beside it (Ubuntu 22.04 has one).
python_packages() {
  local version minor
  version=$(candidate python3-venv)
  if [ -n "$version" ] && ! at_least "$version" "$least_python"; then
    for minor in 14 13 12 11; do
      [ -n "$(candidate "python3.$minor-venv")" ] && printf '%s\n' "python3.$minor" "python3.$minor-venv" && return
    done
  fi
  printf '%s\n' python3 python3-venv
}

# The version of a package: what apt would install; where there is no apt, what its command says.
version_of() { # package
  if command -v apt-cache >/dev/null; then candidate "$1"; return; fi
  case $1 in
    python3) python3 -I -c 'import sys; print("%d.%d" % sys.version_info[:2])' ;;
    g++) case $("${CXX:-c++}" --version) in *"Free Software Foundation"*) "${CXX:-c++}" -dumpversion ;; esac ;;
    cmake) cmake --version | sed -n 's/^cmake version //p' ;;
  esac 2>/dev/null
}

# Refuses a system whose own Python, compiler or CMake the sources cannot be built with, before anything is installed.
refuse_old() { # package ...
  local name version old=() list
  for name in "$@"; do
    version=$(version_of "$name")
    [ -n "$version" ] || continue
    case $name in
      python3) at_least "$version" $least_python || old+=("Python ${version%%-*} instead of $least_python or newer") ;;
      g++) [ -n "${CXX:-}" ] || at_least "$version" $least_gxx || old+=("GCC ${version%%-*} instead of $least_gxx or newer") ;;
      cmake) at_least "$version" $least_cmake || old+=("CMake ${version%%-*} instead of $least_cmake or newer") ;;
    esac
  done
  [ ${#old[@]} -gt 0 ] || return 0
  list=$(printf ', %s' "${old[@]}")
  die $EXIT_NOT_POSSIBLE "this system is too old for howlate: it has ${list:2}. Nothing was installed. Use Debian 12 or newer or" \
    "Ubuntu 22.04 (with its updates) or newer; or measure this machine from such a one, over SSH, with nothing installed here:" \
    "./howlate run check --target ssh:root@$(uname -n)"
}

# What installing them costs, in apt's own figures: "61 packages, 95.0 MB to fetch, 378 MB on disk".
apt_cost() { # package ...
  LC_ALL=C apt-get install --assume-no --no-install-recommends -o Debug::NoLocking=1 "$@" 2>/dev/null | sed -n -E \
    -e 's/^.* ([0-9]+) newly installed.*/\1 packages/p; s/^ .*Installing: ([0-9]+),.*/\1 packages/p' \
    -e 's/^Need to get ([0-9.,]+ [kMG]?B).*/\1 to fetch/p; s|^Need to get [0-9.,]+ [kMG]?B/([0-9.,]+ [kMG]?B).*|\1 to fetch|p' \
    -e 's/^ +Download size: ([0-9.,]+ [kMG]?B).*/\1 to fetch/p' \
    -e 's/^After this operation, ([0-9.,]+ [kMG]?B) of additional.*/\1 on disk/p; s/^ +Space needed: ([0-9.,]+ [kMG]?B).*/\1 on disk/p' |
    paste -s -d , - | sed 's/,/, /g'
}

# Asks on the caller's terminal, wherever the output goes: 0 is yes, 1 no, 2 that there is no terminal to ask on.
ask() { # question
  local answer terminal
  [ -t 0 ] || return 2
  if { : >/dev/tty; } 2>/dev/null; then
    terminal=/dev/tty
  elif [ -t 2 ]; then
    terminal=/dev/stderr
  elif [ -t 1 ]; then
    terminal=/dev/stdout
  else
    return 2
  fi
  printf 'howlate: %s [Y/n] ' "$1" >"$terminal"
  read -r answer || return 1
  case $answer in [nN]*) return 1 ;; esac
}

# Goes on where that was said before ($install), or is said now on the terminal.
agree() { # question, command that does the same
  local answer=0
  [ "$install" != yes ] && [ $agreed = no ] || return 0
  ask "$1" || answer=$?
  [ $answer != 1 ] || die $EXIT_NOT_POSSIBLE "nothing was installed. To do it: $2"
  [ $answer = 0 ] || [ "$install" = unasked ] ||
    die $EXIT_NOT_POSSIBLE "nothing was installed, as there is no terminal to ask on. To do it: $2" \
      "(or write --yes before the command, or set HOWLATE_INSTALL=yes)"
  agreed=yes
}

# Installs the Debian packages that are missing, if $install and whoever sits at the terminal agree; else names them.
need_packages() { # package ...
  command -v dpkg-query >/dev/null || {
    need_commands "$@"
    return
  }
  local missing command cost="" update=""
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -eq 0 ] && return
  if [ -z "$(candidate "${missing[0]}")" ]; then # no lists, as on a system that was just made
    update="apt-get update && "
    if [ "$(id -u)" = 0 ] && [ "$install" != no ]; then
      apt-get update >/dev/null 2>&1 || true # what it could not do shows when packages are fetched
      mapfile -t missing < <(missing_packages "$@")
    fi
  fi
  refuse_old "${missing[@]}"
  cost=$(apt_cost "${missing[@]}")
  say "these packages are missing: ${missing[*]}${cost:+ (with what they need: $cost)}"
  command="${update}apt-get install --no-install-recommends ${missing[*]}"
  [ "$install" != no ] || die $EXIT_NOT_POSSIBLE "nothing was installed. To install them: $command"
  [ "$(id -u)" = 0 ] || die $EXIT_NOT_POSSIBLE "only root can install them. As root: $command"
  agree "install ${missing[*]}${cost:+ ($cost)}?" "$command"
  install_packages "${missing[@]}"
}

install_packages() { # package ...
  say "installing them (a minute or two)"
  local log=$root/build/apt.log
  mkdir -p "$root/build"
  export DEBIAN_FRONTEND=noninteractive
  # The lists may be absent or old: a first try without an update is quick where they are not.
  apt-get install -y --no-install-recommends "$@" >"$log" 2>&1 ||
    { apt-get update && apt-get install -y --no-install-recommends "$@"; } >"$log" 2>&1 || {
    tail -n 5 "$log" >&2
    die $EXIT_BROKEN "apt-get could not install them; its output is in $log. Without a network: install them from a medium or a mirror" \
      "of your own and call again; or measure this machine over SSH from another one, with nothing installed here"
  }
}

# Elsewhere than on Debian: say which commands are missing, install nothing.
need_commands() { # package ...
  local name missing=()
  for name in "$@"; do
    case $name in
      g++) name=${CXX:-c++} ;;
      ninja-build) name=ninja ;;
      cmake | python3) ;;
      *) continue ;;
    esac
    command -v "$name" >/dev/null || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] ||
    die $EXIT_NOT_POSSIBLE "this is not Debian, and these commands are missing: ${missing[*]}. Install them, and the static C and C++" \
      "libraries (glibc-static and libstdc++-static on Fedora), and call again"
  find_python >/dev/null || refuse_old python3
  refuse_old g++ cmake
}

# A Python that is new enough and can make a virtual environment: the system's own first.
find_python() {
  local python
  for python in /usr/bin/python3 python3 python3.14 python3.13 python3.12 python3.11; do
    "$python" -I -c "import sys, venv, ensurepip; sys.exit(sys.version_info[:2] < tuple(map(int, '$least_python'.split('.'))))" 2>/dev/null && {
      printf '%s\n' "$python"
      return
    }
  done
  return 1
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

# Is there a virtual environment that can tell the help, whatever its age?
can_speak() {
  ! venv_is_old "$root/requirements.lock" || "$root/.venv/bin/python" -I -c 'import click, polib, rich' 2>/dev/null
}

# need_venv LOCK: the virtual environment holds what LOCK pins, by hash.
need_venv() {
  local lock=$1
  local stamp
  stamp=$root/.venv/.$(basename "$lock")
  venv_is_old "$lock" || return 0
  if ! "$root/.venv/bin/python" -I -c 'import pip' 2>/dev/null; then
    local python
    python=$(find_python) ||
      die $EXIT_NOT_POSSIBLE "no Python of $least_python or newer with venv was found. Install one, python3 and python3-venv on Debian"
    [ "$install" = no ] || agree "fetch the Python packages into $root/.venv (about 60 MB, 180 MB on disk)?" "${HOWLATE_COMMAND:-./howlate} check"
    say "making the virtual environment"
    rm -rf "$root/.venv"
    "$python" -I -m venv "$root/.venv" || die $EXIT_BROKEN "the virtual environment could not be made in $root/.venv"
  fi
  say "installing the Python packages of $(basename "$lock")"
  local log=$root/build/pip.log
  mkdir -p "$root/build"
  "$root/.venv/bin/python" -I -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$lock" >"$log" 2>&1 || {
    grep '^ERROR' "$log" | head -n 3 >&2
    die $EXIT_BROKEN "pip could not install what $lock names; its output is in $log. Without a network: on a machine with one and the"       "same Python, \`python3 -m pip download --require-hashes --only-binary :all: -r $(basename "$lock") -d wheels\`; bring the folder"       "wheels here and call again with PIP_NO_INDEX=1 PIP_FIND_LINKS=\$PWD/wheels"
  }
  cp "$lock" "$stamp"
}

# Are flags given that this folder was not built with? Where none are given, what was built stays.
flags_differ() { # folder
  local given=${CXX:-}/${CXXFLAGS:-}/${LDFLAGS:-} before=
  [ "$given" != // ] || return 1
  [ ! -e "$1/.flags" ] || read -r before <"$1/.flags"
  [ "$given" != "$before" ]
}

# Is the probe beside this stamp gone, or anything that it is built from newer?
probe_is_old() { # stamp
  [ ! -e "$1" ] || [ ! -x "${1%/*}/howlate-probe" ] || flags_differ "${1%/*}" || [ -n "$(find "$root/probe" \( -type d -o -name '*.[ch]pp' -o -name 'CMakeLists.txt' -o -name '*.in' \) -newer "$1" -print -quit)" ]
}

# Was this folder configured elsewhere, before the checkout was moved or copied? CMake refuses such a folder.
is_from_elsewhere() { # folder
  local kept=$1/CMakeCache.txt
  [ -e "$kept" ] || return 1
  ! { grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root/probe" "$kept" && grep -qxF "CMAKE_CACHEFILE_DIR:INTERNAL=$(cd "$1" && pwd -P)" "$kept"; }
}

# log_build FILE: writes what a build prints into FILE, and on a terminal how many files are built, once a second at least
log_build() {
  local line='' part='' built=0 of=0 since=$SECONDS drawn='' left
  : >"$1"
  while :; do
    if IFS= read -r -t 1 part; then
      line+=$part
      printf '%s\n' "$line" >>"$1"
      if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then built=${BASH_REMATCH[1]} of=${BASH_REMATCH[2]}; fi
      line=''
    elif [ $? -gt 128 ]; then
      line+=$part # no whole line within the second
    else
      printf '%s' "$line$part" >>"$1"
      break
    fi
    if [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; then
      drawn="looking at the compiler, $((SECONDS - since)) s"
      if [ "$built" -gt 0 ]; then
        left=$(((SECONDS - since) * (of - built) / built))
        printf -v drawn '%s of %s files  time left %d:%02d' "$built" "$of" $((left / 60)) $((left % 60))
      fi
      printf '\r  %s\033[K' "$drawn" >&2
    fi
  done
  [ -z "$drawn" ] || printf '\r\033[K' >&2
}

# build_probe DIRECTORY TARGET [cmake option ...]; with $werror=ON warnings are errors
build_probe() {
  local directory=$1 target=$2
  shift 2
  local log=$directory/build.log
  if is_from_elsewhere "$directory"; then rm -rf "$directory"; fi
  mkdir -p "$directory"
  # CMake takes flags from the environment once, when it first looks at a folder.
  if flags_differ "$directory"; then rm -rf "$directory/CMakeCache.txt" "$directory/CMakeFiles"; fi
  [ -z "${CXX:-}${CXXFLAGS:-}${LDFLAGS:-}" ] || printf '%s\n' "${CXX:-}/${CXXFLAGS:-}/${LDFLAGS:-}" >"$directory/.flags"
  { cmake -S "$root/probe" -B "$directory" -G Ninja -DHOWLATE_WERROR="${werror:-OFF}" "$@" &&
    NINJA_STATUS='[%f/%t] ' cmake --build "$directory" --target "$target"; } 2>&1 | log_build "$log"
  [ "${PIPESTATUS[0]}" = 0 ] || {
    rm -rf "$directory/CMakeCache.txt" "$directory/.flags" # the next try shall not keep what may have been the fault
    grep -E 'error|Error' "$log" | head -n 10 >&2
    die $EXIT_BROKEN "the probe could not be built; the compiler's output is in $log. GCC 12 and 14 are known to build it: choose one with" \
      "CXX=g++-14, say. Flags of your own are taken from CXXFLAGS and LDFLAGS. If a compiler among these fails, please report it with that file"
  }
}

need_probe() {
  local stamp=$root/build/probe/.built
  probe_is_old "$stamp" || return 0
  say "building the probe (about a minute)"
  local started
  started=$(mktemp)  # sources changed while it builds are newer than this
  werror=OFF build_probe "$root/build/probe" howlate-probe
  mv "$started" "$stamp"
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
