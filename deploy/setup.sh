#!/usr/bin/env bash
# Makes this checkout ready to run: Node to install with, nats-server, packages, build.
# Each step is said before it is done and left out where there is nothing to do, so running it again is harmless.
set -Eeuo pipefail

MIN_NODE=18 # npm of an older one can't read the lockfile; the packages bring the Node that everything runs on
APT_WAIT_S=120 # unattended upgrades hold apt's lock that long after a machine's start

with_browser=no
step="start"

usage() {
  cat <<'TEXT'
Usage: bash deploy/setup.sh [--with-browser]

Makes a bare Debian or Ubuntu machine ready: Node (where none or below 18), nats-server (where missing),
the packages of package-lock.json, and the build. Needs root or sudo only where a system package is missing.

  --with-browser   also Chromium, which the tests of the pages need
  --help           this text

Then: npm start (run it on this machine's logs) or npm test.
TEXT
}

say() { printf 'setup: %s\n' "$*"; }

die() {
  printf 'setup: %s\n' "$*" >&2
  trap - ERR
  exit 1
}

on_error() {
  local status=$?
  printf 'setup: failed at: %s (status %d). The reason stands above; run it again when it is mended, finished steps are left out.\n' \
    "$step" "$status" >&2
  exit "$status"
}
trap on_error ERR
trap 'die "interrupted at: $step; run it again, it goes on from here"' INT TERM

begin() {
  step=$*
  say "$step"
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "needs root for: $*; become root or install sudo"
  fi
}

# Prints the major version of the Node on PATH, 0 without one.
node_major() {
  node -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0
}

# Prints the path of a program that may lie in a folder an ordinary user's PATH lacks; fails where there is none.
find_program() {
  PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin" command -v "$1"
}

# Installs system packages. The lists are refreshed once, and only where they are needed.
apt_refreshed=no
apt_install() {
  command -v apt-get >/dev/null || die "missing: $*. This is no Debian or Ubuntu; $(elsewhere)"
  local options=(-o "DPkg::Lock::Timeout=$APT_WAIT_S" -y --no-install-recommends)
  if [ "$apt_refreshed" = no ]; then
    as_root apt-get -o "DPkg::Lock::Timeout=$APT_WAIT_S" update -q ||
      say "the package lists could not be refreshed; trying with those that are there"
    apt_refreshed=yes
  fi
  as_root env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" install "$@"
}

elsewhere() {
  case $(uname -s) in
    Darwin) echo 'on macOS: "brew install node@24 nats-server", then "npm ci && npm run build"' ;;
    *) echo 'install Node 24 and nats-server (2.10.27 or newer, or 2.9) with the means of your system, then "npm ci && npm run build"' ;;
  esac
}

install_node() {
  if [ "$(node_major)" -ge "$MIN_NODE" ] && command -v npm >/dev/null; then
    return 0
  fi
  begin "installing Node and npm from the distribution's packages (found: $(node --version 2>/dev/null || echo none))"
  apt_install nodejs npm
  hash -r
  [ "$(node_major)" -ge "$MIN_NODE" ] ||
    die "the distribution has Node $(node_major), needed is $MIN_NODE or newer to install with; install Node 24 from nodejs.org and run this again"
}

# Debian starts a server of its own with the package, on 4222 and without JetStream: exactly where the hub's belongs.
install_nats() {
  if [ -n "${TAILRACE_NATS_SERVER:-}" ] || find_program nats-server >/dev/null; then
    return 0
  fi
  begin "installing nats-server from the distribution's packages"
  apt_install nats-server
  find_program nats-server >/dev/null || die "the package brought no nats-server; install it from its project and run this again"
  if [ -d /run/systemd/system ] && systemctl cat nats-server >/dev/null 2>&1; then
    begin "turning off the service that came with the package (the hub runs a nats-server of its own on port 4222)"
    as_root systemctl disable --now nats-server
  fi
}

install_browser() {
  local name
  for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then
      return 0
    fi
  done
  begin "installing Chromium for the tests of the pages"
  apt_install chromium
}

# True where the packages are those of the lockfile; npm keeps a copy of what it installed.
packages_current() {
  [ -f node_modules/.tailrace-lock ] && cmp -s package-lock.json node_modules/.tailrace-lock
}

# The Node of the packages under the name that scripts call; the npm that comes with Node 18 leaves it out.
link_node() {
  local cpu
  case $(uname -m) in
    x86_64 | amd64) cpu=x64 ;;
    aarch64 | arm64) cpu=arm64 ;;
    *) return 0 ;;
  esac
  if [ ! -e node_modules/.bin/node ] && [ -x "node_modules/node-linux-$cpu/bin/node" ]; then
    mkdir -p node_modules/.bin
    ln -s "../node-linux-$cpu/bin/node" node_modules/.bin/node
  fi
}

install_packages() {
  if packages_current; then
    say "the packages of package-lock.json are installed"
    return 0
  fi
  begin "installing the packages of package-lock.json (about 450 MB in node_modules)"
  # An older Node installs fine although the packages ask for 24: it isn't what runs them. Hence errors only.
  local command=(npm ci --no-progress --loglevel=error)
  if ! "${command[@]}"; then
    say "that failed; once more, as a registry sometimes answers the second time"
    "${command[@]}"
  fi
  link_node
  if [ "$(node_major)" -lt 24 ] && [ ! -x node_modules/.bin/node ]; then
    die "the packages bring no Node for $(uname -m) and the one here is $(node --version); install Node 24 and run this again"
  fi
  cp package-lock.json node_modules/.tailrace-lock
}

main() {
  local argument
  for argument in "$@"; do
    case $argument in
      --with-browser) with_browser=yes ;;
      --help | -h)
        usage
        return 0
        ;;
      *)
        usage >&2
        printf '\nsetup: unknown option %s\n' "$argument" >&2
        exit 2
        ;;
    esac
  done
  cd "$(dirname "${BASH_SOURCE[0]}")/.."
  if [ "$(uname -s)" != Linux ]; then
    die "this script knows Debian and Ubuntu; $(elsewhere)"
  fi
  install_node
  install_nats
  if [ "$with_browser" = yes ]; then
    install_browser
  fi
  install_packages
  begin "building"
  npm run -s build
  say "ready: npm start runs it on this machine's logs, npm test tests it"
}

main "$@"
