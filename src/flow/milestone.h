// SPDX-License-Identifier: Apache-2.0
// When a flow's sequence or acknowledgement number first reached certain positions: what two
// captures of one flow have in common, however offload cut it into packets.
//
// A milestone at position p is the time at which the number first was p or more. Of the positions
// that a packet passes, the roundest is kept (divisible by the largest power of two), and of all
// those, multiples of a power of two that grows with the flow. So two captures that saw different
// pieces agree on which positions they keep, and memory is bounded by kMost a flow.
//
// Limits: positions count from the 32-bit number that was seen first. Two captures of which one
// began 4 GiB later disagree on them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tw::flow {

struct Milestone {
  std::uint64_t position;
  std::int64_t time_ns;
};

class Milestones {
 public:
  static constexpr std::size_t kMost = 24;

  /// The number is `number` now; one that is not ahead of all before says nothing.
  void pass(std::int64_t time_ns, std::uint32_t number) {
    const auto ahead = static_cast<std::int32_t>(number - static_cast<std::uint32_t>(last_));
    if (started_ && ahead <= 0) return;
    const std::uint64_t before = last_;
    last_ = started_ ? last_ + static_cast<std::uint32_t>(ahead) : number;
    if (!started_ || before >> shift_ != last_ >> shift_) keep(before, time_ns);
    started_ = true;
  }
  /// As another analysis kept them; no more are passed.
  static Milestones kept(std::vector<Milestone> passed) {
    Milestones made;
    made.passed_ = std::move(passed);
    return made;
  }
  /// By position.
  const std::vector<Milestone>& passed() const { return passed_; }

 private:
  void keep(std::uint64_t before, std::int64_t time_ns);

  std::uint64_t last_ = 0;
  unsigned shift_ = 0;
  bool started_ = false;
  std::vector<Milestone> passed_;
};

}  // namespace tw::flow
