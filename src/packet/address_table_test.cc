// SPDX-License-Identifier: Apache-2.0
#include "trainwire/packet/address_table.h"

#include <gtest/gtest.h>

#include <chrono>

namespace tw::packet {
namespace {

Address v6_address(std::uint64_t low) {
  Address address = parse_address("fd00::");
  for (std::size_t i = 0; i < 8; ++i) {
    address.bytes[15 - i] = static_cast<std::uint8_t>(low >> (8 * i));
  }
  return address;
}

TEST(AddressTable, NumbersInOrderOfFirstSight) {
  AddressTable table;
  EXPECT_EQ(table.number_of_v4(0x0a000001), 1u);
  EXPECT_EQ(table.number_of(v6_address(1)), 2u);
  EXPECT_EQ(table.number_of_v4(0x0a000002), 3u);
  EXPECT_EQ(table.number_of_v4(0x0a000001), 1u);
  EXPECT_EQ(table.number_of(v6_address(1)), 2u);
  EXPECT_EQ(table.size(), 4u);
  EXPECT_EQ(table[3].text(), "10.0.0.2");
}

TEST(AddressTable, KeepsZeroForNoAddress) {
  AddressTable table;
  EXPECT_EQ(table.number_of(Address{}), 0u);
  EXPECT_EQ(table[0].text(), "::");
  // The IPv4 address 0.0.0.0 is another one than "none".
  EXPECT_EQ(table.number_of_v4(0), 1u);
  EXPECT_EQ(table.number_of_v4(0), 1u);
}

TEST(AddressTable, TakesAMappedAddressForItsV4Self) {
  AddressTable table;
  const std::uint32_t number = table.number_of_v4(0x0a000001);
  EXPECT_EQ(table.number_of(parse_address("::ffff:10.0.0.1")), number);
}

TEST(AddressTable, FindsOnlyWhatWasNumbered) {
  AddressTable table;
  EXPECT_EQ(table.find(v6_address(1)), std::nullopt);
  EXPECT_EQ(table.find(parse_address("10.0.0.1")), std::nullopt);
  const std::uint32_t number = table.number_of(v6_address(1));
  EXPECT_EQ(table.find(v6_address(1)), number);
  EXPECT_EQ(table.find(Address{}), 0u);
  EXPECT_EQ(table.known_v4(0x0a000001), 0u);
  const std::uint32_t v4_number = table.number_of_v4(0x0a000001);
  EXPECT_EQ(table.known_v4(0x0a000001), v4_number);
}

TEST(AddressTable, GrowsWithoutLosingOrRenumbering) {
  AddressTable table;
  constexpr std::uint32_t kEach = 20000;
  for (std::uint32_t i = 0; i < kEach; ++i) {
    ASSERT_EQ(table.number_of_v4(i * 256), 1 + 2 * i);
    ASSERT_EQ(table.number_of(v6_address(i)), 2 + 2 * i);
  }
  for (std::uint32_t i = 0; i < kEach; ++i) {
    ASSERT_EQ(table.find(v4_address(i * 256)), 1 + 2 * i);
    ASSERT_EQ(table.find(v6_address(i)), 2 + 2 * i);
  }
}

TEST(AddressTable, StaysFastForRegularAddresses) {
  // Addresses that differ only in high or only in low bits are what a poor hash piles up. 200,000
  // of them would need 2 * 10^10 probes if they all collided: minutes, against some milliseconds.
  for (const int shift : {0, 8, 14}) {
    AddressTable table;
    const auto start = std::chrono::steady_clock::now();
    for (std::uint32_t i = 0; i < 200'000; ++i) table.number_of_v4(i << shift);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << shift;
  }
}

}  // namespace
}  // namespace tw::packet
