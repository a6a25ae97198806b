// SPDX-License-Identifier: Apache-2.0
// Numbers addresses densely in order of first sight: 1, 2, 3... so that tables per address are
// arrays.
//
// Number 0 is the unspecified address "::", which packets without addresses carry too. An IPv4
// address and its IPv4-mapped IPv6 form are one address.
//
// Open addressing with linear probing at a load of at most one half. The hash is keyed by chance,
// so that no capture can be made to collide; the key decides where an address is stored, never its
// number, and so results do not depend on it. Cost: O(1) expected; two loads when an IPv4 address
// is known.
//
// Limits: 2^32 - 1 addresses; memory grows with distinct addresses (about 40 bytes each).

#pragma once

#include "trainwire/packet/address.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tw::packet {

class AddressTable {
 public:
  AddressTable();

  /// The number of the IPv4 address `bits` (host order), given now when it has none.
  std::uint32_t number_of_v4(std::uint32_t bits);
  std::uint32_t number_of(const Address& address);
  /// The same, but 0 when it has none.
  std::uint32_t known_v4(std::uint32_t bits) const { return v4_[place_of_v4(bits)].number; }
  /// Nothing for an address that was never numbered.
  std::optional<std::uint32_t> find(const Address& address) const;
  /// REQUIRES: number < size().
  const Address& operator[](std::uint32_t number) const { return addresses_[number]; }
  /// How many numbers are given, "::" included.
  std::size_t size() const { return addresses_.size(); }

 private:
  /// IPv4: the address itself is the key, so a hit touches nothing else. number 0: free.
  struct Slot {
    std::uint32_t key;
    std::uint32_t number;
  };

  std::size_t place_of_v4(std::uint32_t bits) const;
  std::size_t place_of_v6(const Address& address) const;
  std::uint32_t add_v4(std::uint32_t bits);
  std::uint32_t add_v6(const Address& address);
  void grow_v4();
  void grow_v6();

  std::uint64_t key_[2];
  std::vector<Slot> v4_;
  std::vector<std::uint32_t> v6_;  ///< numbers; 0: free
  std::size_t v4_used_ = 0;
  std::size_t v6_used_ = 0;
  std::vector<Address> addresses_;
};

/// Both halves of the 128-bit product, folded: every input bit reaches every output bit.
inline std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

/// Where `bits` is, or the free place where it belongs.
inline std::size_t AddressTable::place_of_v4(std::uint32_t bits) const {
  const std::size_t mask = v4_.size() - 1;
  std::size_t place = folded_product(bits ^ key_[0], key_[1]) & mask;
  while (v4_[place].number != 0 && v4_[place].key != bits) place = (place + 1) & mask;
  return place;
}

inline std::uint32_t AddressTable::number_of_v4(std::uint32_t bits) {
  const Slot& slot = v4_[place_of_v4(bits)];
  if (slot.number != 0) [[likely]]
    return slot.number;
  return add_v4(bits);
}

}  // namespace tw::packet
