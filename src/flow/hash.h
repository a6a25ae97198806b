// SPDX-License-Identifier: Apache-2.0
// Where things are stored in tables, keyed by chance: no capture can be made to collide. The key
// decides places only, never results.

#pragma once

#include "trainwire/packet/address_table.h"

#include <cstdint>

namespace tw::flow {

class Hash {
 public:
  Hash();
  std::uint64_t operator()(std::uint64_t a, std::uint64_t b) const {
    return packet::folded_product(a ^ key_[0], b ^ key_[1]);
  }

 private:
  std::uint64_t key_[2];
};

}  // namespace tw::flow
