// SPDX-License-Identifier: Apache-2.0
#include "trainwire/watch/proc.h"

#include <gtest/gtest.h>

#include <chrono>

namespace tw::watch {
namespace {

using namespace std::chrono_literals;

TEST(MachineTime, IsTheFirstLineOfStat) {
  // Columns: user 100, nice 20, system 30, idle 4000, iowait 50, irq 1, softirq 9, steal 40, guest
  // 7 (already in user). Busy 100 + 20 + 30 + 1 + 9 = 160; total 160 + 4000 + 50 + 40 = 4250.
  const auto found = parse_machine_time(
      "cpu  100 20 30 4000 50 1 9 40 7 0\ncpu0 50 10 15 2000 25 1 4 20 7 0\nintr 5\n", 100);
  EXPECT_EQ(found, (MachineTime{.busy = 1600ms, .steal = 400ms, .total = 42500ms}));
}

TEST(MachineTime, NeedsTheColumnOfSteal) {
  EXPECT_EQ(parse_machine_time("cpu  1 2 3 4 5 6 7\n", 100), std::nullopt);
  EXPECT_EQ(parse_machine_time("cpu0 1 2 3 4 5 6 7 8\n", 100), std::nullopt);
  EXPECT_EQ(parse_machine_time("cpu  1 2 x 4 5 6 7 8\n", 100), std::nullopt);
  EXPECT_EQ(parse_machine_time("", 100), std::nullopt);
}

TEST(ThreadTime, IsInNanoseconds) {
  EXPECT_EQ(parse_schedstat("1500000 250000 12\n"), (ThreadTime{.run = 1500us, .wait = 250us}));
  EXPECT_EQ(parse_schedstat("1500000 250000\n"), std::nullopt);
  EXPECT_EQ(parse_schedstat(""), std::nullopt);
  EXPECT_EQ(parse_schedstat("run wait turns\n"), std::nullopt);
}

}  // namespace
}  // namespace tw::watch
