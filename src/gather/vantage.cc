// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/vantage.h"

#include "trainwire/base/error.h"
#include "trainwire/base/parallel.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

namespace tw::gather {
namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;
using Comparisons = std::map<std::pair<std::size_t, std::size_t>, Comparison>;

/// Pairs of hosts whose flows two views saw, by the views.
using Common = std::map<std::pair<std::size_t, std::size_t>, std::vector<Pair>>;

Common common_pairs(const std::vector<flow::View>& views) {
  std::vector<std::pair<Pair, std::size_t>> seen;  // by whom
  for (std::size_t i = 0; i < views.size(); ++i) {
    for (const flow::Flow& flow : views[i].flows) {
      const std::pair sight(Pair(flow.key.source, flow.key.destination), i);
      if (seen.empty() || seen.back() != sight) seen.push_back(sight);  // most come in their order
    }
  }
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  Common common;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    for (std::size_t j = i + 1; j < seen.size() && seen[j].first == seen[i].first; ++j) {
      common[{seen[i].second, seen[j].second}].push_back(seen[i].first);
    }
  }
  return common;
}

/// Only views that saw flows between the same hosts: of a thousand hosts few saw the same.
Comparisons compare_all(const std::vector<flow::View>& views) {
  const Common common = common_pairs(views);
  Comparisons result;
  std::vector<std::pair<Common::const_iterator, Comparison*>> asked;
  for (auto two = common.begin(); two != common.end(); ++two) {
    asked.emplace_back(two, &result[two->first]);
  }
  in_parallel(asked.size(), [&](std::size_t i) {
    const auto& [two, pairs] = *asked[i].first;
    *asked[i].second = compare(views[two.first], views[two.second], pairs);
  });
  return result;
}

const Comparison& comparison_of(const Comparisons& comparisons, std::size_t a, std::size_t b) {
  static const Comparison kNothing;
  const auto found = comparisons.find(std::minmax(a, b));
  return found == comparisons.end() ? kNothing : found->second;
}

/// From view `to`'s clock to view `from`'s.
std::optional<ClockEstimate> between(const Comparisons& comparisons, std::size_t from,
                                     std::size_t to) {
  const auto& clock = comparison_of(comparisons, from, to).clock;
  if (!clock.has_value() || from < to) return clock;
  ClockEstimate inverse = *clock;
  inverse.map.origin_ns = clock->map(clock->map.origin_ns);
  inverse.map.offset_ns = -clock->map.offset_ns;
  inverse.map.drift = -clock->map.drift;
  return inverse;
}

/// First `inner`, then `outer`. Drifts are parts in a million: their product is nothing.
ClockEstimate chained(const ClockEstimate& outer, const ClockEstimate& inner) {
  const flow::TimeMap& in = inner.map;
  const flow::TimeMap& out = outer.map;
  const std::int64_t at = in.origin_ns;
  return {.map = {.offset_ns = at - out(in(at)), .drift = in.drift + out.drift, .origin_ns = at},
          .uncertainty_ns = inner.uncertainty_ns + outer.uncertainty_ns};
}

/// The least uncertain chain of comparisons from the first view to each (Dijkstra's algorithm).
std::vector<std::optional<ClockEstimate>> clocks_of(std::size_t views,
                                                    const Comparisons& comparisons) {
  std::vector<std::optional<ClockEstimate>> best(views);
  std::vector<bool> settled(views);
  std::vector<std::vector<std::size_t>> beside(views);
  for (const auto& [two, comparison] : comparisons) {
    beside[two.first].push_back(two.second);
    beside[two.second].push_back(two.first);
  }
  best[0] = ClockEstimate{.map = {}, .uncertainty_ns = 0};
  for (;;) {
    std::optional<std::size_t> at;
    for (std::size_t i = 0; i < views; ++i) {
      if (!best[i].has_value() || settled[i]) continue;
      if (!at.has_value() || best[i]->uncertainty_ns < best[*at]->uncertainty_ns) at = i;
    }
    if (!at.has_value()) return best;
    settled[*at] = true;
    for (const std::size_t i : beside[*at]) {
      if (settled[i]) continue;
      const auto step = between(comparisons, *at, i);
      if (!step.has_value()) continue;
      const ClockEstimate candidate = chained(*best[*at], *step);
      if (!best[i].has_value() || candidate.uncertainty_ns < best[i]->uncertainty_ns) {
        best[i] = candidate;
      }
    }
  }
}

std::vector<std::optional<ClockEstimate>> one_clock(std::size_t views) {
  const ClockEstimate exact{.map = {}, .uncertainty_ns = 0};
  return std::vector<std::optional<ClockEstimate>>(views, exact);
}

bool contains(const std::vector<std::uint32_t>& set, std::uint32_t address) {
  return std::find(set.begin(), set.end(), address) != set.end();
}

/// Which view speaks for which pair.
class Ownership {
 public:
  Ownership(const std::vector<flow::View>& views, const Comparisons& comparisons)
      : comparisons_(comparisons), homes_(views.size()) {
    in_parallel(views.size(), [&](std::size_t i) { homes_[i] = flow::home_of(views[i].pairs); });
    for (std::size_t i = 0; i < views.size(); ++i) {
      for (const flow::PairCount& pair : views[i].pairs) {
        candidates_.push_back({.pair = {pair.source, pair.destination}, .view = i, .count = &pair});
      }
    }
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      return std::tie(a.pair, a.view) < std::tie(b.pair, b.view);
    });
    for (Candidate& one : candidates_) one.is_receiver = distance(one.view, one.pair) == 2;
    for_each_pair([this](std::span<Candidate> candidates) { rank(candidates); });
  }

  struct Candidate {
    Pair pair;
    std::size_t view;
    const flow::PairCount* count;
    bool is_receiver = false;  ///< the view's home is where packets go
  };
  /// Calls `visit` with the candidates of each pair, best first.
  template <typename Visit>
  void for_each_pair(Visit visit) {
    for (auto begin = candidates_.begin(); begin != candidates_.end();) {
      const auto end = std::find_if(begin, candidates_.end(), [&](const Candidate& candidate) {
        return candidate.pair != begin->pair;
      });
      visit(std::span<Candidate>(begin, end));
      begin = end;
    }
  }

 private:
  /// 0: the sender's own capture; 2: the receiver's; 1: neither or both.
  int distance(std::size_t view, const Pair& pair) const {
    const bool source = contains(homes_[view], pair.first);
    const bool destination = contains(homes_[view], pair.second);
    return source == destination ? 1 : source ? 0 : 2;
  }

  bool passes_first(std::size_t a, std::size_t b, const Pair& pair) const {
    const auto& orders = comparison_of(comparisons_, a, b).passes_first;
    const auto order = orders.find(pair);
    return order != orders.end() && order->second == (a < b);
  }

  bool is_better(const Candidate& a, const Candidate& b) const {
    const auto steps_back = [](const Candidate& one, const Candidate& other) {
      const std::uint64_t mine = one.count->payload_bytes;
      const std::uint64_t theirs = other.count->payload_bytes;
      if (mine + theirs > 0) return static_cast<double>(mine) < 0.99 * static_cast<double>(theirs);
      return static_cast<double>(one.count->packets) <
             0.99 * static_cast<double>(other.count->packets);
    };
    if (steps_back(a, b) != steps_back(b, a)) return steps_back(b, a);
    const int near_a = distance(a.view, a.pair);
    const int near_b = distance(b.view, a.pair);
    if (near_a != near_b) return near_a < near_b;
    const bool a_first = passes_first(a.view, b.view, a.pair);
    const bool b_first = passes_first(b.view, a.view, a.pair);
    if (a_first != b_first) return a_first;
    if (a.count->packets != b.count->packets) return a.count->packets > b.count->packets;
    return a.view < b.view;
  }

  /// By selection: the relation above need not be transitive where captures lost packets.
  void rank(std::span<Candidate> candidates) const {
    for (std::size_t i = 0; i + 1 < candidates.size(); ++i) {
      for (std::size_t j = i + 1; j < candidates.size(); ++j) {
        if (is_better(candidates[j], candidates[i])) std::swap(candidates[i], candidates[j]);
      }
    }
    const Candidate& owner = candidates.front();
    for (Candidate& one : candidates.subspan(1)) {
      // Where two hosts are alone, both are at home in every view: the later one is the receiver's.
      one.is_receiver |= distance(one.view, one.pair) == 1 &&
                         contains(homes_[one.view], one.pair.second) &&
                         passes_first(owner.view, one.view, one.pair);
    }
  }

  const Comparisons& comparisons_;
  std::vector<std::vector<std::uint32_t>> homes_;
  std::vector<Candidate> candidates_ = {};  ///< pair by pair
};

/// What is in no kept flow: retired flows, packets without ports or addresses.
struct Rest {
  flow::Series series = {};   ///< never less than its bytes: a late packet may be in another window
  std::uint64_t counted = 0;  ///< bytes of it that are in the combination
};

class Combiner {
 public:
  Combiner(std::vector<flow::View> views, const std::vector<std::optional<ClockEstimate>>& clocks)
      : views_(std::move(views)) {
    for (const auto& clock : clocks)
      maps_.push_back(clock.has_value() ? clock->map : flow::TimeMap{});
    align();
    rests_.resize(views_.size());
    in_parallel(views_.size(), [&](std::size_t i) { rests_[i] = rest_of(views_[i]); });
  }

  flow::View run(Ownership& ownership) {
    ownership.for_each_pair([this](auto candidates) { take_pair(candidates); });
    take_unaddressed();
    for (std::size_t i = 0; i < views_.size(); ++i) {
      Rest& rest = rests_[i];
      if (rest.counted == 0) continue;
      rest.series.scale(rest.counted, rest.series.bytes());
      add_windows(moved(rest.series, i));
    }
    out_.series = flow::Series(std::move(windows_));
    return std::move(out_);
  }

 private:
  /// One clock, one window width, one burst gap.
  void align() {
    in_parallel(views_.size(), [&](std::size_t i) { flow::move_times(views_[i], maps_[i]); });
    const flow::View& first = views_.front();
    out_.clock = first.clock;
    out_.totals.first_ns = first.totals.first_ns;
    out_.totals.last_ns = first.totals.last_ns;
    for (const flow::View& view : views_) {
      out_.clock.width_ns = std::max(out_.clock.width_ns, view.clock.width_ns);
      out_.burst_gap_ns = std::max(out_.burst_gap_ns, view.burst_gap_ns);
      out_.totals.backward_times += view.totals.backward_times;
      if (view.totals.packets == 0) continue;
      out_.totals.first_ns = std::min(out_.totals.first_ns, view.totals.first_ns);
      out_.totals.last_ns = std::max(out_.totals.last_ns, view.totals.last_ns);
    }
    in_parallel(views_.size(), [&](std::size_t i) {
      flow::coarsen(views_[i], out_.clock.width_ns, out_.burst_gap_ns);
    });
    const std::int64_t origin = std::min(out_.clock.origin_ns, out_.totals.first_ns);
    const std::int64_t behind = out_.clock.origin_ns - origin;
    const std::int64_t width = out_.clock.width_ns;
    out_.clock.origin_ns -= (behind + width - 1) / width * width;
  }

  static Rest rest_of(const flow::View& view) {
    Rest rest{.series = view.series};
    for (const flow::Flow& flow : view.flows) rest.series.subtract(flow.series);
    return rest;
  }

  static std::span<flow::Flow> flows_of(flow::View& view, const flow::PairCount& pair) {
    const auto by_ends = [](const flow::Flow& flow, const Pair& ends) {
      return Pair(flow.key.source, flow.key.destination) < ends;
    };
    const auto begin = std::lower_bound(view.flows.begin(), view.flows.end(),
                                        Pair(pair.source, pair.destination), by_ends);
    auto end = begin;
    while (end != view.flows.end() && end->key.source == pair.source &&
           end->key.destination == pair.destination) {
      ++end;
    }
    return {begin, end};
  }

  void take_pair(std::span<const Ownership::Candidate> candidates) {
    const std::size_t owner = candidates.front().view;
    flow::PairCount count = *candidates.front().count;
    rests_[owner].counted += count.wire_bytes;
    for (flow::Flow& flow : flows_of(views_[owner], count)) {
      rests_[owner].counted -= flow.wire_bytes;
      take_flow(flow, owner);
      take_arrivals(out_.flows.back(), candidates.subspan(1));
    }
    for (std::size_t i = 1; i < candidates.size(); ++i) {
      for (flow::Flow& flow : flows_of(views_[candidates[i].view], count)) {
        const bool is_news =
            std::all_of(candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(i),
                        [&](const Ownership::Candidate& better) {
                          const flow::Totals& totals = views_[better.view].totals;
                          return flow.last_ns < totals.first_ns || flow.first_ns > totals.last_ns;
                        });
        if (!is_news) continue;
        flow::add_flow(count, flow);
        take_flow(flow, candidates[i].view);
      }
    }
    out_.totals.packets += count.packets;
    out_.totals.wire_bytes += count.wire_bytes;
    out_.totals.super_frames += count.super_frames;
    for (std::size_t i = 0; i < count.by_verdict.size(); ++i) {
      out_.totals.by_verdict[i] += count.by_verdict[i];
    }
    out_.pairs.push_back(count);
  }

  void take_flow(flow::Flow& flow, std::size_t view) {
    flow.series = moved(flow.series, view);
    add_windows(flow.series);
    out_.flows.push_back(std::move(flow));
  }

  /// When the flow's packets came, by who saw them come.
  void take_arrivals(flow::Flow& flow, std::span<const Ownership::Candidate> others) {
    for (const Ownership::Candidate& other : others) {
      if (!other.is_receiver) continue;
      for (const flow::Flow& one : flows_of(views_[other.view], *other.count)) {
        if (one.key != flow.key || one.first_ns > flow.last_ns || one.last_ns < flow.first_ns) {
          continue;
        }
        flow.arrived = moved(one.series, other.view);
        flow.arrivals = one.envelope;
        return;
      }
    }
  }

  flow::Series moved(const flow::Series& series, std::size_t view) const {
    flow::Series result;
    result.merge(series, views_[view].clock, out_.clock, maps_[view]);
    return result;
  }

  void add_windows(const flow::Series& series) {
    windows_.insert(windows_.end(), series.windows().begin(), series.windows().end());
  }

  void take_unaddressed() {
    flow::Totals most;
    std::size_t owner = 0;
    for (std::size_t i = 0; i < views_.size(); ++i) {
      const flow::Totals left = unaddressed(views_[i]);
      if (left.packets <= most.packets) continue;
      most = left;
      owner = i;
    }
    rests_[owner].counted += most.wire_bytes;
    out_.totals.packets += most.packets;
    out_.totals.wire_bytes += most.wire_bytes;
    out_.totals.super_frames += most.super_frames;
    for (std::size_t i = 0; i < most.by_verdict.size(); ++i) {
      out_.totals.by_verdict[i] += most.by_verdict[i];
    }
  }

  static flow::Totals unaddressed(const flow::View& view) {
    flow::Totals left = view.totals;
    for (const flow::PairCount& pair : view.pairs) {
      left.packets -= pair.packets;
      left.wire_bytes -= pair.wire_bytes;
      left.super_frames -= pair.super_frames;
      for (std::size_t i = 0; i < pair.by_verdict.size(); ++i) {
        left.by_verdict[i] -= pair.by_verdict[i];
      }
    }
    return left;
  }

  std::vector<flow::View> views_;
  std::vector<flow::TimeMap> maps_;
  std::vector<Rest> rests_;
  std::vector<flow::Window> windows_;  ///< of everything counted, in no order
  flow::View out_;
};

}  // namespace

Combined combine(std::vector<flow::View> views, Clocks clocks) {
  check(!views.empty(), "there is something to combine");
  if (views.size() == 1) {
    return {.view = std::move(views.front()),
            .clocks = {ClockEstimate{.map = {}, .uncertainty_ns = 0}}};
  }
  const Comparisons comparisons = compare_all(views);
  Combined result;
  result.clocks =
      clocks == Clocks::Own ? clocks_of(views.size(), comparisons) : one_clock(views.size());
  Ownership ownership(views, comparisons);  // points into the views' pairs
  result.view = Combiner(std::move(views), result.clocks).run(ownership);
  return result;
}

}  // namespace tw::gather
