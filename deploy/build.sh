#!/bin/sh
# Puts what a worker needs below the folder $1: the program, which needs no
# library, and the cases and fixtures that it rebuilds its work from.
set -eu
[ $# = 1 ] || { echo "usage: deploy/build.sh <folder>" >&2; exit 2; }
cd "$(dirname "$0")/.."
out=$1
mkdir -p "$out/usr/local/bin" "$out/assay"
# The test of this script builds with what is in its cache.
export CGO_ENABLED="${CGO_ENABLED:-0}"
if [ -n "${ASSAY_BUILD_FLAGS+set}" ]; then
  go build $ASSAY_BUILD_FLAGS -o "$out/usr/local/bin/assay" ./cmd/assay
else
  go build -trimpath -tags "$(cat deploy/tags)" -ldflags="-s -w" -o "$out/usr/local/bin/assay" ./cmd/assay
fi
cp -R tests fixtures smoke-test-fixture "$out/assay/"
