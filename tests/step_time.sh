#!/usr/bin/env bash
# The page's formula is the program's: step_time.sh PROGRAM WORK_FOLDER. What sliders compute in the browser
# (web/src/step_time.ts), for a few hundred settings, against `trainwire predict`. Needs nodejs, npm, and the npm registry once;
# without them it is skipped (77) and says why.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
program=$1
work=$2

. "$root/tests/page_packages.sh"
for part in settings step_time errors data; do cp "$root/web/src/$part.ts" "$work/"; done
node_modules/.bin/esbuild settings.ts --bundle --format=esm --log-level=warning --outfile=settings.mjs
node_modules/.bin/esbuild step_time.ts --bundle --format=esm --log-level=warning --outfile=formula.mjs
cp "$root/tests/step_time.mjs" "$work"
exec node step_time.mjs "$program" "$work"
