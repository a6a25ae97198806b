// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recover/culprits.h"

#include <algorithm>
#include <map>

namespace tw::recover {

std::vector<int> culprits(std::vector<Cut> cuts) {
  for (Cut& cut : cuts) {
    if (cut.first > cut.second) std::swap(cut.first, cut.second);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  std::vector<int> gone;
  while (!cuts.empty()) {
    std::map<int, int> bad;
    for (const auto& [a, b] : cuts) {
      ++bad[a];
      ++bad[b];
    }
    const auto worst = std::max_element(bad.begin(), bad.end(), [](const auto& a, const auto& b) {
      return std::pair(a.second, a.first) < std::pair(b.second, b.first);
    });
    gone.push_back(worst->first);
    std::erase_if(cuts, [&](const Cut& cut) {
      return cut.first == worst->first || cut.second == worst->first;
    });
  }
  std::sort(gone.begin(), gone.end());
  return gone;
}

}  // namespace tw::recover
