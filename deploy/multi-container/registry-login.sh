#!/usr/bin/env bash
# Signs in to the platform's image registry. The platform's command, run under the profile of a named program user,
# prints a login command; that is checked and entered, with the password on standard input. No secret is ever printed,
# written to a file or put on a command line, where other users of the machine would see it.
set -euo pipefail
set +x # not even with bash -x

usage() {
  cat <<'TEXT'
Usage: deploy/multi-container/registry-login.sh

From the environment:
  REGISTRY_PROFILE   profile of the program user whose keys the platform's command uses
  REGISTRY_REGION    region of the registry
  ACCOUNT_ID         the registry must be this account's (optional, recommended)
  REGISTRY_COMMAND   the platform's command (default: aws)
  CONTAINER_COMMAND  what signs in (default: docker)

Status: 0 signed in, 1 failed, 2 wrong usage.
TEXT
}

die() {
  printf 'registry-login: %s\n' "$1" >&2
  exit "${2:-1}"
}

if [ $# -gt 0 ]; then
  usage
  case $1 in --help | -h) exit 0 ;; *) exit 2 ;; esac
fi
[ -n "${REGISTRY_PROFILE:-}" ] || die "REGISTRY_PROFILE is not set; --help explains" 2
[ -n "${REGISTRY_REGION:-}" ] || die "REGISTRY_REGION is not set; --help explains" 2
platform=${REGISTRY_COMMAND:-aws}
container=${CONTAINER_COMMAND:-docker}
for program in "$platform" "$container"; do
  command -v "$program" >/dev/null || die "there is no $program on PATH; install it"
done

access=(--profile "$REGISTRY_PROFILE" --region "$REGISTRY_REGION")

# Its output is a command for a shell. It is read as words and never evaluated: what else it might hold must not run.
printed_login() {
  local printed words index
  printed=$("$platform" ecr get-login --no-include-email "${access[@]}" 2>/dev/null) || return 1
  read -r -a words <<<"$printed"
  [ "${words[0]:-} ${words[1]:-}" = "docker login" ] || return 1
  for ((index = 2; index < ${#words[@]}; index++)); do
    case ${words[index]} in
      -u | --username) user=${words[++index]:-} ;;
      -p | --password) password=${words[++index]:-} ;;
      -*) return 1 ;;
      *) registry=${words[index]#https://} ;;
    esac
  done
}

# Newer versions of the command print the password alone.
password_login() {
  local account=${ACCOUNT_ID:-}
  if [ -z "$account" ]; then
    account=$("$platform" sts get-caller-identity --query Account --output text "${access[@]}") || return 1
  fi
  password=$("$platform" ecr get-login-password "${access[@]}") || return 1
  user=AWS
  registry=$account.dkr.ecr.$REGISTRY_REGION.amazonaws.com
}

user='' password='' registry=''
printed_login || password_login ||
  die "$platform gave no login for profile $REGISTRY_PROFILE in $REGISTRY_REGION; its message stands above"
if [ -z "$user" ] || [ -z "$password" ] || [ -z "$registry" ]; then
  die "$platform printed a login that is not complete"
fi
if [ -n "${ACCOUNT_ID:-}" ] && [ "${registry%%.*}" != "$ACCOUNT_ID" ]; then
  die "the login is for $registry, not for account $ACCOUNT_ID; look at profile $REGISTRY_PROFILE"
fi
printf '%s' "$password" | "$container" login --username "$user" --password-stdin "$registry" >/dev/null ||
  die "$container could not sign in to $registry"
printf 'registry-login: signed in to %s; images are %s/<repository>:latest\n' "$registry" "$registry"
