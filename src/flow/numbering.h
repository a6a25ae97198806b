// SPDX-License-Identifier: Apache-2.0
// One numbering of addresses for several captures, each of which has its own.

#pragma once

#include "trainwire/capture/address_table.h"
#include "trainwire/capture/packet.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tw::flow {

class Numbering {
 public:
  /// The packets that follow are another reader's.
  void begin_file();
  /// Replaces the numbers of `addresses` in `packets` by common ones. Returns the addresses that
  /// are new since the last call, in the order of their numbers; the first of all is number 0.
  std::vector<capture::Address> apply(std::span<capture::Packet> packets,
                                      const capture::AddressTable& addresses);

 private:
  capture::AddressTable all_;
  std::size_t told_ = 0;               ///< addresses that apply() has returned
  std::vector<std::uint32_t> common_;  ///< by the reader's number
  bool differs_ = false;
};

}  // namespace tw::flow
