// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"

#include <fmt/format.h>

namespace tw {

void check(bool condition, std::string_view sentence, std::source_location where) {
  if (condition) return;
  throw std::logic_error(
      fmt::format("{}:{}: violated: {}", where.file_name(), where.line(), sentence));
}

}  // namespace tw
