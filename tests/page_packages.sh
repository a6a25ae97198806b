# Sourced by what opens pages, with $root and $work set: the npm packages of web/ and page.mjs in $work, or the end of
# the test as skipped (77) where tools or the registry are missing.
for tool in node npm chromium; do
  command -v "$tool" > /dev/null || { echo "skipped: there is no $tool; install the packages of packages.txt"; exit 77; }
done

mkdir -p "$work"
cp "$root"/web/package.json "$root"/web/package-lock.json "$root"/tests/page.mjs "$work"
cd "$work"
if ! cmp -s "$root/web/package-lock.json" node_modules/.installed; then
  # Not ci: it wants the packages of all platforms, which not every registry has.
  if ! npm install --no-audit --no-fund > npm.log 2>&1; then
    tail -n 5 npm.log
    grep -qE "ENOTFOUND|ECONN|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|ERR_SOCKET" npm.log || exit 1
    echo "skipped: the npm registry is out of reach"
    exit 77
  fi
  cp "$root/web/package-lock.json" node_modules/.installed
fi
