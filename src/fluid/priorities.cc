// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fluid/priorities.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tw::fluid {
namespace {

constexpr double kRest = 1e-9;  ///< of a capacity: less is left by rounding alone

}  // namespace

Priorities::Priorities(std::vector<double> capacities) : capacities_(std::move(capacities)) {}

int Priorities::add(std::span<const int> links, double weight, double cap, int priority) {
  check(priority >= 0 && priority < kCount, "there are eight priorities");
  const auto at = static_cast<std::size_t>(priority);
  if (!levels_[at]) {
    std::vector<double> left = capacities_;
    for (std::size_t i = 0; i < left.size() && used_ > 0; ++i) {
      left[i] = left_for(at, static_cast<int>(i));
    }
    levels_[at].emplace(std::move(left));
    ++used_;
  }
  return number_of(levels_[at]->add(links, weight, cap), at);
}

void Priorities::remove(int flow) {
  if (!has_one()) {
    for (const int link : of(flow).links(local(flow))) stale_.push_back(link);
  }
  of(flow).remove(local(flow));
}

void Priorities::set_capacity(int link, double capacity) {
  capacities_[static_cast<std::size_t>(link)] = capacity;
  for (std::size_t i = 0; i < kCount; ++i) {
    if (levels_[i]) levels_[i]->set_capacity(link, left_for(i, link));
  }
}

/// What those above have of a link is not there.
double Priorities::left_for(std::size_t priority, int link) const {
  const double capacity = capacities_[static_cast<std::size_t>(link)];
  double left = capacity;
  for (std::size_t i = priority + 1; i < kCount; ++i) {
    if (levels_[i]) left -= levels_[i]->carried(link);
  }
  return left <= kRest * capacity ? 0 : left;
}

std::span<const int> Priorities::solve() {
  changed_.clear();
  for (std::size_t i = kCount; i-- > 0;) {
    if (!levels_[i]) continue;
    for (const int link : stale_) {
      const double left = left_for(i, link);
      if (left != levels_[i]->capacity(link)) levels_[i]->set_capacity(link, left);
    }
    for (const int flow : levels_[i]->solve()) {
      changed_.push_back(number_of(flow, i));
      if (has_one()) continue;
      for (const int link : levels_[i]->links(flow)) stale_.push_back(link);
    }
    std::sort(stale_.begin(), stale_.end());
    stale_.erase(std::unique(stale_.begin(), stale_.end()), stale_.end());
  }
  stale_.clear();
  return changed_;
}

double Priorities::carried(int link) const {
  double sum = 0;
  for (const auto& level : levels_) sum += level ? level->carried(link) : 0;
  return sum;
}

bool Priorities::certified(double tolerance) const {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (!levels_[i]) continue;
    if (!levels_[i]->certified(tolerance)) return false;
    for (std::size_t link = 0; link < capacities_.size(); ++link) {
      const double left = left_for(i, static_cast<int>(link));
      const double told = levels_[i]->capacity(static_cast<int>(link));
      if (std::abs(left - told) > tolerance * capacities_[link]) return false;
    }
  }
  return true;
}

}  // namespace tw::fluid
