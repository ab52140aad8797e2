#!/usr/bin/env bash
# The documentation as a searchable site in build/site/, from the Markdown as it stands. A link that leads nowhere fails.
set -eu
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
cd "$root"
source=build/site-source
rm -rf "$source" build/site
mkdir -p "$source/kmod" "$source/tests"
cp -r docs README.md CONTRIBUTING.md CHANGELOG.md LICENSE "$source/"
cp kmod/LICENSE "$source/kmod/"
cp tests/README.md "$source/tests/"
log=build/site.log
.venv/bin/zensical build --clean --strict >"$log" 2>&1 || {
  grep -v -e '^ ' -e '^Traceback' "$log" >&2
  exit 4
}
echo "build/site/index.html"
