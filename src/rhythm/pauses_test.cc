// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/pauses.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace tw::rhythm {
namespace {

constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kPeriod = 200 * kMs;
constexpr std::size_t kSteps = 5;
const std::vector<int> kHosts{0, 1, 2};

/// A ring of three hosts: all exchange for 20 ms in each step of 200 ms.
Steps ring() {
  Steps result{};
  result.tempo.period_ns = static_cast<double>(kPeriod);
  for (std::size_t step = 0; step < kSteps; ++step) {
    const auto start = static_cast<std::int64_t>(step) * kPeriod;
    result.steps.push_back({start, start + 20 * kMs, 3000});
  }
  for (const int host : kHosts) {
    Lane lane{.from = host, .to = (host + 1) % 3, .channel = 0, .bytes = 1000, .beats = {}};
    for (const ExchangeStep& step : result.steps) {
      lane.beats.push_back(Beat{step.start_ns, step.end_ns, 1000, 0, 1, true});
    }
    result.lanes.push_back(lane);
  }
  return result;
}

/// Messages of a host at these times after the beginning of each step, beside its gradients.
std::vector<Interval> at(const Steps& exchanges, std::vector<std::int64_t> after_ms) {
  std::vector<Interval> result;
  for (const ExchangeStep& step : exchanges.steps) {
    result.push_back({step.start_ns, step.end_ns});
    for (const std::int64_t ms : after_ms) {
      result.push_back({step.start_ns + ms * kMs, step.start_ns + ms * kMs});
    }
  }
  return result;
}

// Nobody sends between 20 ms and 200.
TEST(Pauses, LastFromTheLastByteReceivedToTheNextSent) {
  const Steps exchanges = ring();
  const Messages sent{{0, at(exchanges, {})}, {1, at(exchanges, {})}, {2, at(exchanges, {})}};
  for (const auto& row : compute_table(exchanges, sent, kHosts)) {
    ASSERT_EQ(row.size(), kSteps - 1);
    EXPECT_DOUBLE_EQ(row[0].least_s, 0.18);
    EXPECT_DOUBLE_EQ(row[0].most_s, 0.18);
  }
}

// Two ask after 100 ms whether they may send; the third is ready after 200.
TEST(Pauses, EndWithARequestToSend) {
  const Steps exchanges = ring();
  const Messages sent{{0, at(exchanges, {100})}, {1, at(exchanges, {100})}, {2, at(exchanges, {})}};
  const ComputeTable table = compute_table(exchanges, sent, kHosts);
  EXPECT_DOUBLE_EQ(table[0][0].least_s, 0.08);
  EXPECT_DOUBLE_EQ(table[1][0].least_s, 0.08);
  EXPECT_DOUBLE_EQ(table[2][0].least_s, 0.18);
}

// All average a number 25 to 30 ms after the beginning; two ask to send after 110 ms, the third is
// ready after 200.
TEST(Pauses, BeginAfterWhatAllExchangeBehindTheGradients) {
  const Steps exchanges = ring();
  const Messages sent{{0, at(exchanges, {25, 30, 110})},
                      {1, at(exchanges, {25, 30, 110})},
                      {2, at(exchanges, {27, 30})}};
  const ComputeTable table = compute_table(exchanges, sent, kHosts);
  EXPECT_DOUBLE_EQ(table[0][0].most_s, 0.08);
  EXPECT_DOUBLE_EQ(table[1][0].most_s, 0.08);
  EXPECT_DOUBLE_EQ(table[2][0].least_s, 0.17);
}

// Host 0 still sends for 60 ms when it has received everything: it computed for 120 to 180 ms.
TEST(Pauses, AreOfUncertainLengthWhereAHostStillSends) {
  Steps exchanges = ring();
  for (auto& beat : exchanges.lanes[0].beats) beat->end_ns += 60 * kMs;
  const Messages sent{{0, at(exchanges, {})}, {1, at(exchanges, {})}, {2, at(exchanges, {})}};
  const ComputeTable table = compute_table(exchanges, sent, kHosts);
  EXPECT_DOUBLE_EQ(table[0][0].least_s, 0.12);
  EXPECT_DOUBLE_EQ(table[0][0].most_s, 0.18);
}

// One that begins after 100 ms is silent for 100 at most, one that does not for 180.
TEST(Silences, AreBrokenByBeginning) {
  const Steps exchanges = ring();
  const Messages sent{{0, at(exchanges, {100})}, {1, at(exchanges, {100})}, {2, at(exchanges, {})}};
  const ComputeTable table = silence_table(exchanges, sent, kHosts);
  EXPECT_DOUBLE_EQ(table[0][0].least_s, 0.1);
  EXPECT_DOUBLE_EQ(table[2][0].least_s, 0.18);
}

}  // namespace
}  // namespace tw::rhythm
