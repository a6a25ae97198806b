// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/load_data.h"

#include "trainwire/base/error.h"
#include "trainwire/report/packed.h"
#include "trainwire/report/reduce.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tw::report {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostBins = 20'000;
constexpr double kNarrowestBin = 1e-3;

/// A power of ten times 1, 2 or 5 ms, so that the bins are few enough.
double bin_width(double span_s) {
  double width = kNarrowestBin;
  for (int i = 0; span_s / width > static_cast<double>(kMostBins); ++i) {
    width *= i % 3 == 1 ? 2.5 : 2;
  }
  return width;
}

std::vector<double> rates(const LoadSource& load, double width) {
  const auto bins = static_cast<std::size_t>(std::max(1.0, std::ceil(load.span_s / width - 1e-9)));
  std::vector<double> rate(bins, 0);
  for (const LoadFlow& flow : load.flows) {
    const double place = std::clamp(flow.start_s / width, 0.0, static_cast<double>(bins - 1));
    rate[static_cast<std::size_t>(place)] += flow.bytes * 8 / width;
  }
  return rate;
}

}  // namespace

ordered_json load_data(const LoadSource& load) {
  check(!load.flows.empty() && load.span_s > 0, "a load has flows and lasts");
  double bytes = 0;
  std::vector<double> sizes;
  for (const LoadFlow& flow : load.flows) {
    bytes += flow.bytes;
    sizes.push_back(std::log10(std::max(1.0, flow.bytes)));
  }
  const double width = bin_width(load.span_s);
  const std::vector<double> rate = rates(load, width);
  return {{"path", load.path},
          {"flows", load.flows.size()},
          {"span_s", load.span_s},
          {"bytes", bytes},
          {"mean_bps", bytes * 8 / load.span_s},
          {"bin_s", width},
          {"rate", packed(rate)},
          {"sizes", histogram_document(sizes, {.bins = 40})},
          {"rates", histogram_document(rate, {.bins = 40})}};
}

}  // namespace tw::report
