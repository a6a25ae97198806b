// SPDX-License-Identifier: Apache-2.0
// One numbering of addresses for several captures, each of which has its own.

#pragma once

#include "trainwire/capture/address_table.h"
#include "trainwire/capture/packet.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tw::flow {

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
  std::vector<capture::Address> apply(std::span<capture::Packet> packets, CommonNumbers& numbers,
                                      std::span<const capture::Address> fresh);
  /// The same for a reader whose table is at hand.
  std::vector<capture::Address> apply(std::span<capture::Packet> packets, CommonNumbers& numbers,
                                      const capture::AddressTable& addresses);

 private:
  capture::AddressTable all_;
  std::size_t told_ = 0;  ///< addresses that apply() has returned
};

}  // namespace tw::flow
