// SPDX-License-Identifier: Apache-2.0
// Failures that end a command, in three families that cli/program.cc maps to exit codes.
//
// A message reads "<attempt>: <what happened>; <what to do>". What is part of a result (a malformed
// packet, a rank that timed out) is a value, never an exception.

#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace tw {

/// Root of everything we throw for a user's sake. Exit code 4 unless a child says otherwise.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The command line or the experiment is wrong. Exit code 2.
class SpecError : public Error {
 public:
  using Error::Error;
};

/// The machine refused: no permission, no such file, disk full. Exit code 3.
class SystemError : public Error {
 public:
  using Error::Error;
};

/// Bytes from outside are not what they claim to be. Exit code 3.
class DataError : public Error {
 public:
  using Error::Error;
};

/// Throws std::logic_error naming the caller's place unless `condition` holds: for what only a
/// programming error can break. `sentence` states the contract. (std::source_location would do, but
/// clang 14, which builds the fuzz targets, does not have it.)
void check(bool condition, std::string_view sentence, const char* file = __builtin_FILE(),
           int line = __builtin_LINE());

}  // namespace tw
