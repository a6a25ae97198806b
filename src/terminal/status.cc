// SPDX-License-Identifier: Apache-2.0
#include "trainwire/terminal/status.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

namespace tw::terminal {

void Status::tell(const std::string& what) {
  if (!shown_) return;
  fmt::print(err_, "\r\x1b[K{}", what);
  err_.flush();
}

void Status::wipe() {
  if (!shown_) return;
  fmt::print(err_, "\r\x1b[K");
  err_.flush();
}

}  // namespace tw::terminal
