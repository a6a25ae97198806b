// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/pair_rounds.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <cstddef>

namespace tw::workload {

std::vector<std::vector<std::pair<int, int>>> pair_rounds(int members) {
  check(members >= 2, "a pair needs two");
  const int seats = members + members % 2;  // whoever meets the last seat of an odd number rests
  const int circle = seats - 1;
  std::vector<std::vector<std::pair<int, int>>> rounds(static_cast<std::size_t>(circle));
  for (int round = 0; round < circle; ++round) {
    for (int i = 0; i < seats / 2; ++i) {
      const int a = i == 0 ? circle : (round + i) % circle;
      const int b = (round + circle - i) % circle;
      if (std::max(a, b) >= members) continue;
      rounds[static_cast<std::size_t>(round)].push_back(std::minmax(a, b));
    }
  }
  return rounds;
}

}  // namespace tw::workload
