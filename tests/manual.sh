#!/usr/bin/env bash
# The manual page in the tree is what the program prints, and it is well-formed.
set -euo pipefail
cd "$(dirname "$0")/.."

"$1" man | diff -u docs/trainwire.1 - || {
  echo "docs/trainwire.1 is old; refresh it: trainwire man > docs/trainwire.1" >&2
  exit 1
}
mandoc -T lint -W error docs/trainwire.1
