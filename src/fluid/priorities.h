// SPDX-License-Identifier: Apache-2.0
// Flows that share links (sharing.h) by strict priority: those of the highest have max-min rates as
// if they were alone, those of the next on what is left of each link, and so on.
//
// Each priority is a Sharing of its own, whose links carry what those above leave. A link on which
// nobody of another priority is, is as it would be without priorities; with one priority in use this
// is a Sharing.

#pragma once

#include "trainwire/fluid/sharing.h"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tw::fluid {

class Priorities {
 public:
  static constexpr int kCount = 8;

  explicit Priorities(std::vector<double> capacities);

  /// As Sharing::add, of a priority; the higher goes first. REQUIRES: 0 <= priority < kCount.
  int add(std::span<const int> links, double weight, double cap, int priority);
  void remove(int flow);
  void set_cap(int flow, double cap) { of(flow).set_cap(local(flow), cap); }
  void set_weight(int flow, double weight) { of(flow).set_weight(local(flow), weight); }
  void set_capacity(int link, double capacity);

  std::span<const int> solve();
  double rate(int flow) const { return of(flow).rate(local(flow)); }
  double carried(int link) const;
  /// Tells of the flows on a link.
  template <typename Tell>
  void for_each(int link, Tell tell) const {
    for (std::size_t priority = 0; priority < levels_.size(); ++priority) {
      if (!levels_[priority]) continue;
      for (const int flow : levels_[priority]->flows(link)) tell(number_of(flow, priority));
    }
  }
  /// Every priority's rates are max-min on what those above leave, and that is what it was told.
  bool certified(double tolerance = 1e-9) const;

 private:
  // A flow's number is its number among those of its priority, and the priority.
  static int local(int flow) { return flow / kCount; }
  static int number_of(int local, std::size_t priority) {
    return local * kCount + static_cast<int>(priority);
  }
  Sharing& of(int flow) { return *levels_[static_cast<std::size_t>(flow % kCount)]; }
  const Sharing& of(int flow) const { return *levels_[static_cast<std::size_t>(flow % kCount)]; }
  bool has_one() const { return used_ == 1; }
  double left_for(std::size_t priority, int link) const;

  std::vector<double> capacities_;
  std::array<std::optional<Sharing>, kCount> levels_ = {};
  int used_ = 0;            ///< of those
  std::vector<int> stale_;  ///< links, on which those above have another rate
  std::vector<int> changed_;
};

}  // namespace tw::fluid
