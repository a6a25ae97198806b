// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/milestone.h"

#include <bit>

namespace tw::flow {

void Milestones::keep(std::uint64_t before, std::int64_t time_ns) {
  // The roundest number in (before, last_] has zeros below the highest bit in which they differ.
  const std::uint64_t zeros = started_ ? std::bit_width(before ^ last_) - 1 : 0;
  passed_.push_back({.position = last_ >> zeros << zeros, .time_ns = time_ns});
  while (passed_.size() > kMost) {
    ++shift_;
    std::erase_if(passed_, [this](const Milestone& milestone) {
      return (milestone.position & ((std::uint64_t{1} << shift_) - 1)) != 0;
    });
  }
}

}  // namespace tw::flow
