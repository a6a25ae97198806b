// SPDX-License-Identifier: Apache-2.0
#include "trainwire/group/receiver.h"

namespace tw::group {
namespace {

/// Packets before the one that has come that its answer tells of, as answers get lost too.
constexpr std::int64_t kTold = 8;

}  // namespace

void Receiver::arrived(std::int64_t number, bool asks, std::uint32_t says, Time now) {
  const bool is_new = number >= next_ && beyond_.insert(number).second;
  const bool had_holes = beyond_.size() > (is_new ? 1U : 0U);
  while (!beyond_.empty() && *beyond_.begin() == next_) {
    beyond_.erase(beyond_.begin());
    ++next_;
  }
  if (is_new && !asks && !had_holes && beyond_.empty()) return;
  Packet answer{.is_ack = true, .segment = next_, .train = says};
  if (number > next_) {
    std::int64_t first = number;
    while (number - first < kTold && beyond_.contains(first - 1)) --first;
    answer.sacks[0] = {.begin = static_cast<std::uint32_t>(first - next_),
                       .end = static_cast<std::uint32_t>(number - next_ + 1)};
  }
  emit_(answer, now);
}

}  // namespace tw::group
