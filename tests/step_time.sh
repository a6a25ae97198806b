#!/usr/bin/env bash
# The page's formula is the program's: step_time.sh PROGRAM WORK_FOLDER. What sliders compute in the browser
# (web/src/predicted.ts), for a few thousand settings, against `trainwire predict`, and why they have no number where it has none.
# Needs nodejs, npm, and the npm registry once; without them it is skipped (77) and says why.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
program=$1
work=$2

. "$root/tests/page_packages.sh"
for part in settings predicted step_limits step_time errors data; do cp "$root/web/src/$part.ts" "$work/"; done
for module in settings:settings step_time:formula step_limits:limits predicted:predicted; do
  node_modules/.bin/esbuild "${module%:*}.ts" --bundle --format=esm --log-level=warning --outfile="${module#*:}.mjs"
done
cp "$root/tests/step_time.mjs" "$work"
exec node step_time.mjs "$program" "$work"
