// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/numbering.h"

namespace tw::flow {

void Numbering::begin_file() {
  common_.clear();
  differs_ = false;
}

std::vector<capture::Address> Numbering::apply(std::span<capture::Packet> packets,
                                               const capture::AddressTable& addresses) {
  while (common_.size() < addresses.size()) {
    const auto number = static_cast<std::uint32_t>(common_.size());
    common_.push_back(number == 0 ? 0 : all_.number_of(addresses[number]));
    differs_ |= common_.back() != number;
  }
  if (differs_) {
    for (capture::Packet& packet : packets) {
      packet.source = common_[packet.source];
      packet.destination = common_[packet.destination];
    }
  }
  std::vector<capture::Address> fresh;
  for (; told_ < all_.size(); ++told_) fresh.push_back(all_[static_cast<std::uint32_t>(told_)]);
  return fresh;
}

}  // namespace tw::flow
