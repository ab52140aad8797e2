#!/usr/bin/env bash
# Checks kmod/ with the kernel's own scripts/checkpatch.pl --strict, out of the distribution's package of the kernel's source
# (about 140 MB, once; what is kept of it is 300 KB in build/checkpatch). Exit code 0: it finds nothing.
set -eu
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
place=$root/build/checkpatch
if [ ! -e "$place/scripts/checkpatch.pl" ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  package=$(apt-cache depends linux-source | sed -n 's/^ *Depends: \(linux-source-[0-9.]*\)$/\1/p' | head -n 1)
  [ -n "$package" ] || { echo "checkpatch: this distribution has no package linux-source" >&2; exit 3; }
  (cd "$work" && apt-get download "$package")
  dpkg-deb --fsys-tarfile "$work"/*.deb | tar -xO --wildcards './usr/src/linux-source-*.tar.xz' |
    tar -xJ -C "$work" --strip-components=1 --wildcards '*/scripts/checkpatch.pl' '*/scripts/spelling.txt' '*/scripts/const_structs.checkpatch'
  mkdir -p "$place"
  mv "$work/scripts" "$place/scripts"
fi
cd "$root"
exec perl "$place/scripts/checkpatch.pl" --strict --no-tree --no-summary --terse -f kmod/*.[ch] kmod/Kbuild kmod/dkms.conf
