#!/usr/bin/env bash
# Removes what install.sh installed. Settings and state stay unless --purge is given.
set -Eeuo pipefail

usage() {
  cat <<'TEXT'
Usage: deploy/systemd/uninstall.sh agent|hub [--purge]

Stops and removes the service and its program. Settings (/etc/tailrace) and state (/var/lib/tailrace-…) are kept.

  --purge      remove its settings, its state and its user too
  DESTDIR=DIR  (environment) uninstall below DIR; touches no service and no user
TEXT
}

part=
purge=no
for argument in "$@"; do
  case $argument in
    agent | hub) part=$argument ;;
    --purge) purge=yes ;;
    --help | -h)
      usage
      exit 0
      ;;
    *)
      usage >&2
      printf '\nuninstall: unknown argument %s\n' "$argument" >&2
      exit 2
      ;;
  esac
done
if [ -z "$part" ]; then
  usage >&2
  exit 2
fi

name=tailrace-$part
dest=${DESTDIR:-}
if [ -z "$dest" ] && [ "$(id -u)" -ne 0 ]; then
  printf 'uninstall: needs root; run it with sudo\n' >&2
  exit 1
fi
if [ -z "$dest" ] && [ -d /run/systemd/system ]; then
  systemctl disable --now "$name" 2>/dev/null || true
fi
rm -rf "$dest/usr/local/lib/$name" "$dest/usr/local/bin/$name" "$dest/etc/systemd/system/$name.service" \
  "$dest/etc/sysusers.d/$name.conf" "$dest/etc/tmpfiles.d/$name.conf" "$dest/var/cache/$name"
[ "$part" = agent ] || rm -f "$dest/etc/sysctl.d/60-tailrace-hub.conf"
if [ "$purge" = yes ]; then
  rm -rf "$dest/var/lib/$name" "$dest/etc/tailrace/$part.yml" "$dest/etc/tailrace/$part.token"
  if [ "$part" = agent ]; then
    rm -f "$dest/etc/tailrace/agent.nkey" "$dest/etc/tailrace/hub-ca.pem" # what enroll wrote
  else
    rm -rf "$dest/etc/tailrace/pipelines"
  fi
  rmdir "$dest/etc/tailrace" 2>/dev/null || true
  [ -n "$dest" ] || userdel "$name" 2>/dev/null || true
  printf 'uninstall: %s, its settings and its state are removed\n' "$name"
else
  printf 'uninstall: %s is removed; kept: /etc/tailrace/%s.yml, /var/lib/%s\n' "$name" "$part" "$name"
fi
if [ -z "$dest" ] && [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
