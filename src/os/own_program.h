// SPDX-License-Identifier: Apache-2.0
// How to start this very program once more, on machines too where it does not start by itself:
// where its libraries lie apart (LD_LIBRARY_PATH), or where it was given to the loader of another C
// library (ld-linux --library-path ... trainwire).

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tw::os {

struct OwnProgram {
  std::vector<std::string> words = {};        ///< the loader first, where there was one
  std::vector<std::string> environment = {};  ///< what its libraries are found by: "NAME=value"
};

/// Of this process. Throws SystemError where /proc is missing.
OwnProgram own_program();

/// What starts it, given what the kernel runs (/proc/self/exe) and the words with which it was
/// started: `program` alone, or a loader with its options and the program behind them.
std::vector<std::string> starting_words(const std::string& program,
                                        const std::vector<std::string>& command_line);

}  // namespace tw::os
