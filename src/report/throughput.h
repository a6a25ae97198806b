// SPDX-License-Identifier: Apache-2.0
// windows.csv as series over time: of everything, of each host, of each pair, of chosen flows.
//
// A series is cut into buckets of whole windows; a bucket keeps the mean rate and the rates of its
// quietest and its busiest window. Windows that the table leaves out carried nothing and count so.

#pragma once

#include "trainwire/report/limits.h"
#include "trainwire/result/table_reader.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace tw::report {

struct Window {
  std::int64_t start_ns;
  std::int64_t bytes;
};

/// Windows of one width.
struct Series {
  std::string group;      ///< total, host, pair or flow
  std::string name;       ///< "" for the total and a flow, "host0 sends", "host0 > host1"
  std::int64_t width_ns;  ///< of a window
  std::vector<Window> windows;
  std::int64_t bytes() const;
};

struct WindowTable {
  /// The total first, then hosts, then pairs, each with the most bytes first and no more than
  /// the limits say.
  std::vector<Series> series;
  std::map<std::int64_t, Series> flows;  ///< by number in flows.csv
};

/// Of flows only those of `flows`.
WindowTable read_windows(result::TableReader& windows, const std::set<std::int64_t>& flows,
                         const Limits& limits);

/// {"group", "name", "bytes", "start_s", "bucket_s", "window_s", "mean", "min", "max", "rates"},
/// rates in bit/s and times since `origin_ns`; "min" and "max" only where a bucket is more than a
/// window; "rates" is a histogram of the rates in all windows. REQUIRES: windows not empty and in
/// order, width_ns > 0, buckets >= 1.
nlohmann::ordered_json series_document(const Series& series, std::int64_t origin_ns,
                                       std::size_t buckets);

/// Window by window, as much as `most` allows around `middle_ns`: {"name", "start_s", "window_s",
/// "rates"} in bit/s; null when nothing is left of it there. REQUIRES: as series_document().
nlohmann::ordered_json close_document(const Series& series, std::int64_t origin_ns,
                                      std::int64_t middle_ns, std::size_t most);

}  // namespace tw::report
