// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/strategies.h"
#include "trainwire/recognise/families.h"
#include "trainwire/recognise/likelihood.h"
#include "trainwire/rhythm/lockstep.h"
#include "trainwire/stats/quantile.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tw::recognise {
namespace {

constexpr int kFewestHosts = 4;        ///< of three, everybody is everybody's neighbour
constexpr int kAmbiguousHosts = 4;     ///< doubling, or two servers of two, have the same pairs
constexpr double kMostlyBroken = 0.5;  ///< share of steps that no all-reduce has
constexpr double kBegun = 0.05;        ///< of a direction's bytes
/// Of the other's bytes, when one begins: more than a round of 2(N-1), less than one of the two
/// passes over the model that sharded training makes one way before it sends the other way.
constexpr double kMuch = 0.25;
constexpr double kFew = 0.2;  ///< of hosts and steps may seem not to wait: one host of four is more

std::vector<int> neighbours(const Pattern& pattern, int place) {
  std::vector<int> result;
  for (int other = 0; other < pattern.size(); ++other) {
    const bool sends = pattern.at(place, other) > 0;
    if (sends != (pattern.at(other, place) > 0)) return {};
    if (sends) result.push_back(other);
  }
  return result;
}

/// Places along the circle of neighbours, from place 0 to the lower of its two; empty when it does
/// not lead through all, or somebody has other neighbours.
std::vector<int> two_way_circle(const Pattern& pattern) {
  std::vector<int> order{0};
  int before = -1;
  while (static_cast<int>(order.size()) <= pattern.size()) {
    const int at = order.back();
    const std::vector<int> beside = neighbours(pattern, at);
    if (beside.size() != 2) return {};
    const int next = beside[beside[0] == before ? 1 : 0];
    if (next == 0) break;
    before = at;
    order.push_back(next);
  }
  return static_cast<int>(order.size()) == pattern.size() ? order : std::vector<int>{};
}

/// One step of the exchanges.
struct Moment {
  const rhythm::Steps& exchanges;
  std::span<const rhythm::Channel> channels;
  std::size_t step;
};

/// Bytes of some lanes in one step, by time.
class Progress {
 public:
  void add(const rhythm::Lane& lane, const Moment& moment) {
    const std::optional<rhythm::Beat>& beat = lane.beats[moment.step];
    if (!beat) return;
    for (std::size_t i = beat->first_burst; i < beat->end_burst; ++i) {
      bursts_.push_back(moment.channels[lane.channel].bursts[i]);
      all_ += static_cast<double>(bursts_.back().bytes);
    }
  }
  bool empty() const { return all_ <= 0; }
  /// When so much of it was sent.
  std::int64_t time_of(double share) {
    std::sort(bursts_.begin(), bursts_.end(),
              [](const flow::Burst& a, const flow::Burst& b) { return a.start_ns < b.start_ns; });
    double sum = 0;
    for (const flow::Burst& burst : bursts_) {
      sum += static_cast<double>(burst.bytes);
      if (sum >= share * all_) return burst.start_ns;
    }
    return bursts_.back().end_ns;
  }
  /// How much was sent by then; bursts count with the part that has passed.
  double share_by(std::int64_t time_ns) const {
    double sum = 0;
    for (const flow::Burst& burst : bursts_) {
      if (burst.start_ns >= time_ns) continue;
      const auto length = static_cast<double>(burst.end_ns - burst.start_ns);
      const auto passed = static_cast<double>(time_ns - burst.start_ns);
      sum += static_cast<double>(burst.bytes) * (passed < length ? passed / length : 1);
    }
    return sum / all_;
  }

 private:
  std::vector<flow::Burst> bursts_;
  double all_ = 0;
};

/// How much of the earlier has been sent when the later begins.
std::optional<double> ahead(Progress a, Progress b) {
  if (a.empty() || b.empty()) return std::nullopt;
  const std::int64_t a_begins = a.time_of(kBegun);
  const std::int64_t b_begins = b.time_of(kBegun);
  return a_begins < b_begins ? a.share_by(b_begins) : b.share_by(a_begins);
}

/// Lanes that lead along the ring of hosts.
Progress along(const std::vector<int>& ring, const Moment& moment) {
  Progress result;
  for (const rhythm::Lane& lane : moment.exchanges.lanes) {
    const auto from = std::find(ring.begin(), ring.end(), lane.from);
    if (from == ring.end()) continue;
    const int next = from + 1 == ring.end() ? ring.front() : *(from + 1);
    if (lane.to == next) result.add(lane, moment);
  }
  return result;
}

/// Whether data flows both ways round at the same time.
bool are_together(const std::vector<int>& hosts, const rhythm::Steps& exchanges,
                  std::span<const rhythm::Channel> channels) {
  const std::vector<int> backwards(hosts.rbegin(), hosts.rend());
  std::vector<double> shares;
  for (std::size_t step = 0; step < exchanges.steps.size(); ++step) {
    const Moment moment{exchanges, channels, step};
    const std::optional<double> share = ahead(along(hosts, moment), along(backwards, moment));
    if (share) shares.push_back(*share);
  }
  return !shares.empty() && stats::median(std::move(shares)) < kMuch;
}

/// What a host sends its two neighbours in a step, and receives from them.
struct Sides {
  Progress to[2];
  Progress from[2];

  bool are_seen() const {
    return !to[0].empty() && !to[1].empty() && !from[0].empty() && !from[1].empty();
  }
  /// How much of the first neighbour's data has come when the host begins to send to the second.
  double known_first() {
    const std::int64_t begins[2] = {to[0].time_of(kBegun), to[1].time_of(kBegun)};
    const int second = begins[0] < begins[1] ? 1 : 0;
    return from[1 - second].share_by(begins[second]);
  }
  /// How much of both neighbours' data has come when the host begins to send.
  double known_before_all() {
    const std::int64_t begin = std::min(to[0].time_of(0), to[1].time_of(0));
    return std::min(from[0].share_by(begin), from[1].share_by(begin));
  }
};

Sides sides_of(const std::vector<int>& ring, std::size_t place, const Moment& moment) {
  const std::size_t n = ring.size();
  const int beside[2] = {ring[(place + 1) % n], ring[(place + n - 1) % n]};
  Sides sides;
  for (const rhythm::Lane& lane : moment.exchanges.lanes) {
    for (int side = 0; side < 2; ++side) {
      const bool is_out = lane.from == ring[place] && lane.to == beside[side];
      const bool is_in = lane.to == ring[place] && lane.from == beside[side];
      if (is_out) sides.to[side].add(lane, moment);
      if (is_in) sides.from[side].add(lane, moment);
    }
  }
  return sides;
}

/// What it tells that many of the shares are large.
double mostly_much(const std::vector<double>& shares) {
  if (shares.empty()) return 0;
  const auto much =
      std::count_if(shares.begin(), shares.end(), [](double share) { return share >= kMuch; });
  return law(static_cast<double>(much) / static_cast<double>(shares.size()), 1 - kFew,
             shares.size());
}

std::vector<int> hosts_along_circle(const Pattern& pattern) {
  std::vector<int> hosts;
  for (const int place : two_way_circle(pattern)) hosts.push_back(pattern.host(place));
  return hosts;
}

}  // namespace

double partners_in_turn(const Seen& seen) {
  const std::vector<int> hosts = hosts_along_circle(seen.pattern);
  std::vector<double> shares;
  for (std::size_t step = 0; step < seen.exchanges.steps.size(); ++step) {
    for (std::size_t place = 0; place < hosts.size(); ++place) {
      Sides sides = sides_of(hosts, place, {seen.exchanges, seen.channels, step});
      if (sides.are_seen()) shares.push_back(sides.known_first());
    }
  }
  return mostly_much(shares);
}

double every_other_answers(const Seen& seen) {
  const std::vector<int> hosts = hosts_along_circle(seen.pattern);
  if (hosts.empty()) return 0;
  double most = std::numeric_limits<double>::lowest();
  for (const std::size_t first : {0, 1}) {
    std::vector<double> shares;
    for (std::size_t step = 0; step < seen.exchanges.steps.size(); ++step) {
      for (std::size_t place = first; place < hosts.size(); place += 2) {
        Sides sides = sides_of(hosts, place, {seen.exchanges, seen.channels, step});
        if (sides.are_seen()) shares.push_back(sides.known_before_all());
      }
    }
    most = std::max(most, mostly_much(shares));
  }
  return most;
}

Offers as_opposite_rings(const Seen& seen) {
  const auto& [pattern, exchanges, channels, _] = seen;
  if (pattern.size() < kFewestHosts || !pattern.is_even(widest_difference())) return {};
  const std::vector<int> order = hosts_along_circle(pattern);
  if (order.empty() || rhythm::broken_share(exchanges) > kMostlyBroken) return {};
  const bool is_together = are_together(order, exchanges, channels);
  const int n = pattern.size();
  const double edge = pattern.total() / (2 * n);
  Recognition result{
      .operation = std::string(collective::name_of(collective::Operation::AllReduce)),
      .strategy = std::string(collective::strategy(collective::ring).name),
      .order = order,
      .servers = {},
      .starters = order,
      .payload = (is_together ? 2 : 1) * edge * n / (2 * (n - 1)),
      .evidence = fmt::format("each of {} hosts exchanges the same bytes with two neighbours, in "
                              "one circle, ",
                              n),
      .nats = even_pairs(pattern, orders(n - 1) - std::log(2))};
  if (n == kAmbiguousHosts) {
    result.nats -= std::max({0.0, partners_in_turn(seen), every_other_answers(seen)});
  }
  result.evidence += is_together
                         ? "both ways at once: two rings, each with half of the payload"
                         : "one way and then the other: each way is taken to be a ring with all of "
                           "the payload";
  return {result};
}

}  // namespace tw::recognise
