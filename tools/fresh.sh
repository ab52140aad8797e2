#!/usr/bin/env bash
# The README's two commands on a bare system of its own making: git, ca-certificates and what the distribution marks as essential.
#   ./dev fresh                                   both on Debian 12
#   ./dev fresh wheel [--suite SUITE]             the wheel of `./dev wheel`, where there is Python and no compiler
#   ./dev fresh check|test [--suite SUITE] [PYTEST ARGUMENTS]   one of them, on Debian (bookworm, trixie, ...) or Ubuntu (noble, ...)
# The system is made with debootstrap in a temporary folder and is gone afterwards. It takes over from this host how the archive and
# the package index are reached (apt's mirror, pip's configuration, trusted certificates, name servers) and nothing else.
# The archive is the first that has the suite: of --mirror URL, which may be repeated, and the addresses of this host's apt.
# --record FILE notes, as lines of NAME=VALUE, how the commands ended and what they took (tools/systems.py reads it).
# Exit code 3: the suite's archive cannot be reached from here; else the code of the last command.
set -eu
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
# shellcheck source=tools/setup.sh
. "$root/tools/setup.sh"

original=("$@")
which=both
case ${1:-} in both | check | test | wheel) which=$1 && shift ;; esac
suite=bookworm
record=
arguments=() mirrors=()
while [ $# -gt 0 ]; do
  case $1 in
    --suite) [ $# -gt 1 ] || die $EXIT_USAGE "--suite needs a name, such as trixie"; suite=$2 && shift ;;
    --suite=*) suite=${1#*=} ;;
    --mirror) [ $# -gt 1 ] || die $EXIT_USAGE "--mirror needs an address"; mirrors+=("$2") && shift ;;
    --mirror=*) mirrors+=("${1#*=}") ;;
    --record) [ $# -gt 1 ] || die $EXIT_USAGE "--record needs a file"; record=$(realpath "$2") && shift ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
[ "$which" = test ] || [ ${#arguments[@]} -eq 0 ] ||
  die $EXIT_USAGE "there is no './dev fresh ${arguments[*]}'; choose check, test or wheel, --suite SUITE and --mirror URL"
case $suite in
  bullseye | bookworm | trixie | forky | sid) distribution=debian origin=Debian components=main script=sid ;;
  focal | jammy | noble | resolute) distribution=ubuntu origin=Ubuntu components=main,universe script=gutsy ;;
  *) die $EXIT_USAGE "the suite '$suite' is not known here; choose bookworm, trixie, jammy, noble or resolute" ;;
esac
wheel=$(find "$root/build/wheel" -name '*.whl' 2>/dev/null | head -n 1)
[ "$which" != wheel ] || [ -n "$wheel" ] || die $EXIT_NOT_POSSIBLE "there is no wheel in build/wheel. Build it first: ./dev wheel"
[ "$(id -u)" = 0 ] || die $EXIT_NOT_POSSIBLE "a bare system is made with debootstrap, which only root can run. Call it as root"
need_packages debootstrap git curl gpg debian-archive-keyring
[ -z "$(git -C "$root" status --porcelain --untracked-files=no)" ] || say "changes that are not committed are not part of what is tried"

known=$(PYTHONPATH=$root/src "$root/.venv/bin/python" -P "$root/tools/archive_addresses.py" $origin "$suite") || exit
[ -z "$known" ] || mapfile -t -O ${#mirrors[@]} mirrors <<<"$known"
mirror=
for address in "${mirrors[@]}"; do
  ! curl --silent --fail --location --max-time 60 --output /dev/null "${address%/}/dists/$suite/InRelease" || { mirror=$address && break; }
done
[ -n "$mirror" ] || die $EXIT_NOT_POSSIBLE "$suite was not tried: it is at no address of the archive of $origin that this machine's apt or" \
  "--mirror names (${mirrors[*]:-there is none}). Name one that can be reached: --mirror URL"

# A mount namespace of its own: what is mounted below is gone with it, however this ends.
[ "${HOWLATE_FRESH:-}" = inside ] || HOWLATE_FRESH=inside exec unshare --mount --propagation private "${BASH_SOURCE[0]}" "${original[@]}"

bare=$(mktemp -d "${TMPDIR:-/tmp}/howlate-fresh.XXXXXX")
trap 'umount --recursive "$bare" 2>/dev/null; rm -rf --one-file-system "$bare" "$bare.log" "$bare.keys"' EXIT
mount --bind "$bare" "$bare" # a root that is a mount, as every system's: else nothing there can have mounts of its own

# Ubuntu's keys are no package of Debian's: they come from its archive, and of them the one with this fingerprint is believed.
ubuntu_key=F6ECB3762474EDA9D21B7022871920D1991BC93C # "Ubuntu Archive Automatic Signing Key (2018)"
ubuntu_keyring() { # folder to make it in
  local folder=$1 package
  package=$(curl --silent --fail --max-time 60 "${mirror%/}/dists/$suite/main/binary-amd64/Packages.gz" | gzip -dc |
    sed -n 's|^Filename: \(.*/ubuntu-keyring_.*\.deb\)$|\1|p' | head -n 1)
  curl --silent --fail --max-time 60 --output "$folder/keys.deb" "${mirror%/}/$package" && dpkg-deb -x "$folder/keys.deb" "$folder/keys" &&
    gpg --batch --quiet --homedir "$folder" --import "$folder/keys/usr/share/keyrings/ubuntu-archive-keyring.gpg" 2>/dev/null &&
    gpg --batch --quiet --homedir "$folder" --export "$ubuntu_key" >"$folder/ubuntu.gpg" && [ -s "$folder/ubuntu.gpg" ]
}
keyring=/usr/share/keyrings/$distribution-archive-keyring.gpg
if [ ! -e "$keyring" ]; then
  mkdir -m 700 "$bare.keys"
  ubuntu_keyring "$bare.keys" || die $EXIT_BROKEN "the archive's keyring has no key $ubuntu_key"
  keyring=$bare.keys/ubuntu.gpg
fi

say "making a bare system ($suite)"
debootstrap --variant=minbase --include=git,ca-certificates --components="$components" \
  --keyring="$keyring" "$suite" "$bare" "$mirror" \
  "/usr/share/debootstrap/scripts/$script" >"$bare.log" 2>&1 ||
  { tail -n 5 "$bare.log" >&2; die $EXIT_BROKEN "debootstrap failed"; }

chmod 755 "$bare" # it is the root folder of a system with other users than root
echo '127.0.0.1 localhost' >"$bare/etc/hosts"

# How this host reaches the outside.
cp --dereference /etc/resolv.conf "$bare/etc/resolv.conf"
cp -r /usr/local/share/ca-certificates/. "$bare/usr/local/share/ca-certificates/"
[ ! -e /etc/pip.conf ] || cp --dereference /etc/pip.conf "$bare/etc/pip.conf"
chroot "$bare" env -u TMPDIR update-ca-certificates >/dev/null 2>&1 || die $EXIT_BROKEN "the certificates could not be taken over"
mount -t proc proc "$bare/proc"
mount --rbind /sys "$bare/sys"
mount --rbind /dev "$bare/dev"
mkdir -p "$bare/dev/shm"

# An installed Ubuntu has its updates too, and 22.04 has the Python that howlate needs only there.
if [ "$distribution" = ubuntu ]; then
  echo "deb $mirror $suite-updates ${components//,/ }" >>"$bare/etc/apt/sources.list"
  chroot "$bare" env -u TMPDIR apt-get --quiet --quiet update >"$bare.log" 2>&1 ||
    { tail -n 5 "$bare.log" >&2; die $EXIT_BROKEN "the updates of $suite could not be listed"; }
fi

if [ "$which" = wheel ]; then
  mkdir "$bare/root/howlate" # a folder to work in: the checkout is not there
  cp "$wheel" "$bare/root/howlate/"
else
  git clone --quiet --no-hardlinks "$root" "$bare/root/howlate"
fi

note() { # NAME=VALUE ...
  [ -z "$record" ] || printf '%s\n' "$@" >>"$record"
}

# CPU seconds of all commands that have ended.
cpu_s() {
  local fields
  read -r -a fields </proc/$$/stat # of this script: a command substitution is a process of its own
  echo $(((fields[15] + fields[16]) / $(getconf CLK_TCK)))
}

# MB of what was fetched and is still there: packages of apt, of pip and of the lab's archive.
fetched_mb() {
  find "$bare/var/cache/apt/archives" "$bare/root/.cache" \( -name '*.deb' -o -path '*/pip/*' \) -type f -printf '%s\n' 2>/dev/null |
    awk '{ bytes += $1 } END { printf "%d\n", bytes / 1e6 }'
}

disk_mb() { # without what is mounted in it
  du --summarize --one-file-system --block-size=MB "$bare" | sed 's/MB.*//'
}

# The version that a program of the bare system says it has.
version() { # command ...
  chroot "$bare" env -i PATH=/root/howlate/build/sshd/usr/sbin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@" 2>&1 | sed -n 's/^[^0-9]*\([0-9][0-9.p]*\).*/\1/p;q'
}

inside() { # command ...
  say "on the bare system: $*"
  local started=$SECONDS code=0 name=${1##*/} before
  [ "$name" != dev ] || name="test"
  [ "$name" != howlate ] || name="check"
  before=$(cpu_s) fetched=$(fetched_mb) disk=$(disk_mb)
  chroot "$bare" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    TERM="${TERM:-dumb}" HOWLATE_OUTCOMES=/root/outcomes.json sh -c 'cd /root/howlate && exec "$@"' sh "$@" </dev/null || code=$?
  say "'$*' ended with exit code $code after $((SECONDS - started)) s"
  note "$name.code=$code" "$name.wall_s=$((SECONDS - started))" "$name.cpu_s=$(($(cpu_s) - before))" \
    "$name.fetched_mb=$(($(fetched_mb) - fetched))" "$name.disk_mb=$(($(disk_mb) - disk))"
  # The system goes with this script, and the compiler's output with it.
  [ "$code" = 0 ] || grep --no-messages --max-count=10 --regexp='error:' "$bare/root/howlate/build/probe/build.log" >&2 || true
  return "$code"
}

if [ "$which" = wheel ]; then
  inside sh -c 'DEBIAN_FRONTEND=noninteractive apt-get install -qq --no-install-recommends python3-venv >/dev/null 2>&1'
  inside python3 -m venv /opt/howlate
  inside /opt/howlate/bin/pip install --quiet "./${wheel##*/}"
  inside /opt/howlate/bin/howlate check
  exit
fi
note "commit=$(git -C "$root" rev-parse --short=8 HEAD)"
code=0
[ "$which" = test ] || inside ./howlate check || code=$?
[ "$which" = check ] || { [ "$code" != 0 ] && [ -z "$record" ]; } || inside ./dev test "${arguments[@]}" || code=$?
note "gcc=$(version g++ -dumpfullversion)" "python=$(version /root/howlate/.venv/bin/python --version)" \
  "qemu=$(version qemu-system-x86_64 --version)" "openssh=$(version sshd -V)"
[ -z "$record" ] || [ ! -e "$bare/root/outcomes.json" ] || cp "$bare/root/outcomes.json" "$record.outcomes.json"
exit "$code"
