// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/command.h"

#include <iostream>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  return tw::cli::run(arguments, {.out = std::cout, .err = std::cerr});
}
