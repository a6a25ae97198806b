#!/usr/bin/env bash
# The completion scripts parse, and bash's completes commands, options and their values.
set -euo pipefail

bash -n <("$1" completion bash)
zsh -n <("$1" completion zsh)
# shellcheck disable=SC1090 # written by the program under test
source <("$1" completion bash)

complete_words() {
  COMP_WORDS=("$@")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  _trainwire
  echo "${COMPREPLY[*]}"
}
# expect WHAT WORDS...: completing the last of the words offers exactly that.
expect() {
  local found
  found=$(complete_words "${@:2}")
  [[ $found == "$1" ]] || { echo "completing \"${*:2}\" offers \"$found\", not \"$1\"" >&2; exit 1; }
}
expect plan trainwire pl
expect --json trainwire plan --js
expect "show check shell cli cluster" trainwire net ""
expect "step exchange busbw bytes accuracy to_target" trainwire compare a.run b.run --metric ""
expect parquet trainwire export a.run --to par
expect "iterations iteration_pairs" trainwire schema iter
expect network.rate= trainwire plan a.toml --set network.ra
expect double_tree trainwire new --strategy double
expect leafspine trainwire exec --hosts 4 --topology l
expect "bash zsh" trainwire completion ""
expect network.core_rate trainwire explain network.core_r
cd "$(dirname "$0")"
expect completion.sh trainwire plan --set network.rate=1Gbit completion.s
[[ " $(complete_words trainwire --) " == *" --version "* ]]
