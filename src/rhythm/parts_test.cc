// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/parts.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace tw::rhythm {
namespace {

/// Sends 10 kB at the beginning of each of 20 steps; or, without pauses, a tenth of it every tenth of a
/// step.
Channel sender(int from, std::int64_t step_ns, bool pauses) {
  Channel channel{.from = from, .to = from + 1, .flows = {}, .bursts = {}, .bytes = 200'000};
  const std::int64_t parts = pauses ? 1 : 10;
  for (std::int64_t i = 0; i < 20 * parts; ++i) {
    const std::int64_t start = i * step_ns / parts;
    channel.bursts.push_back({.start_ns = start,
                              .end_ns = start + step_ns / parts / 2,
                              .bytes = static_cast<std::uint64_t>(10'000 / parts),
                              .packets = 1});
  }
  return channel;
}

std::vector<std::vector<int>> senders(const std::vector<Part>& parts) {
  std::vector<std::vector<int>> result;
  for (const Part& part : parts) {
    result.emplace_back();
    for (const Channel& channel : part.channels) result.back().push_back(channel.from);
  }
  return result;
}

/// Steps of 100 ms, the pauses of which are 50 ms; and such of 116 ms.
Channels of_two_jobs() {
  Channels channels;
  for (const int from : {0, 10, 1, 11}) {
    channels.push_back(sender(from, from < 10 ? 100'000'000 : 116'000'000, true));
  }
  return channels;
}

TEST(PartsBySteps, TellPacesThatAreAlikeApart) {
  const Channels channels = of_two_jobs();
  const std::vector<Paced> paced = paced_of(channels, 500'000);
  ASSERT_EQ(paced.size(), 4u);
  EXPECT_EQ(senders(parts_by_steps(channels, paced)),
            (std::vector<std::vector<int>>{{}, {0, 1}, {10, 11}}));
}

TEST(PartsBySteps, HoldWhoNeverPauses) {
  Channels channels = of_two_jobs();
  channels.push_back(sender(2, 100'000'000, false));
  const std::vector<Paced> paced = paced_of(channels, 500'000);
  EXPECT_EQ(senders(parts_by_steps(channels, paced)),
            (std::vector<std::vector<int>>{{}, {0, 1, 2}, {10, 11}}));
}

TEST(PartsBySteps, LeaveWhoKeepsNobodysSteps) {
  Channels channels = of_two_jobs();
  channels.push_back(sender(2, 77'000'000, false));
  const std::vector<Paced> paced = paced_of(channels, 500'000);
  EXPECT_EQ(senders(parts_by_steps(channels, paced)).front(), std::vector<int>{2});
}

TEST(WithWholeSteps, JoinsHalvesAndWhatKeepsTheSamePace) {
  const auto at = [](double pace_ns, int from) {
    return Part{.pace_ns = pace_ns, .channels = {sender(from, 100'000'000, true)}};
  };
  EXPECT_EQ(senders(with_whole_steps({at(50e6, 0), at(70e6, 1), at(100e6, 2), at(101e6, 3)})),
            (std::vector<std::vector<int>>{{}, {1}, {}, {3, 2, 0}}));
}

}  // namespace
}  // namespace tw::rhythm
