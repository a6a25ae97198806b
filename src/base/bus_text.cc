// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/bus_text.h"

#include <fmt/format.h>

namespace tw {

std::string bus_text(double bits_per_s) { return fmt::format("{:.4g} GB/s", bits_per_s / 8e9); }

}  // namespace tw
