// SPDX-License-Identifier: Apache-2.0
// The program as tests run it: a command line in, what it printed and its exit code out.

#pragma once

#include "trainwire/cli/commands.h"

#include <sstream>
#include <string>
#include <vector>

namespace tw::cli {

struct Result {
  int code;
  std::string out;
  std::string err;
};

inline Result trainwire(const std::vector<std::string>& arguments) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = run(arguments, {.out = out, .err = err});
  return {.code = code, .out = out.str(), .err = err.str()};
}

}  // namespace tw::cli
