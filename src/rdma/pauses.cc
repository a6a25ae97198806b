// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rdma/pauses.h"

#include <utility>

namespace tw::rdma {

PauseRule pause_rule(double above_bytes, BitRate rate, Duration delay, double frame_bytes) {
  const double on_the_way = rate.bits_per_second() / 8 * 2 * seconds(delay);
  return {.above_bytes = above_bytes,
          .headroom_bytes = on_the_way + 2 * frame_bytes,
          .frame_bytes = frame_bytes};
}

Pauses::Pauses(std::vector<std::optional<PauseRule>> rules)
    : rules_(std::move(rules)), counts_(rules_.size()) {}

bool Pauses::admits(int port, double bytes) const {
  const PauseRule& rule = *rules_[static_cast<std::size_t>(port)];
  return counts_[static_cast<std::size_t>(port)].held + bytes <=
         rule.above_bytes + rule.headroom_bytes;
}

std::optional<bool> Pauses::hold(int port, double bytes) {
  Count& count = counts_[static_cast<std::size_t>(port)];
  count.held += bytes;
  if (count.paused || count.held <= rules_[static_cast<std::size_t>(port)]->above_bytes) return {};
  return count.paused = true;
}

std::optional<bool> Pauses::release(int port, double bytes) {
  Count& count = counts_[static_cast<std::size_t>(port)];
  const PauseRule& rule = *rules_[static_cast<std::size_t>(port)];
  count.held -= bytes;
  if (!count.paused || count.held > rule.above_bytes - 2 * rule.frame_bytes) return {};
  return count.paused = false;
}

}  // namespace tw::rdma
