// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gather/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

namespace tw::gather {
namespace {

constexpr std::size_t kSpans = 8;
/// 73 years: clocks that were never set differ by less.
constexpr std::int64_t kMostDifference = std::int64_t{1} << 61;
constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();

/// Least and greatest (t2 - t1) of one direction in one span of time.
struct Extremes {
  std::int64_t least = kNone;
  std::int64_t greatest = -kNone;
  bool empty() const { return least == kNone; }
  void add(std::int64_t difference) {
    least = std::min(least, difference);
    greatest = std::max(greatest, difference);
  }
};
using Spans = std::array<Extremes, kSpans>;
using Pair = std::pair<std::uint32_t, std::uint32_t>;

/// Bounds on the clocks' difference in one span.
struct Bounds {
  std::int64_t above = kNone;
  std::int64_t below = -kNone;
  bool empty() const { return above == kNone || below == -kNone; }
  void narrow(const Extremes& forward, const Extremes& backward) {
    above = std::min(above, forward.least);
    below = std::max(below, backward.greatest);
  }
  double middle() const {
    return static_cast<double>(below) + static_cast<double>(above - below) / 2;
  }
  double half() const { return static_cast<double>(above - below) / 2; }
};

/// Differences at the milestones that both have.
template <typename Visit>
void for_each_common(const flow::Milestones& first, const flow::Milestones& second, Visit visit) {
  auto b = second.passed().begin();
  for (const flow::Milestone& a : first.passed()) {
    while (b != second.passed().end() && b->position < a.position) ++b;
    if (b == second.passed().end()) return;
    if (b->position != a.position) continue;
    const std::int64_t difference = b->time_ns - a.time_ns;
    if (std::abs(difference) <= kMostDifference) visit(a.time_ns, difference);
  }
}

/// The flow of `view` that is the same instance of `flow`'s five-tuple: begun by the same SYN, or
/// the only one. Nothing when two could be it, as where ports and numbers come again.
const flow::Flow* instance_of(const flow::Flow& flow, bool only_one, const flow::View& view) {
  const auto by_key = [](const flow::Flow& a, const flow::FlowKey& key) { return a.key < key; };
  const flow::Flow* same = nullptr;
  auto at = std::lower_bound(view.flows.begin(), view.flows.end(), flow.key, by_key);
  const auto next = at == view.flows.end() ? at : at + 1;
  if (only_one && at != view.flows.end() && at->key == flow.key &&
      (next == view.flows.end() || next->key != flow.key)) {
    return &*at;
  }
  for (; at != view.flows.end() && at->key == flow.key; ++at) {
    if (!flow.saw_syn || !at->saw_syn ||
        at->stream.first_sequence() != flow.stream.first_sequence()) {
      continue;
    }
    if (same != nullptr) return nullptr;
    same = &*at;
  }
  return same;
}

/// Where the flows of a pair begin.
std::size_t first_of(const flow::View& view, const Pair& pair) {
  const auto before = [](const flow::Flow& flow, const Pair& ends) {
    return Pair(flow.key.source, flow.key.destination) < ends;
  };
  const auto at = std::lower_bound(view.flows.begin(), view.flows.end(), pair, before);
  return static_cast<std::size_t>(at - view.flows.begin());
}

std::map<Pair, Spans> differences(const flow::View& first, const flow::View& second,
                                  std::span<const Pair> common) {
  std::map<Pair, Spans> result;
  const std::int64_t begin = first.totals.first_ns;
  const std::int64_t length = std::max<std::int64_t>(first.totals.last_ns - begin, 1);
  const auto look_at = [&](std::size_t i) {
    const flow::Flow& flow = first.flows[i];
    const bool only_one = (i == 0 || first.flows[i - 1].key != flow.key) &&
                          (i + 1 == first.flows.size() || first.flows[i + 1].key != flow.key);
    const flow::Flow* other = instance_of(flow, only_one, second);
    if (other == nullptr || instance_of(flow, only_one, first) == nullptr) return;
    const auto add = [&](std::int64_t time_ns, std::int64_t difference) {
      const double part = static_cast<double>(time_ns - begin) / static_cast<double>(length);
      const auto span = static_cast<std::size_t>(std::clamp(part, 0.0, 0.999) * kSpans);
      result[{flow.key.source, flow.key.destination}][span].add(difference);
    };
    for_each_common(flow.sent, other->sent, add);
    for_each_common(flow.acknowledged, other->acknowledged, add);
  };
  for (const Pair& pair : common) {
    for (std::size_t i = first_of(first, pair);
         i < first.flows.size() &&
         Pair(first.flows[i].key.source, first.flows[i].key.destination) == pair;
         ++i) {
      look_at(i);
    }
  }
  return result;
}

/// How much room the bounds would leave if `forward` passed the first view first: in spans with
/// both directions, because clocks may drift; in all of the time when there is no such span.
double room(const Spans& forward, const Spans& backward) {
  double sum = 0;
  bool any = false;
  std::int64_t least = kNone;
  std::int64_t greatest = -kNone;
  const auto between = [](std::int64_t above, std::int64_t below) {
    return static_cast<double>(above) - static_cast<double>(below);
  };
  for (std::size_t i = 0; i < kSpans; ++i) {
    least = std::min(least, forward[i].least);
    greatest = std::max(greatest, backward[i].greatest);
    if (forward[i].empty() || backward[i].empty()) continue;
    any = true;
    sum += between(forward[i].least, backward[i].greatest);
  }
  return any ? sum : between(least, greatest);
}

ClockEstimate constant_clock(const Bounds& bounds) {
  return {.map = {.offset_ns = std::llround(bounds.middle())},
          .uncertainty_ns = std::llround(std::ceil(bounds.half()))};
}

/// A line through the middles of the spans, by least squares.
ClockEstimate drifting_clock(const std::vector<std::pair<double, Bounds>>& spans,
                             std::int64_t begin_ns) {
  double t = 0, y = 0, tt = 0, ty = 0;
  const double reference = spans.front().second.middle();
  const auto n = static_cast<double>(spans.size());
  for (const auto& [time, bounds] : spans) {
    t += time / n;
    y += (bounds.middle() - reference) / n;
  }
  for (const auto& [time, bounds] : spans) {
    tt += (time - t) * (time - t);
    ty += (time - t) * (bounds.middle() - reference - y);
  }
  const double slope = tt > 0 ? ty / tt : 0;
  const double offset = reference + y - slope * t;
  double off = 0;
  for (const auto& [time, bounds] : spans) {
    off =
        std::max(off, std::abs(bounds.middle() - offset - slope * time) + std::abs(bounds.half()));
  }
  // The line starts at the first view's beginning, which the second's clock calls `lead` later.
  const std::int64_t lead = std::llround(offset);
  return {.map = {.offset_ns = lead, .drift = slope, .origin_ns = begin_ns + lead},
          .uncertainty_ns = std::llround(std::ceil(off))};
}

std::optional<ClockEstimate> estimate(const std::array<Bounds, kSpans>& spans,
                                      const flow::View& first) {
  Bounds all;
  std::vector<std::pair<double, Bounds>> usable;
  const double length = static_cast<double>(first.totals.last_ns - first.totals.first_ns) / kSpans;
  for (std::size_t i = 0; i < kSpans; ++i) {
    all.above = std::min(all.above, spans[i].above);
    all.below = std::max(all.below, spans[i].below);
    if (!spans[i].empty()) usable.emplace_back((static_cast<double>(i) + 0.5) * length, spans[i]);
  }
  if (all.empty()) return std::nullopt;
  if (all.above >= all.below || usable.size() < 3) {
    ClockEstimate constant = constant_clock(all);
    constant.uncertainty_ns = std::abs(constant.uncertainty_ns);
    return constant;
  }
  return drifting_clock(usable, first.totals.first_ns);
}

}  // namespace

Comparison compare(const flow::View& first, const flow::View& second) {
  std::vector<Pair> pairs;
  for (const flow::Flow& flow : first.flows) {
    const Pair pair(flow.key.source, flow.key.destination);
    if (pairs.empty() || pairs.back() != pair) pairs.push_back(pair);
  }
  return compare(first, second, pairs);
}

Comparison compare(const flow::View& first, const flow::View& second,
                   std::span<const Pair> common) {
  Comparison result;
  const std::map<Pair, Spans> seen = differences(first, second, common);
  std::array<Bounds, kSpans> bounds;
  for (const auto& [pair, forward] : seen) {
    const auto back = seen.find({pair.second, pair.first});
    if (back == seen.end()) continue;
    const Spans& backward = back->second;
    // Equal when the two saw every packet at the same time: one is as good as the other.
    const double lead = room(forward, backward) - room(backward, forward);
    const bool passes_first = lead > 0 || (lead == 0 && pair.first < pair.second);
    result.passes_first[pair] = passes_first;
    for (std::size_t i = 0; i < kSpans; ++i) {
      if (passes_first) bounds[i].narrow(forward[i], backward[i]);
    }
  }
  result.clock = estimate(bounds, first);
  return result;
}

}  // namespace tw::gather
