// SPDX-License-Identifier: Apache-2.0
#include "trainwire/stats/ecdf.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <cmath>

namespace tw::stats {

double ecdf_band(std::size_t n, double confidence) {
  check(n > 0, "a distribution needs values");
  check(confidence > 0 && confidence < 1, "a confidence lies between 0 and 1");
  return std::sqrt(std::log(2 / (1 - confidence)) / (2 * static_cast<double>(n)));
}

Ecdf ecdf(std::span<const double> values, double confidence) {
  const double reach = ecdf_band(values.size(), confidence);
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(sorted.size());
  Ecdf found{.points = {}, .confidence = confidence, .n = sorted.size()};
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i + 1 < sorted.size() && sorted[i + 1] == sorted[i]) continue;
    const double share = static_cast<double>(i + 1) / n;
    found.points.push_back({.value = sorted[i],
                            .share = share,
                            .low = std::max(share - reach, 0.0),
                            .high = std::min(share + reach, 1.0)});
  }
  return found;
}

}  // namespace tw::stats
