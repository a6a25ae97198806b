// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/chains.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tw::gather {
namespace {

/// Whether the file may be in one point of view with one that began before it.
bool may_follow(const Glimpse& file, const Glimpse& before) {
  const bool overlaps = before.last_ns && *file.first_ns < *before.last_ns - kMostOverlapNs;
  return !overlaps && may_be_of_one_host(file, before);
}

}  // namespace

Chain by_beginning(std::span<const Glimpse> files) {
  Chain order(files.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return files[a].first_ns < files[b].first_ns;
  });
  return order;
}

std::vector<Chain> chains_of(std::span<const Glimpse> files) {
  const Chain order = by_beginning(files);
  std::vector<Chain> chains(files.empty() ? 0 : 1);  // of places in the order
  std::size_t first = 0;
  for (; first < order.size() && !files[order[first]].first_ns; ++first) chains[0].push_back(first);
  if (first < order.size()) chains[0].push_back(first);
  for (std::size_t place = first + 1; place < order.size(); ++place) {
    Chain joined{place};
    // What the file may follow belongs together from now on.
    std::erase_if(chains, [&](const Chain& chain) {
      const bool is_before = std::ranges::any_of(chain, [&](std::size_t before) {
        return before >= first && may_follow(files[order[place]], files[order[before]]);
      });
      if (is_before) joined.insert(joined.end(), chain.begin(), chain.end());
      return is_before;
    });
    chains.push_back(std::move(joined));
  }
  for (Chain& chain : chains) std::ranges::sort(chain);
  std::ranges::sort(chains);
  for (Chain& chain : chains) {
    for (std::size_t& place : chain) place = order[place];
  }
  return chains;
}

}  // namespace tw::gather
