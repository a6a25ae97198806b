// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/stats/ols.h"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace tw::stats {

void Design::add(std::string name, std::span<const double> values) {
  check(columns_.empty() || values.size() == columns_.front().values.size(),
        "columns of a design are equally long");
  columns_.push_back({.name = std::move(name), .values = {values.begin(), values.end()}});
}

void Design::add_factor(const std::string& name, std::span<const std::string> levels,
                        std::string reference) {
  const std::set<std::string> known(levels.begin(), levels.end());
  if (known.size() < 2) {
    throw DataError(fmt::format(
        "factor {}: the same level in every row; leave it out or add rows of another", name));
  }
  if (reference.empty()) reference = *known.begin();
  if (!known.contains(reference)) {
    throw DataError(fmt::format("factor {}: no row has the reference level {}", name, reference));
  }
  for (const std::string& level : known) {
    if (level == reference) continue;
    std::vector<double> indicator;
    indicator.reserve(levels.size());
    for (const std::string& each : levels) indicator.push_back(each == level ? 1 : 0);
    add(fmt::format("{}[{}]", name, level), indicator);
  }
}

}  // namespace tw::stats
