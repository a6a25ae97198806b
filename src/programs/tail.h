// SPDX-License-Identifier: Apache-2.0
// The new lines of a file that somebody else writes.

#pragma once

#include <string>
#include <vector>

namespace tw::programs {

class Tail {
 public:
  explicit Tail(std::string path) : path_(std::move(path)) {}

  /// Whole lines since the last look, printable, at most some hundred at a time; a progress bar that
  /// goes back to the line's begin (CR) counts as its last state.
  std::vector<std::string> look();

 private:
  std::string path_;
  long long read_ = 0;
  std::string rest_;
};

}  // namespace tw::programs
