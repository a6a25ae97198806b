// SPDX-License-Identifier: Apache-2.0
// A look at the beginning of a capture: when it starts and who captured it, before it is read.

#pragma once

#include "trainwire/capture/reader.h"
#include "trainwire/gather/filter.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tw::gather {

struct Glimpse {
  std::string path;
  std::int64_t file_bytes = 0;                ///< 0 for a pipe
  std::optional<std::int64_t> first_ns = {};  ///< nothing without packets
  /// It lasts until then at least, as far as its end could be read without what is before it;
  /// nothing is known of a file that is not plain pcap.
  std::optional<std::int64_t> last_ns = {};
  /// Addresses in nine tenths of the first packets.
  std::vector<packet::Address> home = {};
  /// A pipe cannot be opened twice: its reader, and what was read from it.
  std::unique_ptr<capture::Reader> reader = {};
  std::vector<packet::Packet> packets = {};
};

/// Throws what open_capture throws, and what the filter (may be null) throws.
Glimpse glimpse(const std::string& path, Filter* filter);

/// Rotation may cut between two queues' packets: so much overlap is none.
inline constexpr std::int64_t kMostOverlapNs = 1'000'000;

/// As far as can be told.
bool may_be_of_one_host(const Glimpse& a, const Glimpse& b);

/// Whether a file with this beginning can be the continuation of one that ended at `last_ns`,
/// having started at `first_ns` and looked like `before`.
bool continues(const Glimpse& file, const Glimpse& before, std::int64_t first_ns,
               std::int64_t last_ns);

}  // namespace tw::gather
