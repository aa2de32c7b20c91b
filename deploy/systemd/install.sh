#!/usr/bin/env bash
# Installs the agent or the hub of this checkout as a systemd service. Running it again upgrades: state and settings
# are kept. DESTDIR puts everything below another root and starts nothing.
set -Eeuo pipefail

usage() {
  cat <<'TEXT'
Usage: deploy/systemd/install.sh agent|hub [--no-start]

Installs the program below /usr/local/lib, its unit, user and settings, and starts it.
Needs root, and a checkout made ready by deploy/setup.sh.

  --no-start   install, but neither enable nor start the service
  DESTDIR=DIR  (environment) install below DIR for an image or a test; implies --no-start
TEXT
}

die() {
  printf 'install: %s\n' "$*" >&2
  exit "${2:-1}"
}

say() { printf 'install: %s\n' "$*"; }

part=
start=yes
for argument in "$@"; do
  case $argument in
    agent | hub) part=$argument ;;
    --no-start) start=no ;;
    --help | -h)
      usage
      exit 0
      ;;
    *)
      usage >&2
      printf '\ninstall: unknown argument %s\n' "$argument" >&2
      exit 2
      ;;
  esac
done
if [ -z "$part" ]; then
  usage >&2
  exit 2
fi

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
root=$(dirname "$(dirname "$here")")
name=tailrace-$part
dest=${DESTDIR:-}
[ -z "$dest" ] || start=no
[ -n "$dest" ] || [ "$(id -u)" -eq 0 ] || die "needs root; run it with sudo"
node=$root/node_modules/.bin/node
[ -x "$node" ] || die "the packages are missing; run bash deploy/setup.sh first"

staged=$(mktemp -d)
trap 'rm -rf "$staged"' EXIT
"$node" "$root/deploy/package/main.ts" stage "$part" --out "$staged"

# The old program is replaced in one step: a service that runs on keeps its open files.
library=/usr/local/lib/$name
mkdir -p "$dest/usr/local/lib" "$dest/usr/local/bin" "$dest/etc/tailrace" \
  "$dest/etc/systemd/system" "$dest/etc/sysusers.d" "$dest/etc/tmpfiles.d"
rm -rf "$dest$library.new" "$dest$library.old"
cp -R "$staged/usr/lib/$name" "$dest$library.new"
[ ! -d "$dest$library" ] || mv "$dest$library" "$dest$library.old"
mv "$dest$library.new" "$dest$library"
rm -rf "$dest$library.old"
ln -sfn "../lib/$name/$part/bin/$name" "$dest/usr/local/bin/$name"

sed "s|/usr/bin/$name|/usr/local/bin/$name|" "$staged/usr/lib/systemd/system/$name.service" \
  >"$dest/etc/systemd/system/$name.service"
cp "$staged/usr/lib/sysusers.d/$name.conf" "$dest/etc/sysusers.d/$name.conf"
cp "$staged/usr/lib/tmpfiles.d/$name.conf" "$dest/etc/tmpfiles.d/$name.conf"
if [ "$part" = hub ]; then
  mkdir -p "$dest/etc/sysctl.d" "$dest/etc/tailrace/pipelines"
  cp "$staged/usr/lib/sysctl.d/60-tailrace-hub.conf" "$dest/etc/sysctl.d/60-tailrace-hub.conf"
fi
settings=/etc/tailrace/$part.yml
if [ -e "$dest$settings" ]; then
  say "$settings is kept as it is"
else
  install -m 0644 "$staged$settings" "$dest$settings"
fi
[ -z "$dest" ] || {
  say "installed below $dest"
  exit 0
}

systemd-sysusers "/etc/sysusers.d/$name.conf"
systemd-tmpfiles --create "/etc/tmpfiles.d/$name.conf"
mapped=$(cat /proc/sys/vm/max_map_count 2>/dev/null || echo 0)
[ "$part" = agent ] || [ "$mapped" -ge 262144 ] || sysctl -q -p /etc/sysctl.d/60-tailrace-hub.conf || say "vm.max_map_count could not be set here; set it on the host"
if [ ! -d /run/systemd/system ]; then
  say "installed; systemd doesn't run here, so nothing is started"
  exit 0
fi
systemctl daemon-reload
if [ "$start" = yes ]; then
  systemctl enable "$name"
  systemctl restart "$name"
  say "$name runs; its log: journalctl -u $name"
else
  say "installed; start it with: systemctl enable --now $name"
fi
