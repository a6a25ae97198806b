// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/regular/circle.h"
#include "trainwire/regular/window.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace tw::regular {
namespace {

using Times = std::vector<std::int64_t>;

constexpr std::int64_t kNever = Window::kNone;

std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// A stretch of chunk numbers, unwrapped, whose chunks are of one size.
struct Run {
  std::int64_t low = 0;   ///< the last that a path comes to, since it loses one with each stay
  std::int64_t high = 0;  ///< one behind the first
  bool longer = false;
};

/// Where a path may be: at a place, counted on beyond n, with a chunk, about to send it.
struct Point {
  std::int64_t place = 0;
  std::int64_t chunk = 0;
  std::int64_t time = kNever;
};

/// Places [low, high) none of which needs more than `level`, and one of them that much: where paths
/// between them stay. What is on both sides needs more.
struct Stretch {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::int64_t level = 0;
};

/// All of them: one for each level and gap between higher ones, so that few are long.
std::vector<Stretch> stretches_of(const Times& leaving) {
  struct Open {
    std::int64_t level;
    std::int64_t low;
    std::int64_t last;  ///< place that needs it
  };
  std::vector<Stretch> made;
  std::vector<Open> open;  // levels fall
  const auto close = [&](std::int64_t high) {
    made.push_back({.low = open.back().low, .high = high, .level = open.back().level});
    open.pop_back();
  };
  const auto places = static_cast<std::int64_t>(leaving.size());
  for (std::int64_t place = 0; place < places; ++place) {
    const std::int64_t level = leaving[at(place)];
    while (!open.empty() && open.back().level < level) close(place);
    if (!open.empty() && open.back().level == level) {
      open.back().last = place;
    } else {
      open.push_back(
          {.level = level, .low = open.empty() ? 0 : open.back().last + 1, .last = place});
    }
  }
  while (!open.empty()) close(places);
  return made;
}

/// What chunks of one size need, by place counted on beyond n.
struct Size {
  Size(const Circle& circle, const Times& needs, bool whole) {
    gone_until.push_back(0);
    for (int turn = 0; turn < 3; ++turn) {
      for (std::size_t i = 0; i < needs.size(); ++i) {
        leaving.push_back(needs[i]);
        gone_until.push_back(gone_until.back() + (whole ? needs[i] : circle.first[i]) +
                             circle.way[i]);
      }
    }
    stretches = stretches_of(leaving);
  }

  Times leaving = {};
  Times gone_until = {};  ///< what it costs to go on, of all places before
  std::vector<Stretch> stretches = {};
};

/// Paths through all rounds. A path ends by sending its last chunk from some place, which then goes
/// on to its last place no slower than its way.
class Sweep {
 public:
  Sweep(const Circle& circle, const Times& begin)
      : circle_(circle),
        begin_(begin),
        n_(circle.places()),
        rounds_(2 * (n_ - 1) - 1),
        short_(circle, circle.short_leaving, circle.short_whole),
        long_(circle, circle.long_leaving, circle.long_whole),
        way_until_(at(3 * n_ + 1), 0),
        entered_(at(rounds_ + 1), kNever),
        ends_(at(n_), kNever) {
    for (std::int64_t u = 0; u < 3 * n_; ++u) {
      way_until_[at(u + 1)] = way_until_[at(u)] + circle.way[at(u % n_)];
    }
  }

  /// When places have sent their last chunks.
  Times run() && {
    for (const Run& run : runs()) cross(run);
    return std::move(ends_);
  }

 private:
  /// From the first chunk that a path may begin with down to the last that it may end with.
  std::vector<Run> runs() const {
    const std::int64_t last = -rounds_;
    if (circle_.long_chunks == 0) return {{.low = last, .high = n_, .longer = false}};
    std::vector<Run> made;
    for (std::int64_t turn = 0; turn + n_ > last; turn -= n_) {
      const std::int64_t middle = turn + circle_.long_chunks;
      if (middle < turn + n_) made.push_back({.low = middle, .high = turn + n_, .longer = false});
      made.push_back({.low = turn, .high = middle, .longer = true});
    }
    return made;
  }

  /// Paths that begin in the run, and those that come from the one before, until they leave it or
  /// the rounds are over.
  void cross(const Run& run) {
    size_ = run.longer ? &long_ : &short_;
    set_sources(run);
    std::vector<Point> exits;
    for (std::int64_t r = std::max<std::int64_t>(1, 1 - run.low); r <= rounds_; ++r) {
      exits.push_back({.place = run.low - 1 + r, .chunk = run.low});
    }
    std::vector<Point> ends;
    for (std::int64_t c = std::max(run.low, -rounds_); c < run.high; ++c) {
      ends.push_back({.place = c + rounds_, .chunk = c});
    }
    for (const Stretch& stretch : size_->stretches) {
      if (run.low > -rounds_) exit(stretch, within(exits, stretch));
      end(stretch, within(ends, stretch));
    }
    entered_.assign(entered_.size(), kNever);
    for (const Point& exit : exits) entered_[at(exit.place - (run.low - 1))] = exit.time;
    for (const Point& end : ends) {
      std::int64_t& time = ends_[at(end.place % n_)];
      time = std::max(time, end.time);
    }
  }

  void set_sources(const Run& run) {
    sources_.clear();
    for (std::int64_t c = std::max<std::int64_t>(run.low, 0); c < std::min(run.high, n_); ++c) {
      sources_.push_back({.place = c, .chunk = c, .time = begin_[at(c)]});
    }
    for (std::int64_t r = 1; r <= rounds_; ++r) {
      if (entered_[at(r)] < 0) continue;
      sources_.push_back(
          {.place = run.high - 1 + r, .chunk = run.high - 1, .time = entered_[at(r)]});
    }
  }

  /// Those that are in the stretch; their places rise.
  static std::span<Point> within(std::vector<Point>& points, const Stretch& stretch) {
    const auto before = [](const Point& point, std::int64_t place) { return point.place < place; };
    const auto first = std::lower_bound(points.begin(), points.end(), stretch.low, before);
    const auto last = std::lower_bound(first, points.end(), stretch.high, before);
    return {first, last};
  }

  /// Sources up to a place where they may stay.
  void admit(std::span<const Point> sources, std::int64_t stay, std::int64_t level) {
    for (; next_ < sources.size() && sources[next_].place <= stay; ++next_) {
      const Point& source = sources[next_];
      window_.push_source(source.time - size_->gone_until[at(source.place)] + source.chunk * level,
                          source.chunk);
    }
  }

  /// Paths within the stretch that stay where a chunk needs most, until they leave the run by a stay
  /// with its last chunk. Places and chunks of sources rise, and so do those of targets.
  void exit(const Stretch& stretch, std::span<Point> targets) {
    const std::span<const Point> sources = within(sources_, stretch);
    if (sources.empty()) return;
    restart(stretch);
    for (Point& target : targets) {
      for (; looked_ <= target.place; ++looked_) {
        if (size_->leaving[at(looked_)] == stretch.level) admit(sources, looked_, stretch.level);
      }
      const std::int64_t best = window_.best_source();
      if (best == kNever) continue;
      target.time = std::max(target.time, best + size_->gone_until[at(target.place)] -
                                              target.chunk * stretch.level +
                                              size_->leaving[at(target.place)]);
    }
  }

  /// The same until the rounds are over.
  void end(const Stretch& stretch, std::span<Point> targets) {
    const std::span<const Point> sources = within(sources_, stretch);
    if (sources.empty()) return;
    restart(stretch);
    for (Point& target : targets) {
      for (; looked_ <= target.place; ++looked_) {
        const std::int64_t leaving = size_->leaving[at(looked_)];
        if (leaving == stretch.level) admit(sources, looked_, stretch.level);
        window_.push_place(size_->gone_until[at(looked_)] - way_until_[at(looked_)] + leaving);
      }
      window_.drop_below(target.chunk);
      const std::int64_t best = window_.best_pair();
      if (best == kNever) continue;
      target.time =
          std::max(target.time, best + way_until_[at(target.place)] - target.chunk * stretch.level);
    }
  }

  void restart(const Stretch& stretch) {
    window_.clear();
    next_ = 0;
    looked_ = stretch.low;
  }

  const Circle& circle_;
  const Times& begin_;
  std::int64_t n_;
  std::int64_t rounds_;  ///< before the last
  Size short_;
  Size long_;
  Times way_until_;             ///< of all places before
  Times entered_;               ///< by round: when paths come to the run at hand
  Times ends_;                  ///< by place
  const Size* size_ = nullptr;  ///< of the run at hand
  std::vector<Point> sources_ = {};
  Window window_ = {};
  std::size_t next_ = 0;     ///< source
  std::int64_t looked_ = 0;  ///< place
};

}  // namespace

Rounds swept(const Circle& circle, const std::vector<std::int64_t>& begin) {
  check(can_be_swept(circle), "paths are counted where chunks are passed on in one way");
  const std::size_t n = circle.way.size();
  Rounds made{.began = begin, .left = Sweep(circle, begin).run(), .came = Times(n)};
  for (std::size_t i = 0; i < n; ++i) made.came[(i + 1) % n] = made.left[i] + circle.way[i];
  return made;
}

}  // namespace tw::regular
