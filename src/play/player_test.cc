// SPDX-License-Identifier: Apache-2.0
// Transfers that are passed on as they come, by a driver that knows how.
#include "trainwire/play/player.h"

#include "trainwire/base/error.h"
#include "trainwire/play/play.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <string_view>
#include <utility>
#include <vector>

namespace tw::play {
namespace {

using workload::Training;
using namespace std::chrono_literals;

constexpr Duration kWay = 1us;

Duration leaving(const Message& message) { return Duration(message.bytes()); }

/// Messages at 1 ns a byte, and 1 us to get there: what is sent flows from when its first byte is
/// there, and leaves when the last one is.
class Through {
 public:
  explicit Through(const Training& training)
      : player_(
            training,
            {.send = [this](const Message& message) { send(message, {}); },
             .wake = [this](int rank,
                            Duration at) { add(at, [this, rank] { player_.woke(rank, now_); }); },
             .follow = [this](const Message& message,
                              std::span<const std::uint64_t> behind) { send(message, behind); },
             .stepped = [this](const Step& step) { steps.push_back(step); }}) {
    player_.begin();
    while (!due_.empty()) {
      const auto [at, what] = std::pair(due_.begin()->first.first, due_.begin()->second);
      due_.erase(due_.begin());
      now_ = at;
      what();
    }
    check(player_.done(), "nobody waits for what nobody sends");
  }

  std::vector<Step> steps;
  Duration end() const { return now_; }

 private:
  void add(Duration at, std::function<void()> what) {
    due_.emplace(std::pair(at, made_++), std::move(what));
  }

  void send(const Message& message, std::span<const std::uint64_t> behind) {
    const std::uint64_t as = came_.size();
    Duration left = now_ + leaving(message);
    for (const std::uint64_t earlier : behind) left = std::max(left, came_[earlier]);
    came_.push_back(left + kWay);
    add(now_ + kWay, [this, message, as] { player_.began(message, as, now_); });
    add(left, [this, message] { player_.left(message, now_); });
    add(left + kWay, [this, message] { player_.came(message, now_); });
  }

  std::map<std::pair<Duration, int>, std::function<void()>> due_;
  int made_ = 0;
  Duration now_ = {};
  std::vector<Duration> came_;  ///< by message: when all of it is there
  Player player_;
};

Training training(std::string_view strategy, int ranks) {
  Training training;
  training.strategy = strategy;
  training.arrangement = {.layout = collective::evenly(ranks, ranks)};
  training.buckets = {{.elements = 1000 * ranks, .ready = 0us}};
  training.steps = 1;
  return training;
}

Duration step_of(const Training& training) {
  const Through played(training);
  Duration longest = {};
  for (const Step& step : played.steps) longest = std::max(longest, step.end - step.begin);
  return longest;
}

// A chunk of 4,000 bytes takes 4 us and its way 1 us: six rounds without a pause, and the last way.
TEST(Player, ARingIsOneStreamWhereBytesArePassedOnAsTheyCome) {
  Training job = training("ring", 4);
  job.broadcast = false;
  EXPECT_EQ(step_of(job), 6 * 4us + 1us);
}

TEST(Player, PassingOnIsNeverSlowerAndEndsForEveryStrategy) {
  for (const collective::Strategy& strategy : collective::catalogue()) {
    for (const int ranks : {1, 2, 3, 4, 5, 8}) {
      for (const int lanes : {1, 2}) {
        Training job = training(strategy.name, ranks);
        job.buckets.push_back({.elements = 3, .ready = 0us});
        job.connections = lanes;
        job.overlap = ranks % 2 == 0;
        if (!problem(strategy.name, job.arrangement).empty()) continue;
        const Played whole = play(job, [](const Message& message) {
          return Journey{.leaving = leaving(message), .travelling = kWay};
        });
        const Through through(job);
        EXPECT_LE(through.end(), whole.end) << strategy.name << ' ' << ranks;
        EXPECT_EQ(through.steps.size(), whole.steps.size()) << strategy.name << ' ' << ranks;
      }
    }
  }
}

}  // namespace
}  // namespace tw::play
