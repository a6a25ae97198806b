// SPDX-License-Identifier: Apache-2.0
// The functions of expressions (expression.h).

#pragma once

#include "trainwire/reproduce/expression.h"

#include <span>
#include <string_view>
#include <vector>

namespace tw::reproduce {

struct Function {
  std::string_view name;
  std::size_t arguments;  ///< how many it takes
  /// Throws DataError where there is no answer.
  Values (*call)(std::span<const Values> arguments);
};

/// All of them.
std::span<const Function> functions();
/// Null when there is none of that name.
const Function* find_function(std::string_view name);

}  // namespace tw::reproduce
