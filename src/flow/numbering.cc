// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/numbering.h"

namespace tw::flow {

std::vector<capture::Address> Numbering::apply(std::span<capture::Packet> packets,
                                               CommonNumbers& numbers,
                                               std::span<const capture::Address> fresh) {
  for (const capture::Address& address : fresh) {
    const std::uint32_t number = numbers.of.empty() ? 0 : all_.number_of(address);
    numbers.differ |= number != numbers.of.size();
    numbers.of.push_back(number);
  }
  if (numbers.differ) {
    for (capture::Packet& packet : packets) {
      packet.source = numbers.of[packet.source];
      packet.destination = numbers.of[packet.destination];
    }
  }
  std::vector<capture::Address> told;
  for (; told_ < all_.size(); ++told_) told.push_back(all_[static_cast<std::uint32_t>(told_)]);
  return told;
}

std::vector<capture::Address> Numbering::apply(std::span<capture::Packet> packets,
                                               CommonNumbers& numbers,
                                               const capture::AddressTable& addresses) {
  std::vector<capture::Address> fresh;
  for (std::size_t i = numbers.of.size(); i < addresses.size(); ++i) {
    fresh.push_back(addresses[static_cast<std::uint32_t>(i)]);
  }
  return apply(packets, numbers, fresh);
}

}  // namespace tw::flow
