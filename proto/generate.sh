#!/bin/sh
# Writes proto/gen/log.js and log.d.ts from log.proto into the folder given (default: proto/gen).
set -eu
cd "$(dirname "$0")/.."
out=${1:-proto/gen}
mkdir -p "$out"
node_modules/.bin/pbjs -t static-module -w esm --es6 --no-create --no-verify --no-convert --no-delimited \
  --no-service --no-typeurl --force-number -d -o "$out/log.js" proto/log.proto
