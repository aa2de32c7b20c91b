#!/bin/sh
# What `npm start` runs. Says what to do where the set-up is missing, and builds what changed since the last build.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
bundle=$root/hub/dist/main.mjs

refuse() {
  echo "tailrace: $1" >&2
  exit 1
}

node=$root/node_modules/.bin/node
[ -x "$node" ] || node=$(command -v node || true)
major=0
[ -z "$node" ] || major=$("$node" -p 'process.versions.node.split(".")[0]')
if [ ! -d "$root/node_modules" ] || [ "$major" -lt 24 ]; then
  refuse "the set-up is missing; run first: bash deploy/setup.sh"
fi
if [ -f "$root/node_modules/.tailrace-lock" ] && ! cmp -s "$root/package-lock.json" "$root/node_modules/.tailrace-lock"; then
  refuse "other packages are needed than those installed; run first: bash deploy/setup.sh"
fi

build() {
  echo "tailrace: building, as $1"
  (cd "$root" && npm run -s build >/dev/null)
}

if [ ! -f "$bundle" ]; then
  build "that wasn't done yet"
else
  changed=$(cd "$root" && find agent hub proto ui -type f \( -name '*.ts' -o -name '*.css' -o -name '*.html' \) \
    ! -name '*.test.ts' ! -path '*/dist/*' -newer "$bundle" | head -n 1)
  [ -z "$changed" ] || build "$changed changed"
fi
exec "$node" "$root/deploy/start/main.ts" "$@"
