// SPDX-License-Identifier: Apache-2.0
#include "trainwire/regular/circle.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace tw::regular {
namespace {

using Times = std::vector<std::int64_t>;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min() / 4;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Round by round.
class Walk {
 public:
  Walk(const Circle& circle, const Times& begin)
      : circle_(circle),
        n_(circle.places()),
        made_{.began = Times(at(n_), std::numeric_limits<std::int64_t>::max()),
              .left = begin,
              .came = begin},
        ready_(begin),
        coming_(at(n_), kNever),
        there_(at(n_), kNever),
        next_there_(at(n_), kNever) {}

  Rounds run() && {
    for (std::int64_t round = 0; round < 2 * (n_ - 1); ++round) {
      std::int64_t chunk = (2 * n_ - round) % n_;
      for (std::int64_t i = 0; i < n_; ++i) {
        send(i, chunk < circle_.long_chunks);
        if (++chunk == n_) chunk = 0;
      }
      for (std::int64_t i = 0; i < n_; ++i) receive(i);
    }
    return std::move(made_);
  }

 private:
  void send(std::int64_t i, bool longer) {
    const std::int64_t next = i + 1 < n_ ? i + 1 : 0;
    if (!longer && circle_.short_empty) {
      coming_[at(next)] = next_there_[at(next)] = kNever;
      return;
    }
    const std::int64_t begin = ready_[at(i)];
    const std::int64_t leaving =
        longer ? circle_.long_leaving[at(i)] : circle_.short_leaving[at(i)];
    // There_ is about the chunk that it has sent now: that came in the round before.
    const std::int64_t left = std::max(begin + leaving, there_[at(i)]);
    const bool whole =
        circle_.first[at(i)] == kWhole || (longer ? circle_.long_whole : circle_.short_whole);
    made_.began[at(i)] = std::min(made_.began[at(i)], begin);
    made_.left[at(i)] = ready_[at(i)] = left;
    next_there_[at(next)] = left + circle_.way[at(i)];
    coming_[at(next)] =
        whole ? next_there_[at(next)] : begin + circle_.first[at(i)] + circle_.way[at(i)];
  }

  void receive(std::int64_t i) {
    there_[at(i)] = next_there_[at(i)];
    if (there_[at(i)] == kNever) return;
    made_.came[at(i)] = std::max(made_.came[at(i)], there_[at(i)]);
    made_.began[at(i)] = std::min(made_.began[at(i)], made_.came[at(i)]);
    ready_[at(i)] = std::max(ready_[at(i)], coming_[at(i)]);
  }

  const Circle& circle_;
  std::int64_t n_;
  Rounds made_;
  Times ready_;   ///< when a place may send in the round at hand
  Times coming_;  ///< when it may pass on what it got in the round
  Times there_;   ///< when it had all of what it sends
  Times next_there_;
};

}  // namespace

Rounds walked(const Circle& circle, const std::vector<std::int64_t>& begin) {
  return Walk(circle, begin).run();
}

bool can_be_swept(const Circle& circle) {
  if (circle.short_empty) return false;
  if (circle.long_chunks > 0 && circle.long_whole != circle.short_whole) return false;
  return circle.short_whole ||
         std::find(circle.first.begin(), circle.first.end(), kWhole) == circle.first.end();
}

Rounds all_rounds(const Circle& circle, const std::vector<std::int64_t>& begin) {
  return can_be_swept(circle) ? swept(circle, begin) : walked(circle, begin);
}

}  // namespace tw::regular
