// SPDX-License-Identifier: Apache-2.0
#include "trainwire/regular/rings.h"

#include "trainwire/collective/layout.h"
#include "trainwire/collective/schedule.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/regular/circle.h"
#include "trainwire/workload/compute_clock.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tw::regular {
namespace {

using workload::Training;
using Times = std::vector<std::int64_t>;

bool is_ring(const Training& training) { return training.row().make == collective::ring; }
bool is_hierarchical(const Training& training) {
  return training.row().make == collective::hierarchical;
}

/// Who goes around: every rank, or the first rank of each host.
std::vector<int> circling(const Training& training) {
  if (is_hierarchical(training)) return collective::masters(training.arrangement.layout);
  std::vector<int> all(static_cast<std::size_t>(training.ranks()));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
  return all;
}

/// Chunks of a bucket around so many places.
struct Cut {
  std::int64_t elements;  ///< of a short chunk
  int longer;             ///< chunks that have one more
};

Cut cut_of(std::int64_t elements, int places) {
  return {.elements = elements / places, .longer = static_cast<int>(elements % places)};
}

/// One training's ranks, step by step.
class Rings {
 public:
  Rings(const Training& training, const Physics& physics, const std::vector<Steady>& connections)
      : training_(training),
        places_(circling(training)),
        place_of_(static_cast<std::size_t>(training.ranks()), -1) {
    for (std::size_t i = 0; i < places_.size(); ++i) {
      place_of_[static_cast<std::size_t>(places_[i])] = static_cast<int>(i);
    }
    locals_.resize(places_.size());
    for (const RingHop& pair : local_pairs(training)) {
      const int place = place_of_[static_cast<std::size_t>(pair.to)];
      locals_[static_cast<std::size_t>(place)].push_back(pair.from);
    }
    for (const workload::Bucket& bucket : training.buckets) {
      circles_.push_back(circle_of(bucket.elements, physics, connections));
    }
    for (int rank = 0; rank < training.ranks(); ++rank) clocks_.emplace_back(training, rank);
  }

  RingTimes run() {
    RingTimes made{.steps = {}, .end = training_.start};
    Times begin(clocks_.size(), training_.start.count());
    const std::int64_t count = training_.warmup + training_.steps;
    for (std::int64_t step = 0; step < count; ++step) {
      if (repeats(made, begin)) {
        append_repeats(made, count, begin);
        return made;
      }
      auto times = std::make_shared<StepTimes>(step_from(begin));
      for (std::size_t i = 0; i < begin.size(); ++i) begin[i] = times->end[i].count();
      made.steps.push_back({.step = step - training_.warmup, .times = std::move(times)});
    }
    made.end = std::max(made.end, Duration(*std::max_element(begin.begin(), begin.end())));
    return made;
  }

 private:
  Circle circle_of(std::int64_t elements, const Physics& physics,
                   const std::vector<Steady>& connections) const {
    if (connections.empty()) return {};
    const Cut cut = cut_of(elements, static_cast<int>(places_.size()));
    const auto whole = [&](std::int64_t of) {
      return training_.row().passing == collective::Passing::Whole ||
             !physics.passes_on(workload::kElementBytes * of);
    };
    Circle circle{.long_chunks = cut.longer,
                  .short_empty = cut.elements == 0,
                  .long_whole = whole(cut.elements + 1),
                  .short_whole = whole(cut.elements)};
    for (const Steady& connection : connections) {
      const auto time = [&](std::int64_t of) {
        return leaving(physics, connection, workload::kElementBytes * of).count();
      };
      circle.short_leaving.push_back(time(cut.elements));
      circle.long_leaving.push_back(time(cut.elements + 1));
      circle.way.push_back(connection.line.travelling.count());
      circle.first.push_back(connection.line.ports.empty() ? kWhole
                                                           : connection.line.first.count());
    }
    return circle;
  }

  /// The last step began as this one does, but for the time of day, and nothing varies.
  bool repeats(const RingTimes& made, const Times& begin) const {
    if (made.steps.empty() || training_.compute.jitter > 0) return false;
    const std::vector<Duration>& last = made.steps.back().times->begin;
    const std::int64_t shift = begin[0] - last[0].count();
    for (std::size_t i = 0; i < begin.size(); ++i) {
      if (begin[i] - last[i].count() != shift) return false;
    }
    return true;
  }

  void append_repeats(RingTimes& made, std::int64_t count, const Times& begin) const {
    const RingStep last = made.steps.back();
    const Duration shift(begin[0] - last.times->begin[0].count());
    for (std::int64_t step = last.step + 1; step + training_.warmup < count; ++step) {
      made.steps.push_back(
          {.step = step, .times = last.times, .shift = made.steps.back().shift + shift});
    }
    const auto& ends = last.times->end;
    made.end =
        std::max(made.end, *std::max_element(ends.begin(), ends.end()) + made.steps.back().shift);
  }

  StepTimes step_from(const Times& begin) {
    StepTimes times;
    for (const std::int64_t ns : begin) times.begin.emplace_back(ns);
    times.exchange_begin.assign(begin.size(), Duration::max());
    times.exchange_end.assign(begin.size(), Duration::min());
    Times computed = begin;
    for (std::size_t i = 0; i < begin.size(); ++i) {
      clocks_[i].begin_step(begin[i]);
      computed[i] = std::max(begin[i], clocks_[i].forward_end_ns());
    }
    Times exchanged = begin;
    if (training_.buckets.empty()) compute_until(training_.compute.backward, computed);
    if (!training_.overlap) {
      for (const workload::Bucket& bucket : training_.buckets) {
        compute_until(bucket.ready, computed);
      }
    }
    for (std::size_t b = 0; b < training_.buckets.size(); ++b) {
      if (training_.overlap) compute_until(training_.buckets[b].ready, computed);
      for (std::size_t i = 0; i < begin.size(); ++i) {
        exchanged[i] = std::max(exchanged[i], computed[i]);
      }
      if (training_.buckets[b].elements > 0) exchange(circles_[b], exchanged, times);
    }
    for (std::size_t i = 0; i < begin.size(); ++i) {
      times.end.emplace_back(std::max(computed[i], exchanged[i]));
    }
    return times;
  }

  void compute_until(Duration ready, Times& computed) const {
    for (std::size_t i = 0; i < computed.size(); ++i) {
      computed[i] = std::max(computed[i], clocks_[i].ready_ns(ready));
    }
  }

  /// From when ranks begin the exchange of a bucket to when they have ended it.
  void exchange(const Circle& circle, Times& ranks, StepTimes& times) const {
    Times begin(places_.size());
    for (std::size_t i = 0; i < places_.size(); ++i) begin[i] = gathered(i, ranks, times);
    if (places_.size() < 2) {
      if (!places_.empty()) spread(0, begin[0], begin[0], ranks, times);
      return;
    }
    const Rounds rounds = all_rounds(circle, begin);
    for (std::size_t i = 0; i < places_.size(); ++i) {
      note(times, places_[i], rounds.began[i]);
      spread(i, std::max(rounds.left[i], rounds.came[i]), rounds.came[i], ranks, times);
    }
  }

  static void note(StepTimes& times, int rank, std::int64_t at) {
    const auto i = static_cast<std::size_t>(rank);
    times.exchange_begin[i] = std::min(times.exchange_begin[i], Duration(at));
    times.exchange_end[i] = std::max(times.exchange_end[i], Duration(at));
  }

  /// When a place has its own payload and that of its local ranks, which takes them no time.
  std::int64_t gathered(std::size_t place, const Times& ranks, StepTimes& times) const {
    const std::int64_t own = ranks[static_cast<std::size_t>(places_[place])];
    std::int64_t all = own;
    for (const int local : locals_[place]) {
      const std::int64_t sent = ranks[static_cast<std::size_t>(local)];
      note(times, local, sent);
      note(times, places_[place], std::max(own, sent));
      all = std::max(all, sent);
    }
    return all;
  }

  /// What a place has got goes to its local ranks as soon as it is there.
  void spread(std::size_t place, std::int64_t ended, std::int64_t came, Times& ranks,
              StepTimes& times) const {
    if (places_.size() > 1 || !locals_[place].empty()) note(times, places_[place], ended);
    for (const int local : locals_[place]) {
      std::int64_t& time = ranks[static_cast<std::size_t>(local)];
      time = std::max(time, came);
      note(times, local, time);
    }
    ranks[static_cast<std::size_t>(places_[place])] = ended;
  }

  const Training& training_;
  std::vector<int> places_;    ///< ranks, in the order in which they go around
  std::vector<int> place_of_;  ///< by rank; -1: it stays behind the first of its host
  std::vector<std::vector<int>> locals_ = {};  ///< by place
  std::vector<Circle> circles_ = {};           ///< by bucket
  std::vector<workload::ComputeClock> clocks_ = {};
};

}  // namespace

std::string asks_for_more(const Training& training) {
  if (!is_ring(training) && !is_hierarchical(training)) return "its exchange is no ring";
  return asks_beyond_exchanges(training);
}

std::string asks_beyond_exchanges(const Training& training) {
  if (training.connections > 1) return "two ranks share several connections";
  if (training.side_connections > 0 && training.ranks() > 1) return "it has side connections";
  if (!start_buckets(training).empty() && training.ranks() > 1 && training.elements() > 0) {
    return "ranks get their first model while others may train already";
  }
  return {};
}

std::vector<RingHop> hops_of(const Training& training) {
  const std::vector<int> places = circling(training);
  std::vector<RingHop> hops;
  for (std::size_t i = 0; places.size() > 1 && i < places.size(); ++i) {
    hops.push_back({.from = places[i], .to = places[(i + 1) % places.size()]});
  }
  return hops;
}

std::vector<RingHop> local_pairs(const Training& training) {
  std::vector<RingHop> pairs;
  if (!is_hierarchical(training)) return pairs;
  const collective::Layout& layout = training.arrangement.layout;
  std::vector<int> first(static_cast<std::size_t>(layout.hosts), -1);
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    int& head = first[static_cast<std::size_t>(layout.host(rank))];
    if (head >= 0) pairs.push_back({.from = rank, .to = head});
    if (head < 0) head = rank;
  }
  return pairs;
}

HopVolume volume_of(std::int64_t elements, int places, int place) {
  const Cut cut = cut_of(elements, places);
  // Every chunk twice, but for the one that it has last of all, and the one after that.
  HopVolume volume{.bytes = 2 * elements,
                   .messages = 2 * (cut.elements > 0 ? std::int64_t{places} : cut.longer)};
  for (const int ahead : {1, 2}) {
    const std::int64_t left_out =
        collective::chunk_elements(elements, places, (place + ahead) % places);
    volume.bytes -= left_out;
    volume.messages -= left_out > 0 ? 1 : 0;
  }
  volume.bytes *= workload::kElementBytes;
  return volume;
}

RingTimes ring_times(const Training& training, const Physics& physics,
                     const std::vector<Steady>& connections) {
  return Rings(training, physics, connections).run();
}

}  // namespace tw::regular
