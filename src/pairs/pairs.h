// SPDX-License-Identifier: Apache-2.0
// All pairs of hosts, measured two at a time: what stands out, in words and as a document.

#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::pairs {

/// An ordered pair of hosts.
struct Figure {
  int from = 0;
  int to = 0;
  double rate_bps = 0;  ///< alone
  double round_trip_s = 0;
  std::int64_t retransmitted = 0;  ///< packets
};

/// Several looks at each pair, each at some of it (0: not seen), as one: the median rate, the least
/// round trip, all retransmissions. In order. REQUIRES: every pair's rate was seen.
std::vector<Figure> combined(const std::vector<Figure>& looks);

struct Finding {
  std::string what;              ///< rate, round trip, retransmissions
  std::optional<int> from = {};  ///< alone: all that it sends
  std::optional<int> to = {};    ///< alone: all that it receives; both: that way
  double value = 0;              ///< bit/s, seconds, packets of a pair
  double usual = 0;
  double score = 0;  ///< suspects.h
  std::string text = {};
};

/// REQUIRES: every ordered pair of the hosts once, with positive rates and times.
std::vector<Finding> findings(const std::vector<std::string>& hosts,
                              const std::vector<Figure>& figures);

/// "pairs" and "suspects" of the document.
nlohmann::ordered_json to_json(const std::vector<std::string>& hosts,
                               const std::vector<Figure>& figures,
                               const std::vector<Finding>& found);

/// A table of rates, from rows to columns, or of many hosts the slowest pairs; then what was found.
std::string to_text(const std::vector<std::string>& hosts, const std::vector<Figure>& figures,
                    const std::vector<Finding>& found);

}  // namespace tw::pairs
