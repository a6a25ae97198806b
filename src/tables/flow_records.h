// SPDX-License-Identifier: Apache-2.0
// Who sent how much to whom, as collectors of flows write it: Zeek's conn.log (its own text, or JSON lines), nfdump -o csv,
// Argus (ra -c , -s saddr daddr spkts dpkts sbytes dbytes), tshark -T fields -E header=y, tshark -z conv.
//
// Columns are found by their names, whichever program's; rows of both directions become two. Bytes are what the program
// counts: `layer` says of what.
//
// Limits: a flow is reported when it ends or every minute and more, so that steps of a training are not visible, only the
// matrix; samples (sFlow) are not scaled; more than kMostPairs pairs of addresses are not kept.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tw::tables {

inline constexpr std::size_t kMostPairs = 1'000'000;

/// One direction between two addresses.
struct Sent {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::uint64_t payload_bytes = 0;  ///< 0 where it is not told
  bool operator==(const Sent&) const = default;
};

struct FlowRecords {
  std::string program;  ///< "zeek", "nfdump", "argus", "tshark"
  std::string layer;    ///< "IP packets", "frames"
  std::map<std::pair<std::string, std::string>, Sent> pairs = {};  ///< from, to
  std::uint64_t records = 0;
  std::map<std::string, std::uint64_t> skipped = {};  ///< by reason
  std::vector<std::string> limits = {};
};

/// "" for a text that is none of these.
std::string_view flow_program_of(std::string_view text);

/// Throws DataError naming `name` when no row tells an amount.
FlowRecords parse_flow_records(std::string_view text, std::string_view name);

/// Adds what one row tells; addresses that are none are counted as skipped.
void add_flow(FlowRecords& into, std::string_view from, std::string_view to, const Sent& sent);

}  // namespace tw::tables
