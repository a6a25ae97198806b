// SPDX-License-Identifier: Apache-2.0
// One numbering of addresses for what was read apart, each under its own.

#pragma once

#include "trainwire/gather/partial.h"
#include "trainwire/packet/address.h"
#include "trainwire/packet/address_table.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tw::gather {

/// Common numbers by own ones.
using Numbers = std::vector<std::uint32_t>;

/// Those of addresses in the order of their own numbers, the first of which is "::"; new ones get
/// one.
Numbers numbers_in(packet::AddressTable& table, std::span<const packet::Address> addresses);
std::vector<packet::Address> all_of(const packet::AddressTable& table);

/// Flows are in the order of their keys again.
void renumber(PartialView& part, const Numbers& numbers);

}  // namespace tw::gather
