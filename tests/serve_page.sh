#!/usr/bin/env bash
# The page of `trainwire serve` in a browser: serve_page.sh PROGRAM WORK_FOLDER. Needs nodejs, npm,
# chromium, and the npm registry once; without them it is skipped (77) and says why.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
program=$1
work=$2
. "$root/tests/page_packages.sh"
cp "$root/tests/serve_page.mjs" "$work"
exec node serve_page.mjs "$program" "$root"
