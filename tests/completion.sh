#!/usr/bin/env bash
# The completion scripts parse, and bash's completes commands and options.
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
[[ $(complete_words trainwire pl) == plan ]]
[[ $(complete_words trainwire plan --js) == --json ]]
[[ " $(complete_words trainwire --) " == *" --version "* ]]
