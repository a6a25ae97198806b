// SPDX-License-Identifier: Apache-2.0
// Packets and files of other programs on one axis of time.
//
// The last bytes of a collective arrive just before it ends for its ranks. So where packets pause after it, its end stands at an
// end of what packets carry; the offset at which most ends do so is that of the two clocks. Steps are much alike, so that an
// offset of one step more explains nearly as many ends, though less closely: no two steps take quite the same time. Of offsets that explain about as
// many ends the smallest is taken, up to ten seconds, unless another explains them much more closely.
//
// Limits: where steps do take the same time, clocks that are apart by more than half a step may be put together one step off; `also_ns` then says so.
// Without traces of two ranks there are no ends, and times are taken as they are.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace tw::operations {

/// How far ends of what packets carry are behind those of collectives.
struct WireClock {
  std::int64_t offset_ns = 0;
  std::int64_t uncertainty_ns = 0;  ///< median of what is left
  std::size_t matched = 0;
  std::size_t ends = 0;
  std::optional<std::int64_t> also_ns = {};  ///< nearest offset that fits as well
  bool is_other() const;                     ///< more than ends differ by anyway
};

/// `ends_ns` of collectives, `pauses_ns` where packets pause; both rising. Nothing where no offset explains most ends.
std::optional<WireClock> wire_clock(std::vector<std::int64_t> ends_ns,
                                    std::vector<std::int64_t> pauses_ns);

}  // namespace tw::operations
