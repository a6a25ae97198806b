// SPDX-License-Identifier: Apache-2.0
// One numbering of addresses for several captures, each of which has its own.

#pragma once

#include "trainwire/packet/address_table.h"
#include "trainwire/packet/packet.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tw::gather {

/// One reader's numbers as common ones.
struct CommonNumbers {
  std::vector<std::uint32_t> of = {};  ///< by the reader's number
  bool differ = false;                 ///< from the reader's
};

class Numbering {
 public:
  /// Replaces a reader's numbers in `packets` by common ones. `fresh` are the addresses behind
  /// those that `numbers` has, in the order of the reader's numbers. Returns the addresses that are
  /// new since the last call, in the order of the common numbers; the first of all is number 0.
  std::vector<packet::Address> apply(std::span<packet::Packet> packets, CommonNumbers& numbers,
                                     std::span<const packet::Address> fresh);
  /// The same for a reader whose table is at hand.
  std::vector<packet::Address> apply(std::span<packet::Packet> packets, CommonNumbers& numbers,
                                     const packet::AddressTable& addresses);

 private:
  packet::AddressTable all_;
  std::size_t told_ = 0;  ///< addresses that apply() has returned
};

}  // namespace tw::gather
