// SPDX-License-Identifier: Apache-2.0
#include "trainwire/watch/live.h"

#include "trainwire/measure/rate.h"
#include "trainwire/measure/test_link.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace tw::watch {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

PortSource watched(const std::vector<WatchedLink>& devices) { return ports_of(devices); }

TEST(Watch, CountsWhatPassesALinkAndWhatWaitsForIt) {
  const auto link = measure::test_link();
  if (!link) GTEST_SKIP() << "no namespaces here";
  if (!measure::run_tc(link->a, {"tbf", "rate", "50mbit", "burst", "30kb", "limit", "100kb"})) {
    GTEST_SKIP() << "tc cannot set up a token bucket here";
  }
  Watch watch(watched({{link->a, "eth0"}, {link->b, "eth0"}}));
  const measure::MeasuredRate rate =
      measure::measure_rate(link->a4(), link->b4(), {.expected = 50_Mbit, .duration = 300ms});
  const WatchRecord record = watch.stop();

  const PortCounts& sent = record.links.back().ports[0];
  const PortCounts& received = record.links.back().ports[3];
  // What one end sends the other receives; datagrams of 1514 bytes, and few others.
  EXPECT_EQ(sent.bytes, received.bytes);
  EXPECT_GE(received.bytes, rate.received * 1514);
  EXPECT_LE(received.bytes, rate.received * 1514 + 10'000);
  // A fifth more was offered than the bucket lets through, so the queue of 100 kB was full.
  const std::vector<PortCounts> whole = ports_over(record);
  EXPECT_GT(whole[0].queue_bytes, 50'000);
  EXPECT_LE(whole[0].queue_bytes, 102'400);
  EXPECT_GT(whole[0].dropped, 0);
  // The other end has no queue at all.
  EXPECT_EQ(whole[2].dropped, 0);
}

TEST(Watch, LooksAHundredTimesASecondAndAtTheMachineTen) {
  const auto link = measure::test_link();
  if (!link) GTEST_SKIP() << "no namespaces here";
  Watch watch(watched({{link->a, "eth0"}}));
  std::this_thread::sleep_for(500ms);
  const WatchRecord record = watch.stop();
  // 50 and 5, besides the first and the last; a busy machine may miss some.
  EXPECT_GE(record.links.size(), 20);
  EXPECT_LE(record.links.size(), 60);
  EXPECT_GE(record.loads.size(), 4);
  EXPECT_LE(record.loads.size(), 8);
  EXPECT_EQ(record.interval, 10ms);
  EXPECT_TRUE(load_between(record, record.loads.front().time_ns, record.loads.back().time_ns));
}

TEST(Watch, FindsThatThreadsWaitForAProcessor) {
  const auto link = measure::test_link();
  if (!link) GTEST_SKIP() << "no namespaces here";
  Watch watch(watched({{link->a, "eth0"}}));
  watch.follow(::getpid());
  // Twice as many busy threads as processors: half of them wait at any time, in the sum at least
  // one processor's worth.
  std::atomic<bool> goes_on = true;
  std::vector<std::thread> burners;
  for (unsigned i = 0; i < 2 * std::thread::hardware_concurrency(); ++i) {
    burners.emplace_back([&] {
      while (goes_on) {
      }
    });
  }
  std::this_thread::sleep_for(700ms);
  goes_on = false;
  for (std::thread& burner : burners) burner.join();
  const WatchRecord record = watch.stop();
  const auto load = load_between(record, record.loads.front().time_ns, record.loads.back().time_ns);
  ASSERT_TRUE(load.has_value());
  EXPECT_GT(load->wait, 0.3);
  EXPECT_GT(load->busy, 0.5);
  EXPECT_GE(verdict(*load).level, WatchLevel::CpuBound);
}

TEST(Watch, KeepsNoMoreSamplesThanItIsAllowed) {
  const auto link = measure::test_link();
  if (!link) GTEST_SKIP() << "no namespaces here";
  Watch watch(watched({{link->a, "eth0"}, {link->b, "eth0"}}),
              {.interval = 1ms, .most_counters = 80});
  std::this_thread::sleep_for(200ms);
  const WatchRecord record = watch.stop();
  EXPECT_LE(record.links.size(), 20);
  EXPECT_GT(record.interval, 1ms);
  EXPECT_TRUE(std::is_sorted(
      record.links.begin(), record.links.end(),
      [](const LinkSample& a, const LinkSample& b) { return a.time_ns < b.time_ns; }));
}

TEST(Watch, RefusesAnInterfaceThatIsNotThere) {
  const auto link = measure::test_link();
  if (!link) GTEST_SKIP() << "no namespaces here";
  try {
    Watch(watched({{link->a, "eth7"}}));
    FAIL() << "eth7 was watched";
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), HasSubstr("watching eth7: No such device"));
  }
}

}  // namespace
}  // namespace tw::watch
