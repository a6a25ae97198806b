// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"

#include <fmt/format.h>

namespace tw {

void check(bool condition, std::string_view sentence, const char* file, int line) {
  if (condition) return;
  throw std::logic_error(fmt::format("{}:{}: violated: {}", file, line, sentence));
}

}  // namespace tw
