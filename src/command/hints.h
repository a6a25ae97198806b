// SPDX-License-Identifier: Apache-2.0
// What is known of an option beyond what parses it: for help of one action, completion and the
// manual page.

#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tw::command {

struct Hint {
  std::string argument = {};             ///< word for the value, "KEY=VALUE"; "" without one
  std::vector<std::string> values = {};  ///< that it takes, or some of them
  std::string help = {};                 ///< without words on actions, where there are any
  /// Actions that it means something to, with what it means there; none: to all.
  std::vector<std::pair<std::string, std::string>> actions = {};
  bool is_action = false;  ///< it names the action; `actions` say what each does
};

}  // namespace tw::command
