// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/told.h"

#include "trainwire/base/units.h"

#include <fmt/format.h>

namespace tw::operations {

void Skips::write_to(Told& told) const {
  for (const auto& [why, count] : counts_) {
    told.skipped += count;
    told.reasons.push_back(fmt::format("{} {}", grouped(static_cast<std::int64_t>(count)), why));
  }
}

}  // namespace tw::operations
