// SPDX-License-Identifier: Apache-2.0
#include "trainwire/group/summing.h"

#include <algorithm>
#include <limits>

namespace tw::group {

Summed Summing::add(std::int64_t number, Places places, bool asks) {
  // Who sends it has not heard that it arrived; the hub will say so again.
  if (number < free_until_) return Summed::Passed;
  const auto [found, is_new] = sums_.try_emplace(number);
  Sum& sum = found->second;
  if (is_new) {
    sum.passes = pool_ != nullptr && !pool_->take(node_);
    if (!sum.passes) sum.copies.resize(static_cast<std::size_t>(below_.size()));
  }
  if (sum.passes) {
    ++passed_;
    return Summed::Passed;
  }
  sum.asks = sum.asks || asks;
  const int before = sum.there;
  for (int place = places.begin; place < places.end; ++place) {
    std::uint16_t& copies = sum.copies[static_cast<std::size_t>(place - below_.begin)];
    if (copies == 0) ++sum.there;
    if (copies < std::numeric_limits<std::uint16_t>::max()) ++copies;
    sum.most = std::max(sum.most, copies);
  }
  if (sum.there > before) ++sum.packets;
  if (sum.there < below_.size() || sum.sent >= sum.most) return Summed::Kept;
  sum.sent = sum.most;
  return Summed::Complete;
}

void Summing::forget(std::unordered_map<std::int64_t, Sum>::iterator sum) {
  if (pool_ != nullptr && !sum->second.passes) pool_->give_back(node_);
  sums_.erase(sum);
}

void Summing::free_before(std::int64_t next) {
  for (; free_until_ < next; ++free_until_) free_one(free_until_);
}

void Summing::free_one(std::int64_t number) {
  const auto found = sums_.find(number);
  if (found != sums_.end()) forget(found);
}

}  // namespace tw::group
