// SPDX-License-Identifier: Apache-2.0
// Who sends how much to whom in a typical step, as a square matrix over the hosts that take part:
// what strategies are told apart by.

#pragma once

#include "trainwire/rhythm/steps.h"

#include <cstddef>
#include <vector>

namespace tw::recognise {

/// Places 0..size-1 stand for hosts, in rising order.
class Pattern {
 public:
  explicit Pattern(const rhythm::Steps& exchanges);
  /// `bytes` row by row.
  Pattern(std::vector<int> hosts, std::vector<double> bytes);

  int size() const { return static_cast<int>(hosts_.size()); }
  int host(int place) const { return hosts_[static_cast<std::size_t>(place)]; }
  double at(int from, int to) const {
    return bytes_[static_cast<std::size_t>(from) * hosts_.size() + static_cast<std::size_t>(to)];
  }
  double sent(int place) const;
  double received(int place) const;
  double total() const { return total_; }
  double largest() const { return largest_; }

  struct Edge {
    int from;
    int to;
    double bytes;
  };
  /// Pairs that carry bytes.
  const std::vector<Edge>& edges() const { return edges_; }
  /// Whether all edges carry the same, within `tolerance` of their mean.
  bool is_even(double tolerance) const;

 private:
  std::vector<int> hosts_;
  std::vector<double> bytes_;
  std::vector<Edge> edges_ = {};
  double total_ = 0;
  double largest_ = 0;

  void collect_edges();
};

}  // namespace tw::recognise
