// SPDX-License-Identifier: Apache-2.0
#include "trainwire/os/errno_error.h"

#include <fmt/format.h>

#include <system_error>

namespace tw::os {

SystemError errno_error(std::string_view attempt, int code, std::string_view remedy) {
  const std::string what = std::generic_category().message(code);
  if (remedy.empty()) return SystemError(fmt::format("{}: {}", attempt, what));
  return SystemError(fmt::format("{}: {}; {}", attempt, what, remedy));
}

}  // namespace tw::os
