// SPDX-License-Identifier: Apache-2.0
#include "trainwire/watch/record.h"

#include "trainwire/watch/threads.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>

namespace tw::watch {
namespace {

using namespace std::chrono_literals;

/// A sample of a machine with two processors, `at` after the start.
LoadSample sample(Duration at, Duration busy, std::vector<Duration> waits = {}) {
  return {.time_ns = at.count(),
          .machine = {.busy = busy, .steal = at / 50, .total = 2 * at},
          .waits = std::move(waits)};
}

TEST(LoadBetween, IsTheDifferenceOfTheFirstAndTheLastSample) {
  // 1 s to 3 s: 4 s of processor time, 1 s of it busy; 40 ms of steal.
  const WatchRecord record{
      .loads = {sample(0s, 0s), sample(1s, 2s), sample(2s, 2s), sample(3s, 3s), sample(4s, 5s)}};
  const auto load = load_between(record, 1'000'000'000, 3'500'000'000);
  ASSERT_TRUE(load.has_value());
  EXPECT_DOUBLE_EQ(load->busy, 0.25);
  EXPECT_DOUBLE_EQ(load->steal, 0.01);
  EXPECT_EQ(load->wait, 0);
}

TEST(LoadBetween, TakesTheProcessThatWaitedMostSinceItWasFollowed) {
  // The first process waits 0.1 s in 2 s; the second, followed for the last second only, 0.3 s.
  const WatchRecord record{
      .loads = {sample(0s, 0s, {0s}), sample(1s, 0s, {50ms, 0s}), sample(2s, 0s, {100ms, 300ms})}};
  EXPECT_DOUBLE_EQ(load_between(record, 0, 2'000'000'000)->wait, 0.3);
  EXPECT_DOUBLE_EQ(load_between(record, 0, 1'000'000'000)->wait, 0.05);
}

TEST(LoadBetween, LeavesSpinnersOut) {
  WatchRecord record{.loads = {sample(0s, 0s), sample(1s, 2s)}};
  // Both processors were busy, but 1.5 s of the 2 s were spinning.
  record.loads[1].spun = 1500ms;
  EXPECT_DOUBLE_EQ(load_between(record, 0, 1'000'000'000)->busy, 0.25);
}

TEST(LoadBetween, NeedsTwoSamples) {
  const WatchRecord record{.loads = {sample(0s, 0s), sample(1s, 0s)}};
  EXPECT_EQ(load_between(record, 1, 1'000'000'000), std::nullopt);
  EXPECT_EQ(load_between({}, 0, 1), std::nullopt);
}

TEST(Halve, KeepsTheFirstAndEverySecondSampleAndTheLongestQueue) {
  std::vector<LinkSample> samples;
  const std::vector<std::uint64_t> queues = {0, 10, 5, 5, 10, 7};
  for (std::size_t i = 0; i < queues.size(); ++i) {
    samples.push_back({.time_ns = static_cast<std::int64_t>(i),
                       .ports = {{.bytes = 100 * i, .queue_bytes = queues[i]}}});
  }
  halve(samples);
  // 0; 1 into 2; 3 into 4; 5.
  ASSERT_EQ(samples.size(), 4);
  EXPECT_EQ(samples[1].time_ns, 2);
  EXPECT_EQ(samples[1].ports[0].bytes, 200);
  EXPECT_EQ(samples[1].ports[0].queue_bytes, 10);
  EXPECT_EQ(samples[2].time_ns, 4);
  EXPECT_EQ(samples[2].ports[0].queue_bytes, 10);
  EXPECT_EQ(samples[3].time_ns, 5);
}

TEST(PortsOver, AreWhatCountersGrewByAndTheLongestQueue) {
  WatchRecord record;
  EXPECT_TRUE(ports_over(record).empty());
  record.links = {
      {.time_ns = 0, .ports = {{.packets = 3, .bytes = 100, .dropped = 1}}},
      {.time_ns = 1, .ports = {{.packets = 4, .bytes = 150, .queue_bytes = 70}}},
      {.time_ns = 2,
       .ports = {
           {.packets = 9, .bytes = 300, .dropped = 5, .lost = 2, .marked = 1, .queue_bytes = 7}}}};
  const PortCounts expected{
      .packets = 6, .bytes = 200, .dropped = 4, .lost = 2, .marked = 1, .queue_bytes = 70};
  EXPECT_EQ(ports_over(record), std::vector{expected});
}

TEST(ThreadSum, StartsAtTheFirstLookAndSurvivesThreads) {
  ThreadSum sum;
  sum.look({{1, {.run = 10ms, .wait = 5ms}}, {2, {.run = 10ms, .wait = 5ms}}});
  EXPECT_EQ(sum.sum(), (ThreadTime{}));
  // Thread 1 goes on, 2 has ended, 3 is new and did all of its work since.
  sum.look({{1, {.run = 11ms, .wait = 7ms}}, {3, {.run = 4ms, .wait = 1ms}}});
  EXPECT_EQ(sum.sum(), (ThreadTime{.run = 5ms, .wait = 3ms}));
  sum.look({});
  EXPECT_EQ(sum.sum(), (ThreadTime{.run = 5ms, .wait = 3ms}));
}

TEST(ThreadTimes, AreThoseOfProc) {
  const auto thread = static_cast<int>(::syscall(SYS_gettid));
  const auto all = thread_times(::getpid());
  ASSERT_TRUE(all.contains(thread));
  EXPECT_GT(all.at(thread).run, 0ns);
  EXPECT_EQ(thread_time(thread).size(), 1);
  EXPECT_TRUE(thread_times(0).empty());
  EXPECT_TRUE(thread_time(0).empty());
}

}  // namespace
}  // namespace tw::watch
