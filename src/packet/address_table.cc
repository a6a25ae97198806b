// SPDX-License-Identifier: Apache-2.0
#include "trainwire/packet/address_table.h"

#include "trainwire/base/error.h"

#include <cstring>
#include <random>

namespace tw::packet {
namespace {

constexpr std::size_t kFirstSize = 64;

std::uint64_t chance() {
  std::random_device device;
  return static_cast<std::uint64_t>(device()) << 32 | device();
}

std::uint32_t v4_bits(const Address& address) {
  const auto& b = address.bytes;
  return static_cast<std::uint32_t>(b[12]) << 24 | static_cast<std::uint32_t>(b[13]) << 16 |
         static_cast<std::uint32_t>(b[14]) << 8 | b[15];
}

}  // namespace

// A multiplier with few bits set would mix badly: the top and the bottom bit are always set.
AddressTable::AddressTable()
    : key_{chance(), chance() | 1 | std::uint64_t{1} << 63},
      v4_(kFirstSize, Slot{}),
      v6_(kFirstSize, 0),
      addresses_(1) {}

std::uint32_t AddressTable::number_of(const Address& address) {
  if (address.is_v4()) return number_of_v4(v4_bits(address));
  if (address == Address{}) return 0;
  const std::uint32_t number = v6_[place_of_v6(address)];
  return number != 0 ? number : add_v6(address);
}

std::optional<std::uint32_t> AddressTable::find(const Address& address) const {
  if (address == Address{}) return 0;
  const std::uint32_t number =
      address.is_v4() ? v4_[place_of_v4(v4_bits(address))].number : v6_[place_of_v6(address)];
  if (number == 0) return std::nullopt;
  return number;
}

std::size_t AddressTable::place_of_v6(const Address& address) const {
  std::uint64_t half[2];
  std::memcpy(half, address.bytes.data(), sizeof half);
  const std::uint64_t first = folded_product(half[0] ^ key_[0], key_[1]);
  const std::size_t mask = v6_.size() - 1;
  std::size_t place = folded_product(half[1] ^ first, key_[1]) & mask;
  while (v6_[place] != 0 && addresses_[v6_[place]] != address) place = (place + 1) & mask;
  return place;
}

std::uint32_t AddressTable::add_v4(std::uint32_t bits) {
  if (2 * (v4_used_ + 1) > v4_.size()) grow_v4();
  ++v4_used_;
  const auto number = static_cast<std::uint32_t>(addresses_.size());
  check(number != 0, "fewer than 2^32 addresses");
  addresses_.push_back(v4_address(bits));
  v4_[place_of_v4(bits)] = {.key = bits, .number = number};
  return number;
}

std::uint32_t AddressTable::add_v6(const Address& address) {
  if (2 * (v6_used_ + 1) > v6_.size()) grow_v6();
  ++v6_used_;
  const auto number = static_cast<std::uint32_t>(addresses_.size());
  check(number != 0, "fewer than 2^32 addresses");
  v6_[place_of_v6(address)] = number;
  addresses_.push_back(address);
  return number;
}

void AddressTable::grow_v4() {
  std::vector<Slot> old(2 * v4_.size(), Slot{});
  old.swap(v4_);
  for (const Slot& slot : old) {
    if (slot.number != 0) v4_[place_of_v4(slot.key)] = slot;
  }
}

void AddressTable::grow_v6() {
  std::vector<std::uint32_t> old(2 * v6_.size(), 0);
  old.swap(v6_);
  for (const std::uint32_t number : old) {
    if (number != 0) v6_[place_of_v6(addresses_[number])] = number;
  }
}

}  // namespace tw::packet
