#!/usr/bin/env bash
# Installs the programs of others that tests use: `bash test/tools.sh clients|deploy-check|nats-server|peers|senders`. Where nothing may be
# installed, the tests that need a missing program are skipped, and say so.
set -uo pipefail

# Senders of test/conformance/intake-*: packages of npm and Debian, in a folder of their own.
if [ "${1:-}" = senders ]; then
  folder=$(dirname "$(dirname "$(readlink -f "$0")")")/.cache/senders
  mkdir -p "$folder/rsyslog"
  cd "$folder" || exit 1
  printf '{ "private": true }\n' >package.json
  timeout 180 npm install --silent --ignore-scripts --no-audit --no-fund --save-exact \
    @opentelemetry/exporter-logs-otlp-grpc@0.220.0 @opentelemetry/exporter-logs-otlp-proto@0.220.0 \
    @opentelemetry/sdk-logs@0.220.0 winston@3.19.0 winston-loki@6.1.7 splunk-logging@0.11.1 gelf-pro@1.4.0 \
    @fluent-org/logger@1.0.10 || printf 'tools: the packages of senders could not be installed\n'
  # A machine may have no lists of packages, or old ones.
  fetch_packages() {
    timeout 60 apt-get -q download "$@" >/dev/null 2>.error && return
    timeout 120 "${as_root[@]}" apt-get -q update >/dev/null 2>&1
    timeout 60 apt-get -q download "$@" >/dev/null 2>.error
  }
  as_root=()
  [ "$(id -u)" -eq 0 ] || as_root=(sudo -n)
  # Modules of rsyslog fit the program of their own version alone.
  # shellcheck disable=SC2016 # A format of dpkg-query.
  version=$(dpkg-query -W -f '=${Version}' rsyslog 2>/dev/null)
  # Folder, then Debian packages with what they link that a machine may lack.
  while read -r name packages; do
    # shellcheck disable=SC2086 # Several names.
    if fetch_packages $packages </dev/null; then
      for package in ./*.deb; do dpkg -x "$package" "$name"; done
    else
      printf 'tools: the packages of %s could not be fetched: %s\n' "$name" "$(tail -n 1 .error)"
    fi
    rm -f ./*.deb .error
  done <<END
rsyslog rsyslog-relp$version librelp0 rsyslog-openssl$version
syslog-ng syslog-ng-core libivykis0 libnet1 libpcre3 libwrap0
journal systemd-journal-remote libmicrohttpd12
END
  exit 0
fi

# Clients of other languages for test/conformance/clients/languages.test.ts, each in a folder of its own, and the programs that
# use them. What can't be installed is named here, and its test is skipped. Each has a time limit, as a registry that can't be
# reached may not answer at all; it is several times what an idle machine needs, as tests may run beside.
if [ "${1:-}" = clients ]; then
  test=$(dirname "$(readlink -f "$0")")
  folder=$(dirname "$test")/.cache/clients
  sources=$test/conformance/clients
  PATH=$PATH:/usr/local/go/bin
  mkdir -p "$folder/python" "$folder/java" "$folder/go"
  while read -r name package; do
    [ ! -e "$folder/python/$name" ] || continue
    rm -rf "$folder/python/.new"
    if timeout 180 python3 -m pip install -q --no-compile --disable-pip-version-check --target "$folder/python/.new" "$package" >/dev/null 2>&1; then
      mv "$folder/python/.new" "$folder/python/$name"
    else
      printf 'tools: %s could not be installed\n' "$package"
    fi
  done <<'END'
elasticsearch-6 elasticsearch==6.8.2
elasticsearch-7 elasticsearch==7.17.12
elasticsearch-8 elasticsearch==8.19.3
elasticsearch-9 elasticsearch==9.2.1
opensearch-3 opensearch-py==3.0.0
END
  # Profile of the pom, main class, and the folder of what differs by version.
  while read -r name program version; do
    jars=$folder/java/$name/jars
    if ! { [ -d "$jars" ] || timeout 240 mvn -q -B -f "$sources/java/pom.xml" "-P$name" dependency:copy-dependencies "-DoutputDirectory=$jars" >/dev/null 2>&1; } ||
      ! javac -nowarn -d "$folder/java/$name/classes" -cp "$jars/*" "$sources/java/Checks.java" "$sources/java/$program.java" \
        ${version:+"$sources/java/$version/Version.java"}; then
      rm -rf "${folder:?}/java/$name"
      printf 'tools: the Java client %s could not be installed\n' "$name"
    fi
  done <<'END'
high-level-6 HighLevel six
high-level-7 HighLevel seven
api-8 ApiClient
END
  (cd "$sources/go" && timeout 360 go build -o "$folder/go/client7" ./client7) || printf 'tools: the Go client of 7 could not be built\n'
  # The packages of all typed requests come with the client of 8: unoptimised they take 2 minutes of one core and 2 GB.
  (cd "$sources/go" && timeout 900 go build -gcflags='all=-N -l' -ldflags=-w -o "$folder/go/client8" ./client8) || printf 'tools: the Go client of 8 could not be built\n'
  exit 0
fi

# A nats-server that may be one of several, for tests of hubs that store the log together; built once, where Go is, also when
# several ask at once. Without Go these tests are skipped; a build that fails is an error, and is tried again after an hour.
if [ "${1:-}" = nats-server ]; then
  folder=$(dirname "$(dirname "$(readlink -f "$0")")")/.cache/tools
  failed=$folder/nats-server.failed
  limit=900 # seconds for a build: a registry that can't be reached may not answer at all
  PATH=$PATH:/usr/local/go/bin
  [ ! -x "$folder/nats-server" ] || exit 0
  if ! command -v go >/dev/null; then
    printf 'tools: no newer nats-server, since there is no Go to build it\n'
    exit 0
  fi
  mkdir -p "$folder"
  # The lock ends with this process: those it starts don't hold it.
  exec 9>"$folder/nats-server.lock"
  if command -v flock >/dev/null && ! flock -w "${TAILRACE_TOOLS_LOCK_SECONDS:-$limit}" 9; then
    printf 'tools: nats-server could not be built: another process holds %s\n' "$folder/nats-server.lock" >&2
    exit 1
  fi
  [ ! -x "$folder/nats-server" ] || exit 0 # another has built it meanwhile
  if [ -n "$(find "$failed" -mmin -60 2>/dev/null)" ]; then
    cat "$failed" >&2
    printf 'tools: nats-server could not be built less than an hour ago; remove %s to try again\n' "$failed" >&2
    exit 1
  fi
  rm -rf "$folder"/new.* "$failed" # of a build that was killed
  new=$(mktemp -d "$folder/new.XXXXXX")
  trap 'rm -rf "$new"' EXIT
  if ! GOBIN=$new timeout "$limit" go install github.com/nats-io/nats-server/v2@v2.11.10 >"$new/output" 2>&1 9>&- ||
    ! mv "$new/nats-server" "$folder" 2>>"$new/output"; then
    tail -n 5 "$new/output" | tee "$failed" >&2
    printf 'tools: nats-server could not be built, although Go is there: tests of hubs that store the log together would be skipped\n' >&2
    exit 1
  fi
  exit 0
fi

# Program → Debian package.
case "${1:-}" in
  # What checks the files of deploy/.
  deploy-check)
    declare -A packages=(
      [docker-compose]=docker-compose
      [dpkg-deb]=dpkg
      [ip]=iproute2
      [mmdebstrap]=mmdebstrap
      [shellcheck]=shellcheck
      [systemd-analyze]=systemd
    )
    ;;
  # What sends lines to an agent or hub, and a clock that can be set.
  peers)
    declare -A packages=(
      [faketime]=faketime
      [ip]=iproute2
      [logger]=bsdutils
      [nc]=netcat-openbsd
      [redis-server]=redis-server
      [rsyslogd]=rsyslog
    )
    ;;
  *)
    printf 'Usage: bash test/tools.sh clients|deploy-check|nats-server|peers|senders\n' >&2
    exit 2
    ;;
esac
PATH=$PATH:/usr/sbin:/sbin

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
  printf 'tools: not installed, and nothing may be installed here: %s\n' "${missing[*]}"
  exit 0
fi
printf 'tools: installing %s\n' "${missing[*]}"
options=(-o DPkg::Lock::Timeout=120 -y -q --no-install-recommends)
"${as_root[@]}" apt-get "${options[@]}" update >/dev/null 2>&1 || true
if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" install "${missing[@]}" >/dev/null; then
  printf 'tools: could not be installed: %s\n' "${missing[*]}"
fi
