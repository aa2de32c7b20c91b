#!/usr/bin/env bash
# Fills the descriptor's placeholders from the environment and prints it. Holds no secret: the agent's token is a
# property of the platform's environment (TAILRACE_NATS_TOKEN), which it gives to every container.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: deploy/multi-container/render.sh >Dockerrun.aws.json

From the environment:
  ACCOUNT_ID, REGISTRY_HOST  images are ACCOUNT_ID.REGISTRY_HOST/<repository>:latest
  NATS_URL                   where the agent delivers, tls://hub.example.com:4222
  DASHBOARD_HOST             host:port of the dashboard
TEXT
}

if [ $# -gt 0 ]; then
  usage
  case $1 in --help | -h) exit 0 ;; *) exit 2 ;; esac
fi
text=$(<"$(dirname "${BASH_SOURCE[0]}")/Dockerrun.aws.json")
for pair in account_id:ACCOUNT_ID registry_host:REGISTRY_HOST nats_url:NATS_URL dashboard_host:DASHBOARD_HOST; do
  variable=${pair#*:}
  value=${!variable:-}
  if [[ ! $value =~ ^[A-Za-z0-9._:/-]+$ ]]; then
    printf 'render: %s is not set or holds other characters than letters, digits and ._:/-\n' "$variable" >&2
    exit 2
  fi
  text=${text//"<${pair%:*}>"/$value}
done
printf '%s\n' "$text"
