// SPDX-License-Identifier: Apache-2.0
// The distributions that the program carries inside: the files in data/, as they are.

#pragma once

#include <span>
#include <string_view>

namespace tw::load {

struct BuiltIn {
  std::string_view name;
  std::string_view text;
};

std::span<const BuiltIn> built_in_distributions();

}  // namespace tw::load
