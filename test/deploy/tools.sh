#!/usr/bin/env bash
# Brings the programs that the checks of deploy/ use. Where nothing may be installed the checks that need a missing one
# are skipped, and say so.
set -uo pipefail

# Program → Debian package.
declare -A packages=(
  [docker-compose]=docker-compose
  [dpkg-deb]=dpkg
  [ip]=iproute2
  [mmdebstrap]=mmdebstrap
  [shellcheck]=shellcheck
  [systemd-analyze]=systemd
)

missing=()
for program in "${!packages[@]}"; do
  command -v "$program" >/dev/null || missing+=("${packages[$program]}")
done
if [ "${#missing[@]}" -eq 0 ]; then
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  as_root=(sudo -n)
fi
if ! command -v apt-get >/dev/null || ! "${as_root[@]}" true 2>/dev/null; then
  printf 'deploy-check: not installed, and nothing may be installed here: %s\n' "${missing[*]}"
  exit 0
fi
printf 'deploy-check: installing %s\n' "${missing[*]}"
options=(-o DPkg::Lock::Timeout=120 -y -q --no-install-recommends)
"${as_root[@]}" apt-get "${options[@]}" update >/dev/null 2>&1 || true
if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" install "${missing[@]}" >/dev/null; then
  printf 'deploy-check: could not be installed: %s\n' "${missing[*]}"
fi
