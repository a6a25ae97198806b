// SPDX-License-Identifier: Apache-2.0
// A queue that knows the best pair in it: of sources and places, in the order in which they are
// pushed, the largest sum of a source and a place behind it. Sources leave at the front.
//
// Two stacks: what is in front is summed up towards the front, what is behind is summed up as a
// whole, and becomes the front when that is empty. Every operation is O(1) on average.

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace tw::regular {

class Window {
 public:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min() / 4;

  void clear();
  /// REQUIRES: numbers do not fall.
  void push_source(std::int64_t value, std::int64_t number);
  void push_place(std::int64_t value);
  /// Sources with lower numbers leave.
  void drop_below(std::int64_t number);

  /// kNone, or far below zero, without one.
  std::int64_t best_source() const;
  std::int64_t best_pair() const;

 private:
  struct Sum {
    std::int64_t source = kNone;
    std::int64_t place = kNone;
    std::int64_t pair = kNone;
  };
  struct Item {
    Sum sum;
    std::int64_t number;  ///< of a place: that of the source before it
  };
  static Sum joined(const Sum& before, const Sum& behind);
  Sum all() const;
  void turn();

  std::vector<Item> items_;
  std::size_t head_ = 0;    ///< the first that is still in it
  std::size_t middle_ = 0;  ///< items before are summed up towards the front
  std::int64_t last_ = kNone;
  Sum behind_;
};

}  // namespace tw::regular
