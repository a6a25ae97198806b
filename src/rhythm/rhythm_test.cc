// SPDX-License-Identifier: Apache-2.0
#include "trainwire/rhythm/rhythm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace tw::rhythm {
namespace {

constexpr std::int64_t kGapNs = 500'000;
constexpr std::int64_t kMs = 1'000'000;

/// Appends a burst of 1 ms after a pause.
void append(std::vector<flow::Burst>& bursts, std::int64_t pause_ms, std::uint64_t bytes) {
  const std::int64_t start = (bursts.empty() ? 0 : bursts.back().end_ns) + pause_ms * kMs;
  bursts.push_back({.start_ns = start, .end_ns = start + kMs, .bytes = bytes, .packets = 10});
}

/// Steps of two buckets, 300 and 700 kB: 40 ms of compute, then 10 ms between the buckets.
std::vector<flow::Burst> two_buckets(int steps) {
  std::vector<flow::Burst> bursts;
  for (int i = 0; i < steps; ++i) {
    append(bursts, 40, 300'000);
    append(bursts, 10, 700'000);
  }
  return bursts;
}

Channel of(std::vector<flow::Burst> bursts) {
  std::uint64_t bytes = 0;
  for (const flow::Burst& burst : bursts) bytes += burst.bytes;
  return {.from = 0, .to = 1, .flows = {}, .bursts = std::move(bursts), .bytes = bytes};
}

bool has_near(const std::vector<double>& values, double wanted) {
  return std::any_of(values.begin(), values.end(),
                     [&](double value) { return std::abs(value - wanted) < 0.001 * wanted; });
}

/// Messages of one size, after which a pause is long when `is_long` says so, by their number.
template <typename IsLong>
double likeness_of_messages(double step, IsLong is_long) {
  std::vector<flow::Burst> bursts;
  for (int i = 0; i < 80; ++i) append(bursts, is_long(i) ? 60 : 1, 100'000);
  const Channel channel = of(std::move(bursts));
  return ByteStream(channel, {}, kGapNs).fit(step).likeness;
}

TEST(ByteStream, MessagesOfOneSizeAreNoSteps) {
  const auto is_long = [](int i) { return i * i % 13 < 8; };  // as good as by chance
  EXPECT_EQ(likeness_of_messages(800'000, is_long), 0);
}

TEST(ByteStream, StepsMayPauseAtSomeOfEvenPlaces) {
  const auto is_long = [](int i) { return i % 8 == 0 || i % 8 == 1 || i % 8 == 4; };
  EXPECT_GT(likeness_of_messages(800'000, is_long), 0.7);
}

TEST(ByteStream, GuessesTheBytesBetweenLongPauses) {
  const Channel channel = of(two_buckets(8));
  EXPECT_TRUE(has_near(ByteStream(channel, {}, kGapNs).guess_distances(), 1e6));
}

// A clock that was set back, or a part that somebody changed: pauses below zero have no end of
// halving.
TEST(ByteStream, EndsWithBurstsThatFallBehindOneAnother) {
  std::vector<flow::Burst> bursts;
  for (std::int64_t i = 0; i < 40; ++i) {
    bursts.push_back({.start_ns = 100 * kGapNs * (i % 4 == 3 ? i - 6 : i),
                      .end_ns = 100 * kGapNs * (i % 4 == 3 ? i - 6 : i) + kGapNs,
                      .bytes = 1'000'000,
                      .packets = 700});
  }
  const Channel channel = of(bursts);
  EXPECT_LT(ByteStream(channel, {}, kGapNs).guess_distances().size(), 10'000U);
}

TEST(ByteStream, FitsEveryStepFromItsFirstToItsLastByte) {
  const std::vector<flow::Burst> bursts = two_buckets(8);
  const Channel channel = of(bursts);
  const ByteStream stream(channel, {}, kGapNs);
  const RhythmFit fit = stream.fit(1e6);
  EXPECT_EQ(fit.beats, 8);
  EXPECT_DOUBLE_EQ(fit.coverage, 1);
  // 40 + 1 + 10 + 1 ms.
  EXPECT_DOUBLE_EQ(fit.period_ns, 52e6);
  EXPECT_DOUBLE_EQ(fit.pauses.ratio, 4);
  const std::vector<Beat> beats = stream.beats(fit);
  ASSERT_EQ(beats.size(), 8);
  EXPECT_EQ(beats[1].start_ns, bursts[2].start_ns);
  EXPECT_EQ(beats[1].end_ns, bursts[3].end_ns);
  EXPECT_EQ(beats[1].bytes, 1'000'000u);
}

TEST(ByteStream, CountsSmallMessagesAsPause) {
  std::vector<flow::Burst> bursts;
  for (int i = 0; i < 6; ++i) {
    append(bursts, 20, 40);  // a negotiation in the middle of the compute time
    append(bursts, 20, 1'000'000);
  }
  const Channel channel = of(bursts);
  const ByteStream stream(channel, {}, kGapNs);
  const std::vector<Beat> beats = stream.beats(stream.fit(1'000'040));
  ASSERT_EQ(beats.size(), 6);
  EXPECT_EQ(beats[2].start_ns, bursts[5].start_ns);
}

TEST(ByteStream, BridgesAPauseThatCannotBeSeen) {
  std::vector<flow::Burst> bursts = two_buckets(8);
  // Steps 3 and 4 flow into one another: their bursts become one.
  bursts[7].end_ns = bursts[8].end_ns;
  bursts[7].bytes += bursts[8].bytes;
  bursts.erase(bursts.begin() + 8);
  const Channel channel = of(bursts);
  const ByteStream stream(channel, {}, kGapNs);
  const std::vector<Beat> beats = stream.beats(stream.fit(1e6));
  ASSERT_EQ(beats.size(), 8);
  EXPECT_EQ(beats[3].end_ns, beats[4].start_ns);
}

TEST(ByteStream, BreaksOnlyWhereBytesAreMissing) {
  std::vector<flow::Burst> bursts = two_buckets(9);
  bursts[8].bytes = 200'000;  // the capture lost 100 kB of step 4
  const Channel channel = of(bursts);
  const ByteStream stream(channel, {}, kGapNs);
  const std::vector<Beat> beats = stream.beats(stream.fit(1e6));
  EXPECT_EQ(std::count_if(beats.begin(), beats.end(), [](const Beat& b) { return b.fits; }), 8);
}

// Each step sends a chunk, waits 100 ms for another host, and sends the rest: the longer pause is
// inside. What it receives just before it goes on shows that it waited.
TEST(ByteStream, BeginsAStepAfterTheQuietPause) {
  std::vector<flow::Burst> bursts;
  std::vector<flow::Burst> received;
  for (int i = 0; i < 8; ++i) {
    append(bursts, 30, 250'000);
    append(bursts, 100, 750'000);
    const std::int64_t start = bursts.back().start_ns;
    received.push_back(
        {.start_ns = start - 3 * kMs, .end_ns = start - kMs, .bytes = 250'000, .packets = 10});
  }
  // As if the capture had begun and ended inside a burst, so that the ends do not help.
  std::vector<flow::Burst> middle(bursts.begin() + 1, bursts.end() - 1);
  middle.front().bytes = 400'000;
  middle.back().bytes = 100'000;
  const Channel channel = of(middle);
  const ByteStream stream(channel, received, kGapNs);
  const std::vector<Beat> beats = stream.beats(stream.fit(1e6));
  ASSERT_GE(beats.size(), 5);
  // Step 2 begins with its chunk: bursts 3 and 4 of the middle are its two.
  EXPECT_EQ(beats[1].start_ns, middle[3].start_ns);
  EXPECT_EQ(beats[1].end_ns, middle[4].end_ns);
}

TEST(ByteStream, CutsAStreamThatNeverPausesIntoEqualParts) {
  const std::vector<flow::Burst> bursts{
      {.start_ns = 0, .end_ns = 1000 * kMs, .bytes = 10'000'000, .packets = 7000}};
  const Channel channel = of(bursts);
  const ByteStream stream(channel, {}, kGapNs);
  const std::optional<RhythmFit> fit = stream.even_fit(1e6);
  ASSERT_TRUE(fit);
  EXPECT_DOUBLE_EQ(fit->period_ns, 100e6);
  const std::vector<Beat> beats = stream.beats(*fit);
  ASSERT_EQ(beats.size(), 10);
  EXPECT_EQ(beats[4].start_ns, 400 * kMs);
  EXPECT_FALSE(stream.even_fit(3e6));
}

TEST(ByteStream, HasNothingToSayAboutOneBurst) {
  const Channel channel = of({{.start_ns = 0, .end_ns = kMs, .bytes = 1000, .packets = 1}});
  EXPECT_THAT(ByteStream(channel, {}, kGapNs).guess_distances(), ::testing::IsEmpty());
}

TEST(ByteStream, GivesThePauseAtEveryDistanceInsideTheStream) {
  const Channel channel = of(two_buckets(4));
  const ByteStream stream(channel, {}, kGapNs);
  EXPECT_THAT(stream.pauses_at(stream.fit(1e6)), ::testing::ElementsAre(40e6, 40e6, 40e6));
}

// 620 kB of start-up, then steps of 1 MB that end with the connection. From the beginning there are
// as many distances of 1 MB, between pauses inside the steps.
TEST(ByteStream, LeavesOverWhatWasSentBeforeTheFirstStep) {
  std::vector<flow::Burst> bursts;
  append(bursts, 0, 620'000);
  for (int step = 0; step < 8; ++step) {
    append(bursts, 40, 380'000);
    append(bursts, 10, 620'000);
  }
  Channel channel = of(std::move(bursts));
  channel.beginning = Beginning::Seen;
  const ByteStream stream(channel, {}, kGapNs);
  const std::vector<Beat> beats = stream.beats(stream.fit(1e6));
  ASSERT_EQ(beats.size(), 8);
  EXPECT_EQ(beats.front().first_burst, 1);
  EXPECT_EQ(beats.back().end_burst, channel.bursts.size());
}

}  // namespace
}  // namespace tw::rhythm
