// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/same_senders.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

namespace tw::flow {
namespace {

constexpr std::size_t kFewestStarts = 4;
constexpr std::size_t kMostStarts = 60;  ///< of a lane; more tell no more
constexpr std::size_t kMostLanes = 1024;
constexpr double kTogether = 0.2;  ///< of what beginnings of other senders vary by, at most
/// The same where there are many beginnings. Of real jobs, connections of one rank had 0.22 at most, of different ranks 0.46 at least.
constexpr double kTogetherInMany = 0.3;
constexpr std::size_t kManyStarts = 10;
constexpr double kAsTightly = 2;  ///< times what fewer connections of a sender vary by, at most

using Groups = std::vector<std::vector<std::size_t>>;
using Starts = std::vector<std::int64_t>;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Shorter pauses are inside a step: where the lengths of pauses, of all lanes, drop most.
double long_pause(const std::vector<const std::vector<Burst>*>& lanes) {
  std::vector<double> pauses;
  for (const std::vector<Burst>* lane : lanes) {
    for (std::size_t i = 1; i < lane->size(); ++i)
      pauses.push_back(static_cast<double>((*lane)[i].start_ns - (*lane)[i - 1].end_ns));
  }
  std::sort(pauses.begin(), pauses.end(), std::greater<>());
  double most = 0;
  double found = 0;
  const std::size_t last = std::min(kMostStarts * lanes.size() + 1, pauses.size());
  for (std::size_t i = kFewestStarts * lanes.size(); i < last; ++i) {
    const double drop = pauses[i - 1] / std::max(1.0, pauses[i]);
    if (drop <= most) continue;
    most = drop;
    found = std::sqrt(pauses[i - 1] * std::max(1.0, pauses[i]));
  }
  return found;
}

Starts starts_after(const std::vector<Burst>& lane, double pause) {
  Starts starts;
  for (std::size_t i = 1; i < lane.size(); ++i) {
    if (static_cast<double>(lane[i].start_ns - lane[i - 1].end_ns) >= pause)
      starts.push_back(lane[i].start_ns);
  }
  return starts;
}

/// Median of how far distances from `a` to the nearest of `b` are from their own median.
double variation(const Starts& a, const Starts& b) {
  std::vector<double> distances;
  for (const std::int64_t start : a) {
    const auto next = std::lower_bound(b.begin(), b.end(), start);
    std::int64_t nearest = next == b.end() ? b.back() : *next;
    if (next != b.begin() && std::abs(*(next - 1) - start) < std::abs(nearest - start))
      nearest = *(next - 1);
    distances.push_back(static_cast<double>(nearest - start));
  }
  const double usual = median(distances);
  for (double& each : distances) each = std::abs(each - usual);
  return median(distances);
}

/// How much beginnings of two lanes vary against each other.
class Variations {
 public:
  explicit Variations(const std::vector<Starts>& starts) : size_(starts.size()) {
    between_.resize(size_ * size_);
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const double both =
            std::max(variation(starts[i], starts[j]), variation(starts[j], starts[i]));
        between_[i * size_ + j] = between_[j * size_ + i] = both;
      }
    }
  }
  double of(std::size_t a, std::size_t b) const { return between_[a * size_ + b]; }
  std::size_t size() const { return size_; }

 private:
  std::size_t size_;
  std::vector<double> between_;
};

struct Fit {
  double within = 0;
  double ratio = std::numeric_limits<double>::infinity();  ///< to what is between groups
};

Fit fit_of(const Groups& groups, const Variations& variations) {
  std::vector<std::size_t> group_of(variations.size());
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const std::size_t lane : groups[group]) group_of[lane] = group;
  }
  std::vector<double> within;
  std::vector<double> between;
  for (std::size_t i = 0; i < variations.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j)
      (group_of[i] == group_of[j] ? within : between).push_back(variations.of(i, j));
  }
  Fit fit{.within = median(within)};
  const double others = median(between);
  if (others > 0) fit.ratio = fit.within / others;
  return fit;
}

/// The closest two, then whoever is closest to all of them, until there are `size`; and so on.
Groups grouped(const Variations& variations, std::size_t size) {
  std::vector<std::size_t> left(variations.size());
  std::iota(left.begin(), left.end(), 0);
  Groups groups;
  while (!left.empty()) {
    std::vector<std::size_t> group;
    double closest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < left.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (variations.of(left[i], left[j]) >= closest) continue;
        closest = variations.of(left[i], left[j]);
        group = {left[j], left[i]};
      }
    }
    const auto farthest = [&](std::size_t lane) {
      double most = 0;
      for (const std::size_t each : group) most = std::max(most, variations.of(lane, each));
      return most;
    };
    const auto is_free = [&](std::size_t lane) {
      return std::find(group.begin(), group.end(), lane) == group.end();
    };
    while (group.size() < size) {
      std::size_t best = left.front();
      double least = std::numeric_limits<double>::infinity();
      for (const std::size_t lane : left) {
        if (!is_free(lane) || farthest(lane) >= least) continue;
        least = farthest(lane);
        best = lane;
      }
      group.push_back(best);
    }
    std::erase_if(left, [&](std::size_t lane) { return !is_free(lane); });
    std::sort(group.begin(), group.end());
    groups.push_back(std::move(group));
  }
  return groups;
}

/// The largest groups that begin together, so far as `together` says; nothing where none do.
Groups tight_groups(const Variations& variations, double together) {
  Groups best;
  double before = 0;
  for (std::size_t size = 2; 2 * size <= variations.size(); ++size) {
    if (variations.size() % size != 0) continue;
    Groups groups = grouped(variations, size);
    const Fit fit = fit_of(groups, variations);
    if (fit.ratio > together || (!best.empty() && fit.within > kAsTightly * before)) continue;
    best = std::move(groups);
    before = fit.within;
  }
  return best;
}

/// Lanes that lead to one place, where each place has as many of them and they begin together; else each alone.
Groups units_of(const std::vector<Starts>& starts, const std::vector<int>& leads_to) {
  std::map<int, std::vector<std::size_t>> by_place;
  for (std::size_t lane = 0; lane < leads_to.size(); ++lane)
    by_place[leads_to[lane]].push_back(lane);
  Groups together;
  for (const auto& [place, lanes] : by_place) together.push_back(lanes);
  const bool are_even = std::all_of(together.begin(), together.end(), [&](const auto& lanes) {
    return lanes.size() == together.front().size();
  });
  if (are_even && together.front().size() > 1 && together.size() > 1 &&
      fit_of(together, Variations(starts)).ratio <= kTogether) {
    return together;
  }
  Groups alone;
  for (std::size_t lane = 0; lane < starts.size(); ++lane) alone.push_back({lane});
  return alone;
}

}  // namespace

std::vector<std::vector<std::size_t>> same_senders(
    const std::vector<const std::vector<Burst>*>& lanes, const std::vector<int>& leads_to) {
  if (lanes.size() < 4 || lanes.size() > kMostLanes) return {};
  const double pause = long_pause(lanes);
  std::vector<Starts> starts;
  for (const std::vector<Burst>* lane : lanes) {
    starts.push_back(starts_after(*lane, pause));
    if (pause <= 0 || starts.back().size() < kFewestStarts) return {};
  }
  const Groups units = units_of(starts, leads_to);
  std::vector<Starts> of_units;
  bool are_many = true;
  for (const std::vector<std::size_t>& unit : units) {
    of_units.push_back(starts[unit.front()]);
    are_many = are_many && of_units.back().size() >= kManyStarts;
  }
  const double together = are_many ? kTogetherInMany : kTogether;
  Groups made;
  for (const std::vector<std::size_t>& group : tight_groups(Variations(of_units), together)) {
    std::vector<std::size_t>& all = made.emplace_back();
    for (const std::size_t unit : group)
      all.insert(all.end(), units[unit].begin(), units[unit].end());
  }
  if (made.empty() && units.size() < lanes.size()) made = units;
  return made;
}

}  // namespace tw::flow
