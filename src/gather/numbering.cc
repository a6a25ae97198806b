// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/numbering.h"

namespace tw::gather {

std::vector<packet::Address> Numbering::apply(std::span<packet::Packet> packets,
                                              CommonNumbers& numbers,
                                              std::span<const packet::Address> fresh) {
  for (const packet::Address& address : fresh) {
    const std::uint32_t number = numbers.of.empty() ? 0 : all_.number_of(address);
    numbers.differ |= number != numbers.of.size();
    numbers.of.push_back(number);
  }
  if (numbers.differ) {
    for (packet::Packet& packet : packets) {
      packet.source = numbers.of[packet.source];
      packet.destination = numbers.of[packet.destination];
    }
  }
  std::vector<packet::Address> told;
  for (; told_ < all_.size(); ++told_) told.push_back(all_[static_cast<std::uint32_t>(told_)]);
  return told;
}

std::vector<packet::Address> Numbering::apply(std::span<packet::Packet> packets,
                                              CommonNumbers& numbers,
                                              const packet::AddressTable& addresses) {
  std::vector<packet::Address> fresh;
  for (std::size_t i = numbers.of.size(); i < addresses.size(); ++i) {
    fresh.push_back(addresses[static_cast<std::uint32_t>(i)]);
  }
  return apply(packets, numbers, fresh);
}

}  // namespace tw::gather
