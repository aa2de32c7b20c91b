#!/bin/sh
# Writes the messages of log.proto and cluster.proto into the folder given (default: proto/gen). Each has a root of its own:
# agents load those of log.proto alone.
set -eu
cd "$(dirname "$0")/.."
out=${1:-proto/gen}
mkdir -p "$out"
for name in log cluster; do
  root=default
  [ "$name" = log ] || root=$name
  node_modules/.bin/pbjs -t static-module -w esm --es6 --no-create --no-verify --no-convert --no-delimited \
    --no-service --no-typeurl --force-number -r "$root" -d -o "$out/$name.js" "proto/$name.proto"
done
