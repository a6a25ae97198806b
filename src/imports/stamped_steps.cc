// SPDX-License-Identifier: Apache-2.0
#include "trainwire/imports/stamped_steps.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

namespace tw::imports {
namespace {

/// Only every k-th step is stamped by some programs; more than this is a jump.
constexpr std::int64_t kLongestStride = 1000;
/// Dividing makes a log grow; this is where it stops being one.
constexpr std::size_t kMostSteps = 5'000'000;

std::int64_t median_length(std::span<const LoggedStep> steps) {
  std::vector<std::int64_t> lengths;
  for (const LoggedStep& step : steps) lengths.push_back(step.end_ns - step.start_ns);
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return *middle;
}

/// Turns the stamps of one rank, in order of time, into steps appended to `steps`.
class RankSteps {
 public:
  explicit RankSteps(std::vector<LoggedStep>& steps) : steps_(steps), begin_(steps.size()) {}

  void take(const Stamp& stamp) {
    if (stamp.ends_epoch) {
      last_ns_ = stamp.time_ns;
      epoch_ended_ = true;
      return;
    }
    if (!last_ns_) {
      first_ = stamp;
    } else if (repeats(stamp)) {
      if (steps_.size() > begin_)
        steps_.back().end_ns = stamp.time_ns;
      else
        first_->time_ns = stamp.time_ns;
    } else if (jumps(stamp)) {
      if (steps_.size() == begin_) first_ = stamp;
    } else {
      append(stamp);
    }
    last_ns_ = stamp.time_ns;
    last_step_ = stamp.step;
    epoch_ended_ = false;
  }

  /// Gives the first step its length, now that the others are known.
  void finish() {
    if (!first_ || steps_.size() == begin_) return;
    const std::int64_t length = median_length(std::span(steps_).subspan(begin_));
    steps_.insert(steps_.begin() + static_cast<std::ptrdiff_t>(begin_),
                  {.rank = first_->rank,
                   .step = first_->step,
                   .start_ns = std::max<std::int64_t>(0, first_->time_ns - length),
                   .end_ns = first_->time_ns,
                   .is_shared = true});
  }

 private:
  bool repeats(const Stamp& stamp) const {
    return last_step_ && *last_step_ == stamp.step && !epoch_ended_;
  }

  /// A job that goes on elsewhere, or another one: what passed in between is no step's. The same jump again is the way in
  /// which the program counts, as by samples.
  bool jumps(const Stamp& stamp) {
    const std::int64_t difference = last_step_ ? stamp.step - *last_step_ : 0;
    if (difference <= kLongestStride) return false;
    return std::exchange(jump_, difference) != difference;
  }

  /// How many steps lie between the stamp before and this one.
  std::int64_t steps_to(const Stamp& stamp) {
    if (!last_step_) return 1;
    const std::int64_t difference = stamp.step - *last_step_;
    if (difference > kLongestStride) return 1;
    if (difference > 0) stride_ = difference;
    return stride_;
  }

  void append(const Stamp& stamp) {
    const std::int64_t count = steps_to(stamp);
    if (count > 1 && steps_.size() > kMostSteps) {
      throw DataError(
          "reading the step log: it stamps every k-th step of more than 5,000,000; give a part of "
          "it");
    }
    const std::int64_t length = (stamp.time_ns - *last_ns_) / count;
    std::int64_t number = next_number(stamp, count);
    std::int64_t start_ns = *last_ns_;
    for (std::int64_t i = 1; i <= count; ++i, ++number) {
      const std::int64_t end_ns = i == count ? stamp.time_ns : start_ns + length;
      steps_.push_back({.rank = stamp.rank,
                        .step = number,
                        .start_ns = start_ns,
                        .end_ns = end_ns,
                        .is_shared = i > 1});
      start_ns = end_ns;
    }
  }

  /// Of the first of `count` steps that end with `stamp`.
  std::int64_t next_number(const Stamp& stamp, std::int64_t count) const {
    const std::int64_t used = steps_.size() > begin_ ? steps_.back().step
                              : first_               ? first_->step
                                                     : stamp.step - count;
    return std::max(used + 1, stamp.step - count + 1);
  }

  std::vector<LoggedStep>& steps_;
  std::size_t begin_;
  std::optional<Stamp> first_;
  std::optional<std::int64_t> last_ns_;
  std::optional<std::int64_t> last_step_;
  std::int64_t stride_ = 1;
  std::int64_t jump_ = 0;  ///< the latest difference that is no stride
  bool epoch_ended_ = false;
};

}  // namespace

std::vector<LoggedStep> steps_between(std::vector<Stamp> stamps) {
  std::stable_sort(stamps.begin(), stamps.end(), [](const Stamp& a, const Stamp& b) {
    return std::tie(a.rank, a.time_ns) < std::tie(b.rank, b.time_ns);
  });
  std::vector<LoggedStep> steps;
  for (std::size_t i = 0; i < stamps.size();) {
    RankSteps rank(steps);
    const int number = stamps[i].rank;
    for (; i < stamps.size() && stamps[i].rank == number; ++i) rank.take(stamps[i]);
    rank.finish();
  }
  return steps;
}

std::vector<LoggedStep> in_order(std::vector<LoggedStep> steps) {
  std::sort(steps.begin(), steps.end(), [](const LoggedStep& a, const LoggedStep& b) {
    return std::tie(a.rank, a.start_ns, a.step, a.end_ns) <
           std::tie(b.rank, b.start_ns, b.step, b.end_ns);
  });
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  std::int64_t earlier = 0;  // steps before the numbers started again
  for (std::size_t i = 1; i < steps.size(); ++i) {
    const LoggedStep& before = steps[i - 1];
    if (steps[i].rank != before.rank) {
      earlier = 0;
      continue;
    }
    if (steps[i].step + earlier <= before.step) earlier = before.step + 1 - steps[i].step;
    steps[i].step += earlier;
  }
  return steps;
}

std::vector<LoggedStep> phases_joined(std::vector<LoggedStep> rows) {
  std::sort(rows.begin(), rows.end(), [](const LoggedStep& a, const LoggedStep& b) {
    return std::tie(a.rank, a.step, a.start_ns) < std::tie(b.rank, b.step, b.start_ns);
  });
  std::vector<LoggedStep> steps;
  for (const LoggedStep& row : rows) {
    if (steps.empty() || steps.back().rank != row.rank || steps.back().step != row.step) {
      steps.push_back(row);
    } else {
      steps.back().end_ns = std::max(steps.back().end_ns, row.end_ns);
    }
  }
  return steps;
}

}  // namespace tw::imports
