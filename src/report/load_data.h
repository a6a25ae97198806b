// SPDX-License-Identifier: Apache-2.0
// A load of cross traffic as data of a page: what it asks for over time, and how large its flows
// are.
//
// The rate of a bin is that of the flows that start in it, as if each arrived at once; Salamy's
// figure B-4 (2022) draws loads so. How they really arrive, the network decides.

#pragma once

#include <nlohmann/json.hpp>

#include <span>
#include <string>

namespace tw::report {

struct LoadFlow {
  double start_s;
  double bytes;
};

struct LoadSource {
  std::string path;
  double span_s;  ///< how long it lasts
  std::span<const LoadFlow> flows;
};

/// {"path", "flows", "span_s", "bytes", "mean_bps", "bin_s", "rate": packed, "sizes": a histogram
/// over decimal logarithms, "rates": a histogram of the bins}. REQUIRES: flows not empty and in
/// order, span_s > 0.
nlohmann::ordered_json load_data(const LoadSource& load);

}  // namespace tw::report
