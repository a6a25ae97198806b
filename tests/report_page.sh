#!/usr/bin/env bash
# The page of `trainwire report`: report_page.sh PROGRAM WORK_FOLDER. Its template is what web/ builds,
# and reports of real runs work in a browser without network. Needs nodejs, npm, chromium, and the npm
# registry once; without them it is skipped (77) and says why.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
program=$1
work=$2

. "$root/tests/page_packages.sh"
cp "$root"/web/tsconfig.json "$root"/web/vite.config.js "$work"
rm -rf "$work/src" && cp -r "$root/web/src" "$work/src"

node_modules/.bin/tsc --noEmit
TW_TEMPLATE_DIR="$work/built" node_modules/.bin/vite build --logLevel warn
cmp "$work/built/template.html" "$root/src/report/template.html" || {
  echo "src/report/template.html is not what web/ builds; refresh it: (cd web && npm install && npm run build)"
  exit 1
}
echo "template: $(stat -c %s built/template.html) bytes, as in the tree"

cp "$root/tests/report_page.mjs" "$work"
exec node report_page.mjs "$program" "$root"
