// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/hash.h"

#include <random>

namespace tw::flow {

Hash::Hash() {
  std::random_device chance;
  for (std::uint64_t& key : key_) key = (std::uint64_t{chance()} << 32 | chance()) | 1;
}

}  // namespace tw::flow
