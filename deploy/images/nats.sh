#!/bin/sh
# Starts the log, the arguments are nats-server's. It would read a token as a number that begins like one (12e4…), or
# not at all, so tokens are handed on in quotes.
set -eu

for name in TAILRACE_NATS_TOKEN TAILRACE_AGENT_TOKEN; do
  token=
  eval "token=\${$name:-}"
  case $token in
    "")
      echo "tailrace-nats: $name is missing; hubs and agents sign in with it" >&2
      exit 1
      ;;
    *[!A-Za-z0-9._~+/=-]*)
      echo "tailrace-nats: $name may hold letters, digits and . _ ~ + / = - only" >&2
      exit 1
      ;;
  esac
  export "$name=\"$token\""
done
if [ "$TAILRACE_NATS_TOKEN" = "$TAILRACE_AGENT_TOKEN" ]; then
  echo "tailrace-nats: TAILRACE_AGENT_TOKEN must be another one than TAILRACE_NATS_TOKEN, or agents could do all that hubs can" >&2
  exit 1
fi

# A volume of before the log had accounts keeps its streams under the account of a server that knows none.
streams=${TAILRACE_NATS_DATA:-/data}/jetstream
if [ -d "$streams/\$G" ] && [ ! -e "$streams/TAILRACE" ]; then
  mv "$streams/\$G" "$streams/TAILRACE"
  echo "tailrace-nats: the streams of an earlier version are the hub's account's now"
fi
exec nats-server "$@"
