#!/usr/bin/env bash
# `trainwire export` read back by others' readers: export.sh PROGRAM WORK_FOLDER. Needs nodejs, npm,
# sqlite3, python3, and the npm registry once; without them it is skipped (77) and says why.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
program=$1
work=$2

for tool in node npm sqlite3 python3; do
  command -v "$tool" > /dev/null || { echo "skipped: there is no $tool; install the packages of packages.txt"; exit 77; }
done

mkdir -p "$work"
cp "$root"/tests/export/package.json "$work"
cp "$root"/tests/export.mjs "$root"/tests/export_trace.py "$work"
cd "$work"
if ! cmp -s package.json node_modules/.installed; then
  if ! npm install --no-audit --no-fund > npm.log 2>&1; then
    tail -n 5 npm.log
    grep -qE "ENOTFOUND|ECONN|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|ERR_SOCKET" npm.log || exit 1
    echo "skipped: the npm registry is out of reach"
    exit 77
  fi
  cp package.json node_modules/.installed
fi
exec node export.mjs "$program" "$root"
