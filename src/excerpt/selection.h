// SPDX-License-Identifier: Apache-2.0
// The packets that a finding or a step is about: as a filter for Wireshark, and to be cut out.
//
//   way    all packets from one address to another, or of one flow between them
//   time   from .. to, on the clock of the first capture file
//
// A packet is selected when one of the ways (if there are any) has it and it lies in the time.

#pragma once

#include "trainwire/diagnose/analysis.h"
#include "trainwire/gather/captured.h"
#include "trainwire/packet/address.h"
#include "trainwire/packet/packet.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::excerpt {

struct Way {
  packet::Address from = {};
  std::optional<packet::Address> to = {};  ///< anybody when absent
  std::uint8_t protocol = 0;               ///< 6 or 17 where the ports count
  std::uint16_t from_port = 0;
  std::uint16_t to_port = 0;
  bool operator==(const Way&) const = default;
};

struct Selection {
  std::vector<Way> ways = {};
  std::optional<std::int64_t> from_ns = {};
  std::optional<std::int64_t> to_ns = {};
  /// The filter shows only what was sent again, which takes the whole flow to know.
  bool repeats = false;

  bool is_everything() const { return ways.empty() && !from_ns && !to_ns; }
};

/// Of analysis.findings[i]. Everything where a finding is about no packets in particular. REQUIRES:
/// there is such a finding, and the analysis is of that traffic.
Selection of_finding(const diagnose::Analysis& analysis, const gather::Captured& traffic,
                     std::size_t i);

/// Of analysis.iterations.steps[i]. REQUIRES: there is such a step.
Selection of_step(const diagnose::Analysis& analysis, std::size_t i);

/// A display filter in Wireshark's words; "" for everything.
std::string wireshark_filter(const Selection& selection);

/// `source` and `destination` are the packet's addresses.
bool selects(const Selection& selection, const packet::Packet& packet,
             const packet::Address& source, const packet::Address& destination);

}  // namespace tw::excerpt
