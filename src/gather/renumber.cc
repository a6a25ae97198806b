// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/renumber.h"

#include <algorithm>
#include <tuple>

namespace tw::gather {
namespace {

void renumber(std::vector<flow::Flow>& flows, const Numbers& numbers) {
  for (flow::Flow& flow : flows) {
    flow.key.source = numbers[flow.key.source];
    flow.key.destination = numbers[flow.key.destination];
  }
}

bool changes_nothing(const Numbers& numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] != i) return false;
  }
  return true;
}

}  // namespace

Numbers numbers_in(packet::AddressTable& table, std::span<const packet::Address> addresses) {
  Numbers numbers;
  numbers.reserve(addresses.size());
  for (const packet::Address& address : addresses) {
    numbers.push_back(numbers.empty() ? 0 : table.number_of(address));
  }
  return numbers;
}

std::vector<packet::Address> all_of(const packet::AddressTable& table) {
  std::vector<packet::Address> addresses;
  addresses.reserve(table.size());
  for (std::uint32_t i = 0; i < table.size(); ++i) addresses.push_back(table[i]);
  return addresses;
}

void renumber(PartialView& part, const Numbers& numbers) {
  if (changes_nothing(numbers)) return;
  renumber(part.view.flows, numbers);
  renumber(part.small, numbers);
  for (flow::PairCount& pair : part.view.pairs) {
    pair.source = numbers[pair.source];
    pair.destination = numbers[pair.destination];
  }
  std::sort(part.view.flows.begin(), part.view.flows.end(),
            [](const flow::Flow& a, const flow::Flow& b) {
              return std::tie(a.key, a.first_ns) < std::tie(b.key, b.first_ns);
            });
}

}  // namespace tw::gather
