#!/usr/bin/env bash
# The README's two commands on a bare Debian 12 of its own making: git, ca-certificates and what Debian marks as essential.
#   ./dev fresh           both          ./dev fresh check | test [PYTEST ARGUMENTS]     one of them
# The system is made with debootstrap in a temporary folder and is gone afterwards. It takes over from this host how the archive and
# the package index are reached (apt's mirror, pip's configuration, trusted certificates, name servers) and nothing else.
set -eu
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
# shellcheck source=tools/setup.sh
. "$root/tools/setup.sh"

which=${1:-both}
arguments=("${@:2}")
case $which in both | check | test) ;; *) die $EXIT_USAGE "there is no './dev fresh $which'; choose check, test or nothing" ;; esac
[ "$(id -u)" = 0 ] || die $EXIT_NOT_POSSIBLE "a bare system is made with debootstrap, which only root can run. Call it as root"
need_packages debootstrap git
[ -z "$(git -C "$root" status --porcelain --untracked-files=no)" ] || say "changes that are not committed are not part of what is tried"

# A mount namespace of its own: what is mounted below is gone with it, however this ends.
[ "${HOWLATE_FRESH:-}" = inside ] || HOWLATE_FRESH=inside exec unshare --mount --propagation private "${BASH_SOURCE[0]}" "$@"

suite=bookworm
bare=$(mktemp -d "${TMPDIR:-/tmp}/howlate-fresh.XXXXXX")
trap 'umount --recursive "$bare" 2>/dev/null; rm -rf --one-file-system "$bare"' EXIT
mount --bind "$bare" "$bare" # a root that is a mount, as every system's: else nothing there can have mounts of its own
# shellcheck disable=SC2016  # apt expands it
mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $suite" | head -n 1)
[ -n "$mirror" ] || die $EXIT_NOT_POSSIBLE "apt on this machine knows no archive of $suite. Add one to its sources"

say "making a bare system ($suite)"
debootstrap --variant=minbase --include=git,ca-certificates "$suite" "$bare" "$mirror" >"$bare.log" 2>&1 ||
  { tail -n 5 "$bare.log" >&2; die $EXIT_BROKEN "debootstrap failed"; }
rm -f "$bare.log"

chmod 755 "$bare" # it is the root folder of a system with other users than root
echo '127.0.0.1 localhost' >"$bare/etc/hosts"

# How this host reaches the outside.
cp --dereference /etc/resolv.conf "$bare/etc/resolv.conf"
cp -r /usr/local/share/ca-certificates/. "$bare/usr/local/share/ca-certificates/"
[ ! -e /etc/pip.conf ] || cp --dereference /etc/pip.conf "$bare/etc/pip.conf"
chroot "$bare" update-ca-certificates >/dev/null 2>&1
mount -t proc proc "$bare/proc"
mount --rbind /sys "$bare/sys"
mount --rbind /dev "$bare/dev"
mkdir -p "$bare/dev/shm"

git clone --quiet --no-hardlinks "$root" "$bare/root/howlate"

inside() { # command ...
  say "on the bare system: $*"
  local started=$SECONDS code=0
  chroot "$bare" /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    TERM="${TERM:-dumb}" sh -c 'cd /root/howlate && exec "$@"' sh "$@" </dev/null || code=$?
  say "'$*' ended with exit code $code after $((SECONDS - started)) s"
  return "$code"
}

[ "$which" = test ] || inside ./howlate check
[ "$which" = check ] || inside ./dev test "${arguments[@]}"
