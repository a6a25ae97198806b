// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/limits.h"

#include <algorithm>

namespace tw::report {

Limits divided(const Limits& limits, double factor) {
  const auto share = [factor](std::size_t value, std::size_t least) {
    return std::max(least, static_cast<std::size_t>(static_cast<double>(value) / factor));
  };
  return {.total_buckets = share(limits.total_buckets, 64),
          .series_buckets = share(limits.series_buckets, 64),
          .hosts = share(limits.hosts, 2),
          .pairs = share(limits.pairs, 2),
          .matrix_hosts = share(limits.matrix_hosts, 8),
          .close_windows = share(limits.close_windows, 64),
          .flows = share(limits.flows, 10),
          .flow_cells = share(limits.flow_cells, 320),
          .transfers = share(limits.transfers, 50),
          .segments = share(limits.segments, 100),
          .quantiles = share(limits.quantiles, 20),
          .steps = share(limits.steps, 50),
          .connections = share(limits.connections, 2),
          .list_items = share(limits.list_items, 16),
          .text_bytes = share(limits.text_bytes, 200)};
}

Limits without_limits_of_windows(const Limits& limits) {
  Limits wide = limits;
  // Ten times what an analysis writes for a scope; more would be a page that no browser opens.
  wide.total_buckets = 2'000'000;
  wide.series_buckets = 2'000'000;
  wide.close_windows = 2'000'000;
  return wide;
}

}  // namespace tw::report
